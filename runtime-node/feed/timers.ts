/** How the pump is woken: this is all that it knows of an event loop. Tests bring a virtual one. */
export interface Timers {
  /** Calls back soon, after what is waiting now: completions that come together are taken together. */
  soon(callback: () => void): void;
  /** Calls back once, not before `delayNs`; the function that it returns takes it back. */
  after(delayNs: number, callback: () => void): () => void;
}

const LONGEST_MS = 2 ** 31 - 1;

export const eventLoopTimers: Timers = {
  soon(callback) {
    setImmediate(callback);
  },
  after(delayNs, callback) {
    const timer = setTimeout(callback, Math.min(Math.ceil(delayNs / 1e6), LONGEST_MS));
    return () => clearTimeout(timer);
  },
};
