/** Requests a second that the store bears, and how many at once after a rest. */
export interface RequestRate {
  requestsPerS: number;
  /** Default: a tenth of a second's worth, at least 1. */
  burst?: number;
  /** Sent with each 503 as `Retry-After`, in seconds. Default: no such header. */
  retryAfterS?: number;
}

/** Token bucket over a monotonic clock in milliseconds. A refused request takes no token. */
export class RateCap {
  readonly retryAfterS: number | undefined;
  private readonly perMs: number;
  private readonly burst: number;
  private tokens: number;
  private lastMs: number;

  constructor(rate: RequestRate, nowMs: number) {
    const burst = rate.burst ?? Math.max(1, rate.requestsPerS / 10);
    if (!(rate.requestsPerS > 0 && Number.isFinite(rate.requestsPerS)) || !(burst >= 1)) {
      throw new RangeError('request rate: requestsPerS must be above 0 and burst at least 1');
    }
    this.perMs = rate.requestsPerS / 1000;
    this.burst = burst;
    this.retryAfterS = rate.retryAfterS;
    this.tokens = burst;
    this.lastMs = nowMs;
  }

  take(nowMs: number): boolean {
    this.tokens = Math.min(this.burst, this.tokens + (nowMs - this.lastMs) * this.perMs);
    this.lastMs = nowMs;
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
