import { type Distribution, type SlowTail, sampler } from './latency.js';
import type { StoreOptions } from './options.js';
import { seededRandom } from './random.js';
import { RateCap, type RequestRate } from './rate-cap.js';

const LATENCY_STREAM = -1; // faults draw from the streams 1, 2, ...

/** How fast the store is; may be changed while it runs. */
export class Conditions {
  private readonly random;
  private drawFirstByteMs: (() => number) | null = null;
  private cap: RateCap | null = null;
  /** Bytes a millisecond of one connection; null: no limit. */
  connectionRate: number | null = null;

  constructor(
    options: StoreOptions,
    private readonly nowMs: () => number,
  ) {
    this.random = seededRandom(options.seed ?? 0, LATENCY_STREAM);
    if (options.latency) this.setLatency(options.latency, options.slowTail);
    if (options.requestRate) this.setRequestRate(options.requestRate);
    if (options.connectionMbPerS !== undefined) this.setConnectionRate(options.connectionMbPerS);
  }

  /** Milliseconds to the first byte of every answer from now on; null: none. */
  setLatency(distribution: Distribution | null, slowTail?: SlowTail): void {
    this.drawFirstByteMs = distribution && sampler(distribution, this.random, slowTail);
  }

  /** 503 SlowDown above this rate from now on; null: none. */
  setRequestRate(rate: RequestRate | null): void {
    this.cap = rate && new RateCap(rate, this.nowMs());
  }

  /** MB (10^6 bytes) a second that one connection carries from now on; null: no limit. */
  setConnectionRate(mbPerS: number | null): void {
    if (mbPerS !== null && !(mbPerS > 0 && Number.isFinite(mbPerS))) {
      throw new RangeError(`connectionMbPerS: must be above 0, not ${mbPerS}`);
    }
    this.connectionRate = mbPerS === null ? null : mbPerS * 1000;
  }

  nextFirstByteMs(): number {
    return this.drawFirstByteMs?.() ?? 0;
  }

  /** Null where the request may pass; else the Retry-After of its 503, in seconds (undefined: none). */
  refusal(): { retryAfterS: number | undefined } | null {
    if (!this.cap || this.cap.take(this.nowMs())) return null;
    return { retryAfterS: this.cap.retryAfterS };
  }
}
