/**
 * The cores of one side of one node: several servers, one queue, first come first served. A job's length is known when it
 * comes, so its end is too: it starts on the core that is free first.
 */
export class Cores {
  readonly #freeNs: Float64Array;
  /** Core time given out so far, ns. */
  #givenNs = 0;
  /** Time in which every core was taken, as far as the jobs that came reach: up to `#takenUntilNs`. */
  #takenNs = 0;
  #takenUntilNs = 0;

  constructor(cores: number) {
    this.#freeNs = new Float64Array(cores);
  }

  get count(): number {
    return this.#freeNs.length;
  }

  /** Core time spent up to now, ns. */
  busyAt(nowNs: number): number {
    let aheadNs = 0;
    for (const freeNs of this.#freeNs) aheadNs += Math.max(0, freeNs - nowNs);
    return this.#givenNs - aheadNs;
  }

  /** How long, up to now, every core was taken, ns. */
  takenAt(nowNs: number): number {
    return this.#takenNs - Math.max(0, this.#takenUntilNs - nowNs);
  }

  /** Takes a job of `durationNs` that comes now; returns when it ends. */
  submit(nowNs: number, durationNs: number): number {
    const free = this.#freeNs;
    let first = 0;
    let firstNs = Number.POSITIVE_INFINITY;
    let secondNs = Number.POSITIVE_INFINITY;
    // With two free cores one stays free, whatever the others do.
    for (let i = 0; i < free.length && secondNs > nowNs; i++) {
      const freeNs = free[i]!;
      if (freeNs < firstNs) {
        secondNs = firstNs;
        firstNs = freeNs;
        first = i;
      } else if (freeNs < secondNs) {
        secondNs = freeNs;
      }
    }
    const startNs = Math.max(firstNs, nowNs);
    const endNs = startNs + durationNs;
    free[first] = endNs;
    this.#givenNs += durationNs;
    const nextFreeNs = Math.min(secondNs, endNs);
    if (nextFreeNs > startNs) {
      this.#takenNs += nextFreeNs - startNs;
      this.#takenUntilNs = nextFreeNs;
    }
    return endNs;
  }
}
