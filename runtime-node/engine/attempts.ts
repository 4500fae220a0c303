import type { Clock } from '../clock.js';
import { CompletionRing } from './completions.js';
import type { FetchFailure } from './engine.js';
import type { Exchange } from './exchange.js';
import { FAILURE_CLASSES, type FailureName } from './failure.js';
import { KEPT_REQUESTS, RecentMap } from './recent-map.js';
import { Waker } from './waker.js';

const MOST_ATTEMPTS = 65_536; // of one request

/** What a failure says beside its class and key. */
export type FailureDetails = Omit<FetchFailure, 'class' | 'key'>;

/** An attempt whose exchange is over while its end waits for something: a refresh of credentials, a digest. */
export interface Settling {
  readonly key: string;
}

/** The attempts that have begun, and how each ends: exactly once, as a completion in the ring. */
export class Attempts {
  readonly ring = new CompletionRing(1024);
  readonly waker = new Waker(this.ring);
  private readonly running = new Map<number, Exchange | Settling>();
  /** By id. */
  private readonly failures = new RecentMap<number, FetchFailure>(KEPT_REQUESTS);

  /** @param bucket for messages */
  constructor(
    private readonly bucket: string,
    private readonly clock: Clock,
  ) {}

  /** Forgets the request's last failure. */
  begin(id: number): void {
    this.failures.delete(id);
  }

  runsOn(exchange: Exchange): void {
    this.running.set(attemptKey(exchange.id, exchange.attempt), exchange);
  }

  find(id: number, attempt: number): Exchange | Settling | undefined {
    return this.running.get(attemptKey(id, attempt));
  }

  failure(id: number): FetchFailure | undefined {
    return this.failures.get(id);
  }

  firstByte(exchange: Exchange): void {
    this.ring.pushFirstByte(exchange.id, exchange.attempt, exchange.firstByteNs);
    this.waker.wake();
  }

  succeed(id: number, attempt: number, bytes: number): void {
    this.running.delete(attemptKey(id, attempt));
    this.ring.pushFetched(id, attempt, bytes, this.clock.nowNs());
    this.waker.wake();
  }

  fail(
    id: number,
    attempt: number,
    key: string,
    name: FailureName,
    retryAfterNs: number,
    bytes: number,
    { message, ...details }: FailureDetails,
  ): void {
    const failureClass = FAILURE_CLASSES[name];
    this.running.delete(attemptKey(id, attempt));
    // A cancel says less than the failure of the other attempt that may be why it came.
    if (name !== 'cancelled' || !this.failures.has(id)) {
      const where = `s3://${this.bucket}/${key}`;
      this.failures.set(id, { class: failureClass, message: `${where}: ${message}`, key, ...details });
    }
    const { status = 0 } = details;
    this.ring.pushFailed(id, attempt, failureClass, status, retryAfterNs, bytes, this.clock.nowNs());
    this.waker.wake();
  }

  /** Ends the attempt when a promise settles, unless it is cancelled before. */
  settle<T>(
    id: number,
    attempt: number,
    key: string,
    promise: Promise<T>,
    then: (value: T) => void,
    otherwise: FailureName,
  ): void {
    const settling: Settling = { key };
    this.running.set(attemptKey(id, attempt), settling);
    const stillRuns = (): boolean => this.find(id, attempt) === settling;
    promise.then(
      (value) => {
        if (stillRuns()) then(value);
      },
      (cause: unknown) => {
        const message = cause instanceof Error ? cause.message : String(cause);
        if (stillRuns()) this.fail(id, attempt, key, otherwise, 0, 0, { message, cause });
      },
    );
  }

  /** No completion follows. */
  close(): void {
    this.waker.stop();
    this.running.clear();
    this.ring.clear();
  }
}

function attemptKey(id: number, attempt: number): number {
  return id * MOST_ATTEMPTS + attempt;
}
