import { setTimeout as sleep } from 'node:timers/promises';

/** How late Node's timers are by themselves, in nanoseconds: they count whole milliseconds. */
const TIMER_LATE_NS = 1.5e6;

/**
 * A GPU that computes nothing, for one batch's time, from this process's point of view. What it reports as busy is the time of the
 * step itself: a timer that wakes late is no work of a GPU. What a timer is late by itself, the next step is shorter by, since a GPU
 * would have begun it; a wake-up that is later than that, because the process was busy, is lost time and stays so.
 */
export class EmulatedGpu {
  readonly #stepNs: number;
  readonly #signal: AbortSignal;
  #lateNs = 0;

  constructor(stepNs: number, signal: AbortSignal) {
    this.#stepNs = stepNs;
    this.#signal = signal;
  }

  /** One step. Returns the nanoseconds that the GPU was busy; fewer than a step's where the signal ended it. */
  async step(): Promise<number> {
    const stepNs = this.#stepNs;
    if (stepNs === 0) return 0;
    const begin = process.hrtime.bigint();
    const waitNs = Math.max(0, stepNs - this.#lateNs);
    try {
      await sleep(waitNs / 1e6, undefined, { signal: this.#signal });
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    }
    const passedNs = Number(process.hrtime.bigint() - begin);
    if (this.#signal.aborted) return Math.min(passedNs, stepNs);
    this.#lateNs = Math.min(Math.max(0, passedNs - waitNs), TIMER_LATE_NS);
    return stepNs;
  }
}
