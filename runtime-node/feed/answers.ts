import * as layout from '../../assembly/layout.js';
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
  /** Event kind, id, and row (RESOLVED) or attempt, one after the other. */
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
    this.#push(layout.EVENT_RESOLVED, slot, row);
  }

  placed(id: number, attempt: number, failed: boolean): void {
    this.#push(failed ? layout.EVENT_PLACE_FAILED : layout.EVENT_PLACED, id, attempt);
  }

  /** Moves what waits into the ring, as far as there is room. */
  flush(): void {
    const backlog = this.#backlog;
    const end = Math.min(backlog.length, this.#events.free * 3);
    for (let i = 0; i < end; i += 3) this.#push(backlog[i]!, backlog[i + 1]!, backlog[i + 2]!);
    backlog.splice(0, end);
  }

  #push(kind: number, id: number, rowOrAttempt: number): void {
    const events = this.#events;
    const now = this.#clock.nowNs();
    if (events.free === 0) {
      this.#backlog.push(kind, id, rowOrAttempt);
      return;
    }
    if (kind === layout.EVENT_PLACED) events.placed(now, id, rowOrAttempt);
    else if (kind === layout.EVENT_PLACE_FAILED)
      events.placeFailed(now, id, rowOrAttempt, layout.CLASS_TRANSFER);
    else this.#resolve(now, id, rowOrAttempt);
  }

  #resolve(now: number, slot: number, row: number): void {
    const manifest = this.#manifest;
    this.#events.resolved(now, slot, manifest.objectHandle(row), manifest.offset(row), manifest.length(row));
  }
}
