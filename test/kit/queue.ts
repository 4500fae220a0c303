/** A queue of things due at virtual times, in the order of (time, insertion). */
export class DueQueue<T> {
  readonly #items: { atNs: number; sequence: number; item: T }[] = [];
  #sequence = 0;

  get nextNs(): number {
    return this.#items[0]?.atNs ?? Number.POSITIVE_INFINITY;
  }

  get size(): number {
    return this.#items.length;
  }

  push(atNs: number, item: T): void {
    const entry = { atNs, sequence: this.#sequence++, item };
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#items[middle]!.atNs <= atNs) low = middle + 1;
      else high = middle;
    }
    this.#items.splice(low, 0, entry);
  }

  /** Takes what is due at `nowNs`, one at a time; undefined: nothing is. */
  take(nowNs: number): T | undefined {
    if (this.nextNs > nowNs) return undefined;
    return this.#items.shift()?.item;
  }
}
