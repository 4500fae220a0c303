import * as layout from '../../assembly/layout.js';
import type { Clock } from '../clock.js';
import type { Core } from '../core.js';
import type { GetEngine } from '../engine/engine.js';
import type { LandingBackend } from '../landing/landing.js';
import type { Manifest } from '../manifest/manifest.js';
import { Answers } from './answers.js';
import { Delivery } from './delivery.js';
import { type GiveUp, giveUpOf } from './give-up.js';
import type { OutageWatch } from './outage.js';
import { RingSink } from './ring-sink.js';
import type { Timers } from './timers.js';

/** Rounds that one turn takes before it lets the event loop breathe. */
const MAX_ROUNDS = 256;

/** Told what the core decided, from inside a turn: must not call the pump back. */
export interface PumpListener {
  delivered(delivery: Delivery): void;
  skipped(consumer: number, epoch: number, batch: number, why: GiveUp): void;
  ended(consumer: number): void;
  failed(why: GiveUp): void;
  /** A trap in the core or a defect beside it; nothing more will come. */
  broken(cause: unknown): void;
}

export interface PumpParts {
  core: Core;
  engine: GetEngine;
  landing: LandingBackend;
  manifest: Manifest;
  clock: Clock;
  timers: Timers;
  /** Told of answers and failures; null: nobody listens. */
  outage: OutageWatch | null;
  listener: PumpListener;
}

/**
 * Moves records between the core's rings and the world. One turn: completions into the event ring, a step, every action carried
 * out; again while there are answers or work left; then one wake-up and one timer are armed. No promise and no
 * object of its own for a request.
 *
 * All actions are taken before the next step, so that a run is a function of its configuration and its event records alone.
 */
export class Pump {
  readonly #parts: PumpParts;
  readonly #sink: RingSink;
  readonly #answers: Answers;
  #open: Delivery | null = null;
  #inTurn = false;
  #again = false;
  #soon = false;
  #stopped = false;
  #takeBackTimer: (() => void) | null = null;

  constructor(parts: PumpParts) {
    this.#parts = parts;
    this.#sink = new RingSink(parts.core.events, parts.clock, parts.outage);
    this.#answers = new Answers(parts.core.events, parts.manifest, parts.clock);
    parts.engine.onWake = () => this.wake();
    parts.landing.onWake = () => this.wake();
  }

  /** Takes a turn soon; many calls make one. */
  wake(): void {
    if (this.#inTurn) this.#again = true;
    else if (!this.#soon && !this.#stopped) {
      this.#soon = true;
      this.#parts.timers.soon(() => {
        this.#soon = false;
        this.turn();
      });
    }
  }

  /** A batch's memory is free again. */
  consumed(delivery: Delivery): void {
    if (this.#stopped) return;
    this.#makeRoom();
    this.#parts.core.events.consumed(this.#now(), delivery.consumer, delivery.epoch, delivery.batch);
  }

  /** The consumer found no batch. */
  waiting(consumer: number): void {
    if (this.#stopped) return;
    this.#makeRoom();
    this.#parts.core.events.waiting(this.#now(), consumer);
  }

  /** Positions of an external order. The caller keeps within the look-ahead. */
  requested(consumer: number, rows: ArrayLike<number>, endBatch: boolean, end: boolean): void {
    const { events } = this.#parts.core;
    for (let i = 0; i < rows.length && !this.#stopped; i++) {
      this.#makeRoom();
      const closes = endBatch && i === rows.length - 1;
      events.requested(this.#now(), consumer, closes ? layout.REQUESTED_CLOSES_BATCH : 0, rows[i]!);
    }
    if (!end || this.#stopped) return;
    this.#makeRoom();
    events.requested(this.#now(), consumer, layout.REQUESTED_ENDS, 0);
  }

  /** Ends the pump: the core is told, nothing is armed any more. Idempotent. */
  stop(): void {
    if (this.#stopped) return;
    const { core } = this.#parts;
    this.#halt();
    if (this.#inTurn || core.error !== layout.ERROR_NONE || core.events.free === 0) return;
    try {
      core.events.stop(this.#now());
      core.step(this.#now());
      while (core.action() >= 0);
    } catch (cause) {
      this.#parts.listener.broken(cause);
    }
  }

  /** One turn, now. */
  turn(): void {
    if (this.#inTurn) {
      this.#again = true;
      return;
    }
    if (this.#stopped) return;
    this.#inTurn = true;
    try {
      let rounds = 0;
      do {
        this.#again = false;
        this.#round();
      } while (this.#again && !this.#stopped && ++rounds < MAX_ROUNDS);
      this.#arm();
    } catch (cause) {
      this.#halt();
      this.#parts.listener.broken(cause);
    } finally {
      this.#inTurn = false;
    }
    if (this.#again) this.wake();
  }

  #round(): void {
    const { core, engine, landing } = this.#parts;
    this.#answers.flush();
    landing.drain(this.#sink, core.events.free);
    engine.drain(this.#sink, core.events.free);
    core.step(this.#now());
    for (let word = core.action(); word >= 0 && !this.#stopped; word = core.action()) this.#act(word);
    if (core.error !== layout.ERROR_NONE && !this.#stopped) {
      throw new Error(`the core refused what it was given: error ${core.error}, detail ${core.errorDetail}`);
    }
    if (core.more || core.events.free < layout.EVENT_RING_RECORDS || this.#answers.areWaiting)
      this.#again = true;
  }

  #act(word: number): void {
    const { core, engine, landing, listener } = this.#parts;
    const { u32, f64 } = core;
    const half = word >> 1;
    const consumer = u32[word + layout.W_CONSUMER]!;
    const id = u32[word + layout.W_ID]!;
    const attempt = u32[word + layout.W_ATTEMPT]!;
    switch (u32[word]) {
      case layout.ACTION_RESOLVE:
        this.#answers.resolved(id, f64[half + layout.RESOLVE_D_ROW]!);
        return;
      case layout.ACTION_FETCH: {
        const target = f64[half + layout.FETCH_D_TARGET]!;
        const length = f64[half + layout.FETCH_D_LENGTH]!;
        const staged = (u32[word + layout.FETCH_W_FLAGS]! & layout.FETCH_TO_STAGING) !== 0;
        const memory = staged ? landing.staging() : landing.landing(consumer);
        const row = f64[half + layout.FETCH_D_ROW]!;
        engine.get(id, attempt, row, f64[half + layout.FETCH_D_OFFSET]!, length, memory, target);
        return;
      }
      case layout.ACTION_CANCEL:
        engine.cancel(id, attempt);
        return;
      case layout.ACTION_PLACE:
        this.#place(consumer, id, attempt, half);
        return;
      case layout.ACTION_DELIVER:
        this.#open = Delivery.fromRecord(u32, f64, word);
        this.#deliverWhole();
        return;
      case layout.ACTION_SAMPLE:
        if (this.#open === null) throw new Error('the core sent a SAMPLE outside a batch');
        if (this.#open.addSample(u32, f64, word)) this.#deliverWhole();
        return;
      case layout.ACTION_SKIP:
        listener.skipped(
          consumer,
          u32[word + layout.W_EPOCH]!,
          u32[word + layout.W_BATCH]!,
          this.#giveUp(word),
        );
        return;
      case layout.ACTION_FAIL:
        listener.failed(this.#giveUp(word));
        this.#halt();
        return;
      case layout.ACTION_END:
        listener.ended(consumer);
        return;
      default:
        throw new Error(`the core sent an action of unknown kind ${u32[word]}`);
    }
  }

  #deliverWhole(): void {
    const delivery = this.#open;
    if (!delivery?.isWhole) return;
    this.#open = null;
    this.#parts.listener.delivered(delivery);
  }

  #place(consumer: number, id: number, attempt: number, half: number): void {
    const { core, landing } = this.#parts;
    const from = core.f64[half + layout.PLACE_D_FROM]!;
    const to = core.f64[half + layout.PLACE_D_TARGET]!;
    const length = core.f64[half + layout.PLACE_D_LENGTH]!;
    if (landing.place(id, attempt, consumer, from, to, length)) this.#again = true;
  }

  #giveUp(word: number): GiveUp {
    return giveUpOf(this.#parts, word, this.#sink);
  }

  /** Outside a turn the ring is taken by a step as soon as it is full. */
  #makeRoom(): void {
    if (this.#parts.core.events.free === 0) this.turn();
  }

  #arm(): void {
    this.#takeBackTimer?.();
    this.#takeBackTimer = null;
    if (this.#stopped) return;
    const { core, engine, landing, clock, timers } = this.#parts;
    engine.arm();
    landing.arm();
    const deadlineNs = core.deadlineNs;
    if (deadlineNs === Number.POSITIVE_INFINITY) return;
    this.#takeBackTimer = timers.after(Math.max(deadlineNs - clock.nowNs(), 0), () => {
      this.#takeBackTimer = null;
      this.turn();
    });
  }

  #halt(): void {
    this.#stopped = true;
    this.#parts.engine.onWake = null;
    this.#parts.landing.onWake = null;
    this.#takeBackTimer?.();
    this.#takeBackTimer = null;
  }

  #now(): number {
    return this.#parts.clock.nowNs();
  }
}
