import * as layout from '../../assembly/layout.js';
import type { Clock } from '../clock.js';
import type { EventRing } from '../core.js';
import type { CompletionSink } from '../engine/engine.js';
import type { FailureClass } from '../engine/failure.js';
import type { PlaceSink } from '../landing/landing.js';
import type { OutageWatch } from './outage.js';

/** Takes completions into the core's event ring. Remembers the attempts of what failed: few, and soon forgotten. */
export class RingSink implements CompletionSink, PlaceSink {
  readonly #events: EventRing;
  readonly #clock: Clock;
  readonly #outage: OutageWatch | null;
  #hasAnswer = false;
  readonly #attempts = new Map<number, number>();
  /** Moves that failed, of requests whose last one did. */
  readonly #moves = new Map<number, number>();

  constructor(events: EventRing, clock: Clock, outage: OutageWatch | null) {
    this.#events = events;
    this.#clock = clock;
    this.#outage = outage;
  }

  firstByte(id: number, attempt: number, timeNs: number): void {
    this.#hasAnswer = true;
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

  placed(id: number, attempt: number): void {
    if (this.#moves.size > 0) this.#moves.delete(id);
    this.#events.placed(this.#clock.nowNs(), id, attempt);
  }

  placeFailed(id: number, attempt: number): void {
    this.#moves.set(id, (this.#moves.get(id) ?? 0) + 1);
    this.#events.placeFailed(this.#clock.nowNs(), id, attempt, layout.CLASS_TRANSFER);
  }

  /** Whether the store ever answered a request. */
  get hasAnswer(): boolean {
    return this.#hasAnswer;
  }

  /** Attempts that a request made before it was given up. */
  attempts(id: number): number | undefined {
    return this.#attempts.get(id);
  }

  /** Attempts to move what it had fetched, before it was given up. */
  moves(id: number): number | undefined {
    return this.#moves.get(id);
  }
}
