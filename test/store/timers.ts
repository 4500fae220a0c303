/** Every timer of a store, so that none outlives it. */
export class Timers {
  private readonly pending = new Set<NodeJS.Timeout>();
  private closed = false;

  /** Runs `action` after `delayMs` (whole milliseconds, as timers go), unless cancelled or the store is closed. */
  after(delayMs: number, action: () => void): NodeJS.Timeout | null {
    if (this.closed) return null;
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      action();
    }, delayMs);
    this.pending.add(timer);
    return timer;
  }

  cancel(timer: NodeJS.Timeout | null): void {
    if (!timer) return;
    clearTimeout(timer);
    this.pending.delete(timer);
  }

  get count(): number {
    return this.pending.size;
  }

  close(): void {
    this.closed = true;
    for (const timer of this.pending) clearTimeout(timer);
    this.pending.clear();
  }
}
