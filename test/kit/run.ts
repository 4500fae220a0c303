import * as layout from '../../assembly/layout.js';
import { type Draw, seededDraws } from './draws.js';
import { VirtualMemory } from './memory.js';
import type { Probe, SamplePlace } from './probe.js';
import { DueQueue } from './queue.js';
import { type Action, type ActionOf, drainActions } from './records.js';
import { type DeliveredBatch, emptyReport, type RunReport, stallsOf } from './report.js';
import { classOf, RequestCap, type VirtualFault, type VirtualRequest, type World } from './world.js';

type Due =
  | { kind: 'first'; fetch: Flight }
  | { kind: 'end'; fetch: Flight }
  | { kind: 'cancelled'; fetch: Flight }
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
  const [report] = runWorlds([{ probe, world }]);
  return report!;
}

/** A core and its world: one feeder of several. */
export interface Feeder {
  probe: Probe;
  world: World;
}

/** As `runWorld`, several feeders in one virtual time; they share a store where their worlds share a `cap`. */
export function runWorlds(feeders: readonly Feeder[]): RunReport[] {
  const runs = feeders.map(({ probe, world }) => new Run(probe, world));
  for (const run of runs) run.start();
  for (;;) {
    const going = runs.filter((run) => !run.isOver);
    if (going.length === 0) return runs.map((run) => run.finish());
    going.reduce((first, run) => (run.nextNs < first.nextNs ? run : first)).advance();
  }
}

class Run {
  readonly #probe: Probe;
  readonly #world: World;
  readonly #draw: Draw;
  readonly #due = new DueQueue<Due>();
  readonly #flights = new Map<string, Flight>();
  readonly #memory: VirtualMemory;
  readonly #trainers: Trainer[];
  readonly #cap: RequestCap | null;
  readonly #place: (row: number) => SamplePlace;
  readonly #endedAttempts = new Set<string>();
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
    this.#trainers = Array.from({ length: consumers }, () => ({
      queue: [],
      computing: false,
      waitingSinceNs: null,
      ended: false,
    }));
    this.#cap = world.cap ?? null;
    if (!this.#cap) this.#cap = world.requestsPerS ? new RequestCap(world.requestsPerS) : null;
    this.#place = world.place ?? ((row) => ({ object: row, offset: 0, length: world.sampleBytes ?? 1000 }));
    this.#memory = new VirtualMemory(core, consumers, this.#place, world.checkBytes !== false);
    this.#report = emptyReport(core);
  }

  start(): void {
    for (const { atNs, bytes } of this.#world.limits ?? []) this.#due.push(atNs, { kind: 'limit', bytes });
    if (this.#world.stopAtNs !== undefined) this.#due.push(this.#world.stopAtNs, { kind: 'stop' });
    this.#trainers.forEach((_, consumer) => {
      this.#next(consumer);
    });
    this.#turn();
  }

  get isOver(): boolean {
    return (
      this.#stopped || this.#report.failed !== null || this.#trainers.every((t) => t.ended && !t.computing)
    );
  }

  /** When something happens next. */
  get nextNs(): number {
    return Math.min(this.#due.nextNs, this.#probe.core.deadlineNs);
  }

  /** On to the next thing that happens. */
  advance(): void {
    const deadline = this.#probe.core.deadlineNs;
    if (deadline < this.#nowNs) throw new Error(`deadline ${deadline} lies before now, ${this.#nowNs}`);
    const nextNs = this.nextNs;
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
      case 'cancelled':
        if (!due.fetch.over) this.#cut(due.fetch, classOf('cancelled'), 0);
        return;
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
        const fetch = this.#flights.get(`${action.id}/${action.attempt}`);
        if (fetch) this.#due.push(this.#nowNs + (this.#world.cancelNs ?? 0), { kind: 'cancelled', fetch });
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
    if (this.#flights.has(name) || this.#endedAttempts.has(name))
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
    this.#memory.write(fetch);
    this.#land(flight);
    this.#probe.core.events.fetched(this.#nowNs, fetch.id, fetch.attempt, fetch.length);
  }

  #cut(flight: Flight, failureClass: number, retryAfterNs: number): void {
    const { fetch } = flight;
    this.#memory.spoil(fetch);
    this.#land(flight);
    this.#probe.core.events.failed(this.#nowNs, fetch.id, fetch.attempt, failureClass, 0, retryAfterNs, 0);
  }

  #land(flight: Flight): void {
    const name = `${flight.fetch.id}/${flight.fetch.attempt}`;
    flight.over = true;
    this.#flights.delete(name);
    this.#endedAttempts.add(name);
  }

  #placed(place: ActionOf<'place'>): void {
    const { events } = this.#probe.core;
    if (this.#world.placeFault?.(this.#draw)) {
      return events.placeFailed(this.#nowNs, place.id, place.attempt, classOf('transfer'));
    }
    this.#memory.move(place);
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
    else this.#memory.verify(sample, opened.deliver);
    if (opened.batch.rows.length === opened.deliver.samples) this.#closeBatch();
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

  finish(): RunReport {
    const report = this.#report;
    report.endNs = this.#nowNs;
    report.ended = this.#trainers.every((t) => t.ended);
    report.stallsNs = stallsOf(this.#probe.core);
    report.runHash = this.#probe.core.runHash;
    return report;
  }
}
