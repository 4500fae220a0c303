import type { Clock } from '../../../clock.js';
import type { CompletionSink, FetchFailure, GetEngine } from '../../../engine/engine.js';
import { failureName } from '../../../engine/failure.js';
import type { Timers } from '../../../feed/timers.js';
import { counted, formatDecimalBytes, formatFigure, formatSeconds } from '../../output/numbers.js';
import { type Check, fail, ok } from '../check.js';

const PIECE_BYTES = 2 * 2 ** 20;
const TURN = 256;
/** Below it on average, the time of a request is its latency and not its bytes. */
const SMALL_READ_BYTES = 256 * 2 ** 10;

/** How much may be read, whichever comes first. */
export interface Bounds {
  readonly connections: number;
  readonly bytes: number;
  readonly requests: number;
  readonly durationNs: number;
}

export interface Measured {
  readonly bytes: number;
  readonly seconds: number;
  readonly requests: number;
  /** Median time to the first byte of an answer; NaN where none came. */
  readonly firstByteSeconds: number;
  /** The failure that ended it; null where none did. */
  readonly failure: FetchFailure | null;
}

/**
 * Reads the rows in turn, in pieces, again from the first one after the last, until a bound is met. What is on its way when the time
 * is over is cancelled, and counts with the bytes that had come.
 *
 * @param sizes bytes of each row's object, none of them 0
 * @param clock the engine's
 */
export function measure(
  engine: GetEngine,
  sizes: readonly number[],
  bounds: Bounds,
  clock: Clock,
  timers: Timers,
): Promise<Measured> {
  return new Promise((resolve) => {
    new Measurement(engine, sizes, bounds, clock, timers, resolve).begin();
  });
}

class Measurement implements CompletionSink {
  private readonly memory: Uint8Array;
  /** Of each slot at work: its attempt, and when it began. */
  private readonly running = new Map<number, { attempt: number; startNs: number }>();
  private readonly firstBytesNs: number[] = [];
  private readonly beginNs: number;
  private row = 0;
  private offset = 0;
  private asked = 0;
  private bytes = 0;
  private requests = 0;
  private over = false;
  private cause: FetchFailure | null = null;
  private stopTimer: () => void = () => {};

  constructor(
    private readonly engine: GetEngine,
    private readonly sizes: readonly number[],
    private readonly bounds: Bounds,
    private readonly clock: Clock,
    private readonly timers: Timers,
    private readonly done: (measured: Measured) => void,
  ) {
    this.memory = new Uint8Array(bounds.connections * PIECE_BYTES);
    this.beginNs = clock.nowNs();
  }

  begin(): void {
    this.stopTimer = this.timers.after(this.bounds.durationNs, () => this.stop());
    this.engine.onWake = () => this.turn();
    for (let slot = 0; slot < this.bounds.connections; slot++) this.next(slot);
    this.engine.arm();
  }

  firstByte(id: number, _attempt: number, timeNs: number): void {
    this.firstBytesNs.push(timeNs - (this.running.get(id)?.startNs ?? timeNs));
  }

  fetched(id: number, _attempt: number, bytes: number): void {
    this.ended(id, bytes);
    if (!this.over) this.next(id);
  }

  failed(
    id: number,
    _attempt: number,
    failureClass: number,
    _status: number,
    _retry: number,
    bytes: number,
  ): void {
    this.ended(id, bytes);
    if (this.over || failureName(failureClass) === 'cancelled') return;
    this.cause = this.engine.failure(id) ?? null;
    this.stop();
  }

  /** One request at a time for each connection: the slot's number is its id. */
  private next(slot: number): void {
    const size = this.sizes[this.row]!;
    const length = Math.min(PIECE_BYTES, size - this.offset, this.bounds.bytes - this.asked);
    if (length <= 0 || this.requests >= this.bounds.requests) return;
    this.requests++;
    this.running.set(slot, { attempt: this.requests, startNs: this.clock.nowNs() });
    this.asked += length;
    this.engine.get(slot, this.requests, this.row, this.offset, length, this.memory, slot * PIECE_BYTES);
    this.offset += length;
    if (this.offset < size) return;
    this.offset = 0;
    this.row = (this.row + 1) % this.sizes.length;
  }

  private ended(slot: number, bytes: number): void {
    this.bytes += bytes;
    this.running.delete(slot);
  }

  private stop(): void {
    if (this.over) return;
    this.over = true;
    for (const [slot, { attempt }] of this.running) this.engine.cancel(slot, attempt);
    this.engine.arm();
  }

  private turn(): void {
    this.engine.drain(this, TURN);
    if (this.running.size > 0) {
      this.engine.arm();
      return;
    }
    this.stopTimer();
    this.engine.onWake = null;
    const { bytes, requests, cause: failure } = this;
    const seconds = (this.clock.nowNs() - this.beginNs) / 1e9;
    this.done({ bytes, seconds, requests, failure, firstByteSeconds: median(this.firstBytesNs) / 1e9 });
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** What was measured, in words. */
export function throughputCheck(connections: number, engine: string, measured: Measured): Check {
  const { bytes, seconds, requests, firstByteSeconds, failure } = measured;
  const name = `throughput (${counted(connections, 'connection')})`;
  if (failure !== null) return fail(name, failure.message, 'mend that first; `os2g feed` would meet it, too');
  const rate = bytes / seconds;
  const detail =
    `${formatDecimalBytes(rate)}/s by the ${engine} engine (${formatDecimalBytes(bytes)} in ${formatSeconds(seconds)}, ` +
    `${counted(requests, 'request')}, first byte after ${formatSeconds(firstByteSeconds)})${smallness(bytes, seconds, requests)}`;
  const figures = {
    connections,
    bytes,
    seconds,
    requests,
    bytes_per_s: rate,
    first_byte_s: firstByteSeconds,
  };
  return { ...ok(name, detail), figures };
}

function smallness(bytes: number, seconds: number, requests: number): string {
  if (bytes / requests >= SMALL_READ_BYTES) return '';
  return `; the objects are small: a figure of requests (${formatFigure(requests / seconds)}/s), not of bandwidth`;
}
