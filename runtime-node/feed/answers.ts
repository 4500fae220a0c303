import type { Clock } from '../clock.js';
import type { EventRing } from '../core.js';
import type { Manifest } from '../manifest/manifest.js';

/**
 * Events that answer the core's actions. One step may ask more than the event ring holds: what does not fit waits here, so that all
 * actions can be taken before the next step.
 */
export class Answers {
  readonly #events: EventRing;
  readonly #manifest: Manifest;
  readonly #clock: Clock;
  /** Slot and row, one after the other. */
  readonly #backlog: number[] = [];

  constructor(events: EventRing, manifest: Manifest, clock: Clock) {
    this.#events = events;
    this.#manifest = manifest;
    this.#clock = clock;
  }

  /** Whether something waits for room. */
  get areWaiting(): boolean {
    return this.#backlog.length > 0;
  }

  /** A sample's place, from the manifest. */
  resolved(slot: number, row: number): void {
    const events = this.#events;
    const manifest = this.#manifest;
    const now = this.#clock.nowNs();
    if (events.free === 0) this.#backlog.push(slot, row);
    else events.resolved(now, slot, manifest.objectHandle(row), manifest.offset(row), manifest.length(row));
  }

  /** Moves what waits into the ring, as far as there is room. */
  flush(): void {
    const backlog = this.#backlog;
    const end = Math.min(backlog.length, this.#events.free * 2);
    for (let i = 0; i < end; i += 2) this.resolved(backlog[i]!, backlog[i + 1]!);
    backlog.splice(0, end);
  }
}
