import * as layout from '../../assembly/layout.js';
import type { EventRing } from '../core.js';
import type { CompletionSink } from '../engine/engine.js';
import type { FailureClass } from '../engine/failure.js';
import type { OutageWatch } from './outage.js';

/** Takes an engine's completions into the core's event ring. Remembers the attempts of what failed: few, and soon forgotten. */
export class RingSink implements CompletionSink {
  readonly #events: EventRing;
  readonly #attempts = new Map<number, number>();

  readonly #outage: OutageWatch | null;

  constructor(events: EventRing, outage: OutageWatch | null) {
    this.#events = events;
    this.#outage = outage;
  }

  firstByte(id: number, attempt: number, timeNs: number): void {
    this.#outage?.answered(timeNs);
    this.#events.firstByte(timeNs, id, attempt);
  }

  fetched(id: number, attempt: number, bytes: number, timeNs: number): void {
    if (this.#attempts.size > 0) this.#attempts.delete(id);
    this.#events.fetched(timeNs, id, attempt, bytes);
  }

  failed(
    id: number,
    attempt: number,
    failureClass: FailureClass,
    status: number,
    retryAfterNs: number,
    bytes: number,
    timeNs: number,
  ): void {
    if (failureClass !== layout.CLASS_CANCELLED) {
      this.#outage?.failed(failureClass, timeNs);
      this.#attempts.set(id, Math.max(attempt, this.#attempts.get(id) ?? 0));
    }
    this.#events.failed(timeNs, id, attempt, failureClass, status, retryAfterNs, bytes);
  }

  /** Attempts that a request made before it was given up. */
  attempts(id: number): number | undefined {
    return this.#attempts.get(id);
  }
}
