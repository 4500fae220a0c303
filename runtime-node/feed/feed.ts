import * as layout from '../../assembly/layout.js';
import { AbortedError, Os2gError } from '../errors.js';
import type { Manifest } from '../manifest/manifest.js';
import { shown } from '../shown.js';
import { Batch } from './batch.js';
import { type Cursor, cursorAfter } from './cursor.js';
import type { CursorFile } from './cursor-file.js';
import type { Delivery } from './delivery.js';
import { External } from './external.js';
import { brokenError, type GiveUp, giveUpError, skippedSample } from './give-up.js';
import type { OutageWatch } from './outage.js';
import type { FeedParts } from './parts.js';
import { Pump } from './pump.js';
import { type FeedSnapshot, type FeedStats, feedSnapshot, feedStats } from './stats.js';
import { Tally } from './tally.js';

/** This process feeds one rank. */
const CONSUMER = 0;

/**
 * Batches in training order. Iterate with `for await`, or call `next()`. Each step releases the batch of the step before, so one
 * batch is held at a time; what is released counts as consumed. The feed closes itself at its end, when its loop is
 * left, and when `next()` has said why it failed.
 */
export class Feed implements AsyncIterable<Batch>, AsyncDisposable {
  readonly manifest: Manifest;
  readonly #parts: FeedParts;
  readonly #pump: Pump;
  readonly #external: External;
  readonly #cursorFile: CursorFile | null;
  readonly #tally = new Tally();
  readonly #onAbort: () => void;
  #ready: Delivery[] = [];
  #cursor: Cursor;
  #held: Batch | null = null;
  #isAsked = false;
  /** Ends the wait of `next()`. */
  #wake: (() => void) | null = null;
  #isAtEnd = false;
  #error: Os2gError | null = null;
  #closing: Promise<void> | null = null;

  /** @internal Use `openFeed`. */
  constructor(parts: FeedParts) {
    const { manifest, policy, base, signal } = parts;
    this.manifest = manifest;
    this.#parts = parts;
    this.#cursor = parts.start;
    this.#cursorFile = parts.openCursorFile?.((error) => this.#cutOff(error)) ?? null;
    this.#pump = new Pump({
      ...parts,
      listener: {
        delivered: (delivery) => this.#delivered(delivery),
        skipped: (_consumer, epoch, batch, why) => this.#skipped(epoch, batch, why),
        ended: () => this.#ended(),
        failed: (why) => this.#fail(giveUpError(why, parts)),
        broken: (cause) => this.#cutOff(brokenError(cause)),
      },
    });
    const lookahead = base.order.shuffle === 'external' ? (policy.values.get('external.lookahead') ?? 0) : 0;
    this.#external = new External(this.#pump, CONSUMER, {
      rows: manifest.rows,
      batchSamples: parts.batchSamples,
      lookahead,
    });
    this.#onAbort = () => this.#cutOff(aborted(signal?.reason));
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#pump.turn();
  }

  /** How far the run was consumed: where it resumes. */
  get cursor(): Cursor {
    return this.#cursor;
  }

  /**
   * Releases the batch of the step before and gives the next one; null at the end. After an error every call rejects with the same
   * error. One call at a time.
   * @throws StoreError a sample could not be read; AbortedError; Os2gError `next_pending`, `feed_closed`, `core_trap`, ...
   */
  async next(): Promise<Batch | null> {
    if (this.#isAsked) {
      throw new Os2gError(
        'next_pending',
        'next() was called while another next() waits',
        'await each next() before the next one',
      );
    }
    this.#isAsked = true;
    this.#tally.asked(this.#parts.clock.nowNs());
    try {
      return await this.#next();
    } finally {
      this.#isAsked = false;
    }
  }

  /**
   * Adds rows of the manifest to an external order (`shuffle: 'external'`). A batch is complete with `batchSamples` rows, or
   * with the last row of a call that says `endBatch`; `end` says that no row follows. Takes all rows or none.
   * @throws Os2gError `not_external`, `bad_row`, `lookahead_full`, `order_ended`
   */
  request(rows: ArrayLike<number>, options: { endBatch?: boolean; end?: boolean } = {}): void {
    if (this.#error) throw this.#error;
    this.#external.request(rows, options);
    this.#pump.turn();
  }

  /** Rows that `request` takes now. */
  get requestable(): number {
    return this.#external.free;
  }

  /** Reports compute time, for `gpu_busy_share`: the time of a step itself, not the time until the loop noticed its end. */
  busy(ns: number): void {
    if (!(Number.isFinite(ns) && ns >= 0))
      throw new Os2gError(
        'bad_argument',
        `busy(): ${shown(ns)} is not a time in nanoseconds`,
        'give a number from 0 on',
      );
    this.#tally.busyNs += ns;
  }

  /** The result so far; final once the feed is closed. */
  stats(): FeedStats {
    return feedStats(this.#parts, this.#tally, this.#cursor);
  }

  snapshot(): FeedSnapshot {
    return feedSnapshot(this.#parts, this.#tally);
  }

  /** Ends everything that the feed holds: sockets, timers, files. Idempotent. Rejects where a file could not be written. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Batch, void, undefined> {
    let hasFailed = false;
    try {
      for (let batch = await this.next(); batch !== null; batch = await this.next()) yield batch;
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      const closed = this.close();
      await (hasFailed ? closed.catch(() => {}) : closed);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #next(): Promise<Batch | null> {
    this.#held?.release();
    if (this.#ready.length === 0 && this.#isOpen()) await this.#wait();
    const delivery = this.#ready.shift();
    if (delivery && this.#isAudited(delivery)) return this.#handOut(delivery);
    if (this.#error) {
      // What fails while closing comes second: the cause is what the caller must see.
      this.close().catch(() => {});
      throw this.#error;
    }
    if (!this.#isAtEnd)
      throw new Os2gError('feed_closed', 'the feed is closed', 'open another one from its cursor');
    await this.close();
    return null;
  }

  #isOpen(): boolean {
    return this.#error === null && !this.#isAtEnd && this.#closing === null;
  }

  /** Until there is a batch, the end or an error. */
  #wait(): Promise<void> {
    const waited = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#pump.waiting(CONSUMER);
    this.#pump.turn();
    return this.#parts.outage === null ? waited : this.#watched(waited, this.#parts.outage);
  }

  /** A wait that tells of a store that keeps silent meanwhile. */
  #watched(waited: Promise<void>, outage: OutageWatch): Promise<void> {
    const { clock, timers, core } = this.#parts;
    const sinceNs = clock.nowNs();
    let takeBack = (): void => {};
    const look = (): void => {
      const inFlight = core.counters[layout.COUNTER_IN_FLIGHT]!;
      // What is refused or fails is told as a failure.
      if (inFlight > 0) takeBack = timers.after(outage.waits(clock.nowNs(), sinceNs, inFlight), look);
    };
    look();
    return waited.finally(() => takeBack());
  }

  #isAudited(delivery: Delivery): boolean {
    const { audit, landing } = this.#parts;
    try {
      audit?.write(delivery, landing);
      return true;
    } catch (error) {
      this.#cutOff(error as Os2gError);
      return false;
    }
  }

  #handOut(delivery: Delivery): Batch {
    const { manifest, landing, base, start } = this.#parts;
    this.#tally.handedOut(delivery);
    const skipped = (start.skipped ?? 0) + this.#tally.holes;
    const cursor = cursorAfter(base, delivery.epoch, delivery.batch, skipped);
    const batch = new Batch(delivery, manifest, landing, cursor, () => this.#released(delivery, cursor));
    this.#held = batch;
    return batch;
  }

  #released(delivery: Delivery, cursor: Cursor): void {
    this.#held = null;
    if (this.#closing) return;
    this.#cursor = cursor;
    this.#cursorFile?.set(cursor);
    this.#external.consumed();
    this.#pump.consumed(delivery);
    this.#pump.turn();
  }

  #delivered(delivery: Delivery): void {
    this.#external.delivered(delivery.samples);
    this.#ready.push(delivery);
    this.#wake?.();
  }

  #skipped(epoch: number, batch: number, why: GiveUp): void {
    const sample = skippedSample(why, this.manifest);
    this.#tally.skip(epoch, batch, sample);
    this.#parts.logger?.warn({ epoch, batch, ...sample }, 'sample skipped');
  }

  #ended(): void {
    this.#isAtEnd = true;
    this.#wake?.();
  }

  /** No more batches: those that are ready are still handed out, then the error. Sockets are closed at once. */
  #fail(error: Os2gError): void {
    if (this.#error !== null || this.#closing !== null) return;
    this.#error = error;
    this.#pump.stop();
    this.#parts.engine.close().catch(() => {});
    this.#wake?.();
  }

  /** As `#fail`, but nothing more is handed out. */
  #cutOff(error: Os2gError): void {
    if (this.#closing === null) this.#ready = [];
    this.#fail(error);
  }

  /** Who asked for checksums and got none has less than was asked for. */
  #tellChecksums(): void {
    const { verify, engine, logger } = this.#parts;
    const { checked, unchecked } = engine.checksums;
    if (verify !== 'checksum' || checked > 0 || unchecked === 0) return;
    logger?.warn(
      { unchecked },
      'verify checksum: no answer had a checksum of the whole object, so lengths and ETags alone were checked',
    );
  }

  async #close(): Promise<void> {
    const { signal, engine, landing, trace, audit, clock, closeStore } = this.#parts;
    signal?.removeEventListener('abort', this.#onAbort);
    this.#ready = [];
    this.#pump.stop();
    this.#tally.end(clock.nowNs());
    this.#wake?.();
    this.#tellChecksums();
    await closeAll([
      () => engine.close(),
      () => trace?.close(),
      () => audit?.close(),
      () => this.#cursorFile?.close(),
      () => landing.close(),
      closeStore,
    ]);
  }
}

function aborted(reason: unknown): AbortedError {
  return new AbortedError(
    reason,
    'the feed was aborted',
    'open another one with feed.cursor as its `resume`',
  );
}

/** Closes one after the other, all of them, whatever fails. @throws the first failure */
async function closeAll(closers: readonly (() => Promise<void> | void | undefined)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
