import * as layout from '../../assembly/layout.js';
import { contentByte, type Draw, seededDraws } from './draws.js';
import type { Probe, SamplePlace } from './probe.js';
import { DueQueue } from './queue.js';
import { type Action, type ActionOf, drainActions } from './records.js';
import {
  classOf,
  RequestCap,
  STALL_NAMES,
  type VirtualFault,
  type VirtualRequest,
  type World,
} from './world.js';

/** A batch as a trainer got it. */
export interface DeliveredBatch {
  consumer: number;
  epoch: number;
  batch: number;
  atNs: number;
  rows: number[];
  pads: number;
  skipped: number[];
}

export interface RunReport {
  endNs: number;
  batches: DeliveredBatch[];
  ended: boolean;
  failed: ActionOf<'fail'> | null;
  skips: ActionOf<'skip'>[];
  /** Nanoseconds that consumers stalled, as the world saw it, and as the core charged it. */
  stalledNs: number;
  stallsNs: Record<(typeof STALL_NAMES)[number], number>;
  counter: (index: number) => number;
  mostInFlight: number;
  memoryPeakBytes: number;
  throttled: number;
  runHash: string;
  steps: number;
}

type Due =
  | { kind: 'first'; fetch: Flight }
  | { kind: 'end'; fetch: Flight }
  | { kind: 'placed'; place: ActionOf<'place'> }
  | { kind: 'step'; consumer: number; delivered: DeliveredBatch }
  | { kind: 'limit'; bytes: number }
  | { kind: 'stop' };

interface Flight {
  fetch: ActionOf<'fetch'>;
  fault: VirtualFault | null;
  over: boolean;
}

interface Trainer {
  queue: DeliveredBatch[];
  computing: boolean;
  waitingSinceNs: number | null;
  ended: boolean;
}

/**
 * Runs a core to its end in virtual time against a world, with real landing memory: bytes are written when an attempt ends,
 * wrong ones when it fails, and every sample is compared with its object at delivery.
 * @throws Error where the core breaks a rule: wrong bytes, budget exceeded, a deadline in the past, no progress.
 */
export function runWorld(probe: Probe, world: World): RunReport {
  return new Run(probe, world).run();
}

class Run {
  readonly #probe: Probe;
  readonly #world: World;
  readonly #draw: Draw;
  readonly #due = new DueQueue<Due>();
  readonly #flights = new Map<string, Flight>();
  readonly #landing: Uint8Array[];
  readonly #staging: Uint8Array;
  readonly #trainers: Trainer[];
  readonly #cap: RequestCap | null;
  readonly #place: (row: number) => SamplePlace;
  readonly #placedAttempts = new Set<string>();
  readonly #report: RunReport;
  #nowNs = 0;
  #requests = 0;
  #opened: { batch: DeliveredBatch; deliver: ActionOf<'deliver'> } | null = null;
  #stopped = false;
  #settledNs = -1;

  constructor(probe: Probe, world: World) {
    const { core, config } = probe;
    this.#probe = probe;
    this.#world = world;
    this.#draw = seededDraws(world.seed);
    const consumers = config[layout.CONFIG_CONSUMERS]!;
    this.#landing = Array.from({ length: consumers }, () => new Uint8Array(core.landingBytes));
    this.#staging = new Uint8Array(core.stagingBytes);
    this.#trainers = Array.from({ length: consumers }, () => ({
      queue: [],
      computing: false,
      waitingSinceNs: null,
      ended: false,
    }));
    this.#cap = world.requestsPerS ? new RequestCap(world.requestsPerS) : null;
    this.#place = world.place ?? ((row) => ({ object: row, offset: 0, length: world.sampleBytes ?? 1000 }));
    this.#report = {
      endNs: 0,
      batches: [],
      ended: false,
      failed: null,
      skips: [],
      stalledNs: 0,
      stallsNs: Object.fromEntries(STALL_NAMES.map((n) => [n, 0])) as RunReport['stallsNs'],
      counter: (index) => core.counters[index]!,
      mostInFlight: 0,
      memoryPeakBytes: 0,
      throttled: 0,
      runHash: '',
      steps: 0,
    };
  }

  run(): RunReport {
    for (const { atNs, bytes } of this.#world.limits ?? []) this.#due.push(atNs, { kind: 'limit', bytes });
    if (this.#world.stopAtNs !== undefined) this.#due.push(this.#world.stopAtNs, { kind: 'stop' });
    this.#trainers.forEach((_, consumer) => {
      this.#next(consumer);
    });
    this.#turn();
    while (!this.#over()) this.#advance();
    return this.#finish();
  }

  #over(): boolean {
    return (
      this.#stopped || this.#report.failed !== null || this.#trainers.every((t) => t.ended && !t.computing)
    );
  }

  #advance(): void {
    const deadline = this.#probe.core.deadlineNs;
    if (deadline < this.#nowNs) throw new Error(`deadline ${deadline} lies before now, ${this.#nowNs}`);
    const nextNs = Math.min(this.#due.nextNs, deadline);
    if (nextNs === Number.POSITIVE_INFINITY)
      throw new Error(`no progress at ${this.#nowNs} ns: nothing is due`);
    if (nextNs > (this.#world.giveUpNs ?? 3600e9)) throw new Error(`still running at ${nextNs} ns`);
    if (nextNs === this.#nowNs && this.#due.nextNs > nextNs && this.#settledNs === nextNs) {
      throw new Error(`the core asks for the same instant ${nextNs} again and again`);
    }
    this.#settledNs = this.#due.nextNs > nextNs ? nextNs : -1;
    this.#nowNs = nextNs;
    for (let due = this.#due.take(nextNs); due; due = this.#due.take(nextNs)) {
      if (this.#probe.core.events.free < 4) this.#turn();
      this.#happen(due);
    }
    this.#turn();
  }

  #happen(due: Due): void {
    const { events } = this.#probe.core;
    const now = this.#nowNs;
    switch (due.kind) {
      case 'first':
        if (!due.fetch.over) events.firstByte(now, due.fetch.fetch.id, due.fetch.fetch.attempt);
        return;
      case 'end':
        return this.#endFlight(due.fetch);
      case 'placed':
        return this.#placed(due.place);
      case 'step': {
        events.consumed(now, due.consumer, due.delivered.epoch, due.delivered.batch);
        this.#trainers[due.consumer]!.computing = false;
        return this.#next(due.consumer);
      }
      case 'limit':
        return events.limit(now, due.bytes);
      case 'stop':
        events.stop(now);
        this.#stopped = true;
    }
  }

  // ---- core -----------------------------------------------------------------------------------

  #turn(): void {
    const { core } = this.#probe;
    for (;;) {
      core.step(this.#nowNs);
      this.#report.steps++;
      const actions = drainActions(core);
      if (this.#stopped && actions.length > 0)
        throw new Error(`the core acts after STOP: ${actions[0]?.kind}`);
      for (const action of actions) {
        if (core.events.free < 4) core.step(this.#nowNs);
        this.#act(action);
      }
      this.#checkMemory();
      if (core.error !== 0 && this.#report.failed === null)
        throw new Error(`core error ${core.error} (${core.errorDetail})`);
      if (actions.length === 0 && !core.more) return;
    }
  }

  #act(action: Action): void {
    const { events } = this.#probe.core;
    switch (action.kind) {
      case 'resolve': {
        const { object, offset, length } = this.#place(action.row);
        return events.resolved(this.#nowNs, action.slot, object, offset, length);
      }
      case 'fetch':
        return this.#startFlight(action);
      case 'cancel': {
        const flight = this.#flights.get(`${action.id}/${action.attempt}`);
        if (flight && !flight.over) this.#cut(flight, classOf('cancelled'), 0);
        return;
      }
      case 'place':
        this.#due.push(this.#nowNs + (this.#world.placeNs ?? 1000), { kind: 'placed', place: action });
        return;
      case 'deliver':
        return this.#open(action);
      case 'sample':
        return this.#sample(action);
      case 'skip':
        this.#report.skips.push(action);
        return;
      case 'fail':
        this.#report.failed = action;
        return;
      case 'end':
        this.#trainers[action.consumer]!.ended = true;
        this.#trainers[action.consumer]!.waitingSinceNs = null;
    }
  }

  #checkMemory(): void {
    const used = this.#report.counter(layout.COUNTER_MEMORY_BYTES);
    const budget = this.#probe.config[layout.CONFIG_MEMORY_BYTES]!;
    if (used > budget) throw new Error(`${used} bytes in use, the budget is ${budget}`);
    this.#report.memoryPeakBytes = Math.max(this.#report.memoryPeakBytes, used);
  }

  // ---- store ----------------------------------------------------------------------------------

  #startFlight(fetch: ActionOf<'fetch'>): void {
    const name = `${fetch.id}/${fetch.attempt}`;
    if (this.#flights.has(name) || this.#placedAttempts.has(name))
      throw new Error(`attempt ${name} was sent twice`);
    if (fetch.length < 1) throw new Error('an empty range was requested');
    const request: VirtualRequest = { ...fetch, nowNs: this.#nowNs, index: this.#requests++ };
    const fault =
      this.#cap && !this.#cap.take(this.#nowNs)
        ? this.#refuse()
        : (this.#world.fault?.(request, this.#draw) ?? null);
    const flight: Flight = { fetch, fault, over: false };
    this.#flights.set(name, flight);
    this.#report.mostInFlight = Math.max(this.#report.mostInFlight, this.#flights.size);
    const firstByteNs = Math.round(this.#world.firstByteNs(request, this.#draw));
    if (fault) {
      this.#due.push(this.#nowNs + Math.round(fault.afterNs), { kind: 'end', fetch: flight });
      return;
    }
    if (this.#world.reportFirstByte !== false)
      this.#due.push(this.#nowNs + firstByteNs, { kind: 'first', fetch: flight });
    const bodyNs = this.#world.bytesPerS ? Math.round((fetch.length / this.#world.bytesPerS) * 1e9) : 0;
    this.#due.push(this.#nowNs + firstByteNs + bodyNs, { kind: 'end', fetch: flight });
  }

  #refuse(): VirtualFault {
    this.#report.throttled++;
    return { class: 'throttled', afterNs: 2e6 };
  }

  #endFlight(flight: Flight): void {
    if (flight.over) return;
    if (flight.fault) return this.#cut(flight, classOf(flight.fault.class), flight.fault.retryAfterNs ?? 0);
    const { fetch } = flight;
    const { object } = this.#place(fetch.row);
    const target = this.#target(fetch);
    for (let i = 0; i < fetch.length; i++) target[i] = contentByte(object, fetch.offset + i);
    this.#land(flight);
    this.#probe.core.events.fetched(this.#nowNs, fetch.id, fetch.attempt, fetch.length);
  }

  /** A failed attempt may leave anything in its target, up to the moment of its end. */
  #cut(flight: Flight, failureClass: number, retryAfterNs: number): void {
    const { fetch } = flight;
    this.#target(fetch).fill(0xee);
    this.#land(flight);
    this.#probe.core.events.failed(this.#nowNs, fetch.id, fetch.attempt, failureClass, 0, retryAfterNs, 0);
  }

  #land(flight: Flight): void {
    flight.over = true;
    this.#flights.delete(`${flight.fetch.id}/${flight.fetch.attempt}`);
  }

  #target(fetch: ActionOf<'fetch'>): Uint8Array {
    const memory = fetch.staged ? this.#staging : this.#landing[fetch.consumer]!;
    if (fetch.target + fetch.length > memory.length) throw new Error('a target outside its memory');
    return memory.subarray(fetch.target, fetch.target + fetch.length);
  }

  #placed(place: ActionOf<'place'>): void {
    const { events } = this.#probe.core;
    if (this.#world.placeFault?.(this.#draw)) {
      return events.placeFailed(this.#nowNs, place.id, place.attempt, classOf('transfer'));
    }
    const landing = this.#landing[place.consumer]!;
    if (place.target + place.length > landing.length) throw new Error('a place outside landing memory');
    landing.set(this.#staging.subarray(place.from, place.from + place.length), place.target);
    events.placed(this.#nowNs, place.id, place.attempt);
  }

  // ---- trainers -------------------------------------------------------------------------------

  #open(deliver: ActionOf<'deliver'>): void {
    if (this.#opened) throw new Error('a batch was delivered inside another');
    const { consumer, epoch, batch, pads } = deliver;
    this.#opened = {
      deliver,
      batch: { consumer, epoch, batch, pads, atNs: this.#nowNs, rows: [], skipped: [] },
    };
    if (deliver.samples === 0) this.#closeBatch();
  }

  #sample(sample: ActionOf<'sample'>): void {
    const opened = this.#opened;
    if (!opened) throw new Error('a sample outside a batch');
    if (sample.index !== opened.batch.rows.length) throw new Error('samples out of order');
    opened.batch.rows.push(sample.row);
    if (sample.skipped) opened.batch.skipped.push(sample.row);
    else this.#verify(sample, opened.deliver);
    if (opened.batch.rows.length === opened.deliver.samples) this.#closeBatch();
  }

  #verify(sample: ActionOf<'sample'>, deliver: ActionOf<'deliver'>): void {
    const { object, offset, length } = this.#place(sample.row);
    if (sample.length !== length || sample.offset !== offset)
      throw new Error(`row ${sample.row} has another place`);
    if (sample.target < deliver.offset || sample.target + length > deliver.offset + deliver.length) {
      throw new Error('a sample outside its batch');
    }
    const landing = this.#landing[sample.consumer]!;
    for (let i = 0; i < length; i++) {
      if (landing[sample.target + i] !== contentByte(object, offset + i)) {
        throw new Error(`wrong byte ${i} of row ${sample.row}, epoch ${sample.epoch}, batch ${sample.batch}`);
      }
    }
  }

  #closeBatch(): void {
    const { batch } = this.#opened!;
    this.#opened = null;
    this.#report.batches.push(batch);
    const trainer = this.#trainers[batch.consumer]!;
    trainer.queue.push(batch);
    if (trainer.waitingSinceNs === null) return;
    this.#report.stalledNs += this.#nowNs - trainer.waitingSinceNs;
    trainer.waitingSinceNs = null;
    this.#next(batch.consumer);
  }

  /** A trainer asks for its next batch. */
  #next(consumer: number): void {
    const trainer = this.#trainers[consumer]!;
    const batch = trainer.queue.shift();
    if (batch) {
      trainer.computing = true;
      this.#due.push(this.#nowNs + this.#world.stepNs, { kind: 'step', consumer, delivered: batch });
    } else if (!trainer.ended) {
      trainer.waitingSinceNs = this.#nowNs;
      this.#probe.core.events.waiting(this.#nowNs, consumer);
    }
  }

  #finish(): RunReport {
    const report = this.#report;
    report.endNs = this.#nowNs;
    report.ended = this.#trainers.every((t) => t.ended);
    STALL_NAMES.forEach((name, cause) => {
      report.stallsNs[name] = report.counter(layout.COUNTER_STALL_NS + cause);
    });
    report.runHash = this.#probe.core.runHash;
    return report;
  }
}
