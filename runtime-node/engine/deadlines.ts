import type { Clock } from '../clock.js';
import type { Limits } from './engine.js';
import type { Exchange } from './exchange.js';
import type { FailureName } from './failure.js';

const SHORTEST_TICK_MS = 5;
const LONGEST_TICK_MS = 250;
const TICKS_PER_LIMIT = 8;

/**
 * Looks for attempts past a limit: one timer for all of them, set only while there are any. It looks twice, the second
 * time after the sockets were read, so that a process that was busy for longer than a limit does not take bytes that
 * wait in the kernel for silence.
 */
export class Deadlines {
  private readonly tickMs: number;
  private timer: NodeJS.Timeout | null = null;
  private second: NodeJS.Immediate | null = null;

  /** @param end ends an exchange for the limit that it is past */
  constructor(
    private readonly limits: Limits,
    private readonly clock: Clock,
    private readonly running: readonly Exchange[],
    private readonly end: (exchange: Exchange, limit: FailureName) => void,
  ) {
    const shortestNs = Math.min(limits.connectNs, limits.firstByteNs, limits.idleNs, limits.totalNs);
    this.tickMs = Math.min(Math.max(shortestNs / 1e6 / TICKS_PER_LIMIT, SHORTEST_TICK_MS), LONGEST_TICK_MS);
  }

  /** An exchange has begun. */
  start(): void {
    if (this.timer === null) this.timer = setTimeout(this.look, this.tickMs);
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    if (this.second !== null) clearImmediate(this.second);
    this.timer = null;
    this.second = null;
  }

  private readonly look = (): void => {
    this.timer = null;
    if (this.running.length === 0) return;
    const nowNs = this.clock.nowNs();
    if (this.running.some((exchange) => exchange.overdue(nowNs, this.limits) !== null)) {
      this.second ??= setImmediate(this.lookAgain);
    }
    this.start();
  };

  private readonly lookAgain = (): void => {
    this.second = null;
    const nowNs = this.clock.nowNs();
    for (let i = this.running.length - 1; i >= 0; i--) {
      const exchange = this.running[i]!;
      const limit = exchange.overdue(nowNs, this.limits);
      if (limit !== null) this.end(exchange, limit);
    }
  };
}

const LIMIT_MEANINGS: Partial<Record<FailureName, string>> = {
  timeout_connect: 'no connection within limits.connect',
  timeout_first_byte: 'no answer within limits.first_byte',
  timeout_idle: 'the body stood still for limits.idle',
  timeout_total: 'not done within limits.total',
};

/** What it means that a limit has run out. */
export function limitMeaning(limit: FailureName): string {
  return LIMIT_MEANINGS[limit] ?? limit;
}
