/** Who sent a request is told how it goes; a slot that failed is gone after the call. */
export interface RequestOwner {
  /** The client's CPU for the request is spent; it leaves for the store. */
  sent(slot: number): void;
  /** The store's cap holds the request back. */
  held(slot: number): void;
  firstByte(slot: number): void;
  /** The body is there; the client works on it. */
  bodyCame(slot: number): void;
  /** The client's CPU for the body is spent. */
  received(slot: number): void;
  /** @param bytes of the body that came */
  failed(slot: number, failureClass: number, bytes: number): void;
}
