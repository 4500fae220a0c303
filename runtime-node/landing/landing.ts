import type { TransferFailure } from './transfer-failure.js';

/** Where a back end says which moves have ended: the core's event ring. */
export interface PlaceSink {
  placed(id: number, attempt: number): void;
  placeFailed(id: number, attempt: number): void;
}

/**
 * Memory that batches land in: one region for each consumer (rank), and one staging region beside them. The core
 * decides every offset; a back end owns the memory and moves bytes from staging to landing. Offsets and lengths in bytes.
 */
export interface LandingBackend {
  readonly name: 'memory' | 'shm' | 'cuda' | 'ucx';
  /** True where GETs write straight into landing memory; false where they go through staging and `place`. */
  readonly inPlace: boolean;
  /** The host's CPU does not touch the bytes. */
  readonly direct: boolean;
  /** Landing memory of a consumer, for GETs in place; throws where this process cannot address it (GPU memory). */
  landing(consumer: number): Uint8Array;
  /** Staging memory, always addressable. */
  staging(): Uint8Array;
  /** What landed: a view where this process can address it, else a copy. @throws Os2gError `transfer` */
  bytes(consumer: number, offset: number, length: number): Uint8Array;
  /**
   * Begins to move bytes from staging to landing memory; they must not change before its end. It ends with exactly one `placed` or
   * `placeFailed` of the next `drain`s, unless the back end is closed before.
   * @returns whether it has ended already
   */
  place(id: number, attempt: number, consumer: number, from: number, to: number, length: number): boolean;
  /** Moves up to `max` ends of moves into the sink, oldest first; returns how many. */
  drain(sink: PlaceSink, max: number): number;
  /** Called once when ends of moves wait and `arm` was called since. */
  onWake: (() => void) | null;
  /** Asks for one `onWake` when (or as soon as) ends of moves wait. */
  arm(): void;
  /** Why the last move of a request failed. */
  failure(id: number): TransferFailure | undefined;
  /** Waits for the moves under way, and gives the memory back. No end of a move follows. */
  close(): Promise<void>;
}

/** Sizes as the core divided the budget. */
export interface LandingSizes {
  consumers: number;
  landingBytes: number; // for each consumer
  stagingBytes: number;
}
