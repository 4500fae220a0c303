/**
 * The cores of one side of one node: several servers, one queue, first come first served. A job's length is known when it
 * comes, so its end is too: it starts on the core that is free first.
 */
export class Cores {
  readonly #freeNs: Float64Array;
  /** Core time given out so far, ns. */
  busyNs = 0;

  constructor(cores: number) {
    this.#freeNs = new Float64Array(cores);
  }

  get count(): number {
    return this.#freeNs.length;
  }

  /** Every core has work beyond now. */
  areTaken(nowNs: number): boolean {
    for (const freeNs of this.#freeNs) if (freeNs <= nowNs) return false;
    return true;
  }

  /** Takes a job of `durationNs` that comes now; returns when it ends. */
  submit(nowNs: number, durationNs: number): number {
    const free = this.#freeNs;
    let first = 0;
    let firstNs = free[0]!;
    for (let i = 1; i < free.length && firstNs > nowNs; i++) {
      if (free[i]! < firstNs) {
        first = i;
        firstNs = free[i]!;
      }
    }
    const endNs = Math.max(firstNs, nowNs) + durationNs;
    free[first] = endNs;
    this.busyNs += durationNs;
    return endNs;
  }
}
