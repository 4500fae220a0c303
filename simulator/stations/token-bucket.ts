const DEPTH_S = 0.1;

/** The store's cap on requests: a token bucket 0.1 s deep, full at the start. */
export class TokenBucket {
  readonly #perNs: number;
  #factor = 1;
  #tokens: number;
  #lastNs = 0;

  /** @param perS Infinity: no cap */
  constructor(perS: number) {
    this.#perNs = perS / 1e9;
    this.#tokens = this.#depth;
  }

  /** True: the request is served and a token is gone. A refused one takes none. */
  take(nowNs: number): boolean {
    if (this.#perNs === Number.POSITIVE_INFINITY) return true;
    this.#fill(nowNs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** When the next token is there, given that none is now. */
  nextNs(nowNs: number): number {
    this.#fill(nowNs);
    return nowNs + Math.max(1, Math.ceil((1 - this.#tokens) / (this.#perNs * this.#factor)));
  }

  /** From now on the cap is `factor` times what it was built with. */
  setFactor(nowNs: number, factor: number): void {
    if (this.#perNs === Number.POSITIVE_INFINITY) return;
    this.#fill(nowNs);
    this.#factor = factor;
    if (this.#tokens > this.#depth) this.#tokens = this.#depth;
  }

  /** A bucket that holds less than one token would never serve. */
  get #depth(): number {
    return Math.max(1, this.#perNs * this.#factor * DEPTH_S * 1e9);
  }

  #fill(nowNs: number): void {
    const tokens = this.#tokens + (nowNs - this.#lastNs) * this.#perNs * this.#factor;
    // A product of a time and a rate may miss a whole token by a rounding error.
    this.#tokens = Math.min(this.#depth, tokens + 1e-9 > Math.ceil(tokens) ? Math.ceil(tokens) : tokens);
    this.#lastNs = nowNs;
  }
}
