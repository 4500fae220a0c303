import type { Clock } from '../../runtime-node/clock.js';
import type { Timers } from '../../runtime-node/feed/timers.js';

interface Timer {
  atNs: number;
  sequence: number;
  callback: () => void;
}

/** A clock and an event loop that move only when `run` says so; ties go by order of setting. */
export class VirtualTime implements Clock, Timers {
  #nowNs = 0;
  #sequence = 0;
  #soon: (() => void)[] = [];
  readonly #timers = new Set<Timer>();

  nowNs(): number {
    return this.#nowNs;
  }

  soon(callback: () => void): void {
    this.#soon.push(callback);
  }

  after(delayNs: number, callback: () => void): () => void {
    const timer = { atNs: this.#nowNs + Math.ceil(delayNs), sequence: this.#sequence++, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves time until `promise` is settled. @throws where nothing is left that could settle it */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    promise.then(
      () => (settled = true),
      () => (settled = true),
    );
    for (let idle = 0; idle < 3; ) {
      await new Promise((resolve) => setImmediate(resolve));
      if (settled) return promise;
      idle = this.#advance() ? 0 : idle + 1;
    }
    throw new Error(`hang: at ${this.#nowNs} ns nothing is left to happen`);
  }

  /** Moves time on by so much. */
  async pass(ns: number): Promise<void> {
    let passed = false;
    this.after(ns, () => {
      passed = true;
    });
    while (!passed) {
      this.#advance();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #advance(): boolean {
    if (this.#soon.length > 0) {
      const callbacks = this.#soon;
      this.#soon = [];
      for (const callback of callbacks) callback();
      return true;
    }
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (!next || timer.atNs < next.atNs || (timer.atNs === next.atNs && timer.sequence < next.sequence))
        next = timer;
    }
    if (!next) return false;
    this.#timers.delete(next);
    this.#nowNs = Math.max(this.#nowNs, next.atNs);
    next.callback();
    return true;
  }
}
