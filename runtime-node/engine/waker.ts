import type { CompletionRing } from './completions.js';

/** One wake-up for many completions: asked for by `arm`, made after the event loop has read all sockets that had data. */
export class Waker {
  onWake: (() => void) | null = null;
  private armed = false;
  private set: NodeJS.Immediate | null = null;

  constructor(private readonly ring: CompletionRing) {}

  arm(): void {
    this.armed = true;
    if (this.ring.waiting > 0) this.wake();
  }

  /** A completion is in the ring. */
  wake(): void {
    if (this.armed && this.set === null) this.set = setImmediate(this.run);
  }

  stop(): void {
    if (this.set !== null) clearImmediate(this.set);
    this.set = null;
    this.armed = false;
  }

  private readonly run = (): void => {
    this.set = null;
    if (!this.armed || this.ring.waiting === 0) return;
    this.armed = false;
    this.onWake?.();
  };
}
