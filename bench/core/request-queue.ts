/**
 * Requests in the order in which they were sent, taken nearly in that order: each is drawn from the oldest few, as
 * answers of a store come. Numbers in one array, nothing allocated.
 */
export class RequestQueue {
  readonly #ids: Uint32Array;
  readonly #attempts: Uint32Array;
  readonly #mask: number;
  readonly #spread: number;
  #head = 0;
  #tail = 0;
  #random = 2463534242;
  /** Attempt of the request that was taken last. */
  attempt = 0;

  /**
   * @param capacity power of two
   * @param spread how many of the oldest a draw chooses from
   */
  constructor(capacity: number, spread: number) {
    this.#ids = new Uint32Array(capacity);
    this.#attempts = new Uint32Array(capacity);
    this.#mask = capacity - 1;
    this.#spread = spread;
  }

  get length(): number {
    return this.#tail - this.#head;
  }

  push(id: number, attempt: number): void {
    const at = this.#tail++ & this.#mask;
    this.#ids[at] = id;
    this.#attempts[at] = attempt;
  }

  /** Takes one; only while there is one. */
  take(): number {
    const first = this.#head++ & this.#mask;
    const among = Math.min(this.#spread, this.#tail - this.#head + 1);
    const chosen = (first + (this.#draw() % among)) & this.#mask;
    const id = this.#ids[chosen]!;
    this.attempt = this.#attempts[chosen]!;
    this.#ids[chosen] = this.#ids[first]!;
    this.#attempts[chosen] = this.#attempts[first]!;
    return id;
  }

  /** xorshift32 (Marsaglia, 2003). */
  #draw(): number {
    let x = this.#random;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#random = x >>> 0;
    return this.#random;
  }
}
