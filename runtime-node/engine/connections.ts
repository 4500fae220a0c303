import type { Clock } from '../clock.js';
import type { Dialer } from './dialer.js';
import { Exchange, type ExchangeOwner } from './exchange.js';

/**
 * The connections of one engine: one exchange each, at most `max` at work. The one used last is used again first, so that
 * those too many go idle and close by themselves.
 */
export class Connections {
  /** Exchanges at work. */
  readonly running: Exchange[] = [];
  private readonly warm: Exchange[] = [];
  private readonly cold: Exchange[] = [];

  constructor(
    private readonly dialer: Dialer,
    private readonly clock: Clock,
    private readonly owner: ExchangeOwner,
    private readonly max: number,
  ) {}

  /** Sockets that are open or being opened. */
  get sockets(): number {
    return this.dialer.open;
  }

  get full(): boolean {
    return this.running.length >= this.max;
  }

  /** An exchange to begin a GET on; it counts as running. */
  take(): Exchange {
    const exchange = this.takeIdle() ?? new Exchange(this.dialer, this.clock, this.owner);
    exchange.runningIndex = this.running.push(exchange) - 1;
    return exchange;
  }

  /** The GET on it is over. */
  release(exchange: Exchange): void {
    const last = this.running.pop()!;
    if (last !== exchange) {
      this.running[exchange.runningIndex] = last;
      last.runningIndex = exchange.runningIndex;
    }
    if (exchange.dead) return;
    (exchange.warm ? this.warm : this.cold).push(exchange);
  }

  /** Ends everything; resolves when no socket is open. */
  async close(): Promise<void> {
    for (const list of [this.running, this.warm, this.cold]) {
      for (const exchange of list) exchange.kill();
      list.length = 0;
    }
    await this.dialer.drained();
  }

  private takeIdle(): Exchange | undefined {
    for (let exchange = this.warm.pop(); exchange !== undefined; exchange = this.warm.pop()) {
      if (exchange.warm) return exchange;
      this.cold.push(exchange); // the store closed it meanwhile
    }
    return this.cold.pop();
  }
}
