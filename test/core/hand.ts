import * as layout from '../../assembly/layout.js';
import type { FailureName } from '../../runtime-node/engine/failure.js';
import {
  type Action,
  type ActionOf,
  isKind,
  type Probe,
  type ProbeOptions,
  probeCore,
  type SamplePlace,
} from '../kit/index.js';
import { classOf } from '../kit/world.js';

/** Milliseconds as the core's nanoseconds. */
export const MS = 1e6;

/** Every row an object of its own with this many bytes. */
export const objectsOf =
  (sizeBytes: number) =>
  (row: number): SamplePlace => ({ object: row, offset: 0, length: sizeBytes });

/**
 * A host under the hands of a test: it answers RESOLVE by itself and keeps what is open, and the test decides what becomes
 * of each request. Every action since the last look is in `seen`.
 */
export class Hand {
  readonly probe: Probe;
  readonly place: (row: number) => SamplePlace;
  nowNs = 0;
  seen: Action[] = [];
  readonly #open = new Map<string, ActionOf<'fetch'>>();
  readonly #moves = new Map<number, ActionOf<'place'>>();
  readonly delivered: ActionOf<'deliver'>[] = [];
  failed: ActionOf<'fail'> | null = null;

  constructor(probe: Probe, place: (row: number) => SamplePlace = objectsOf(1000)) {
    this.probe = probe;
    this.place = place;
  }

  static async start(options: ProbeOptions, place?: (row: number) => SamplePlace): Promise<Hand> {
    return new Hand(await probeCore(options), place);
  }

  /** Attempts whose end is awaited, in the order of their FETCH. */
  get open(): ActionOf<'fetch'>[] {
    return [...this.#open.values()];
  }

  /** Moves from staging to landing memory whose end is awaited. */
  get moves(): ActionOf<'place'>[] {
    return [...this.#moves.values()];
  }

  /** The event ring, with room for one more. */
  get events(): Probe['core']['events'] {
    if (this.probe.core.events.free === 0) this.step();
    return this.probe.core.events;
  }

  /** Steps at `nowNs` (default: the time of the last step); returns what the core said, RESOLVE aside. */
  step(nowNs = this.nowNs): Action[] {
    this.nowNs = nowNs;
    const actions = this.probe.stepResolving(nowNs, this.place);
    for (const action of actions) {
      if (action.kind === 'fetch') this.#open.set(`${action.id}/${action.attempt}`, action);
      else if (action.kind === 'place') this.#moves.set(action.id, action);
      else if (action.kind === 'deliver') this.delivered.push(action);
      else if (action.kind === 'fail') this.failed = action;
    }
    this.seen.push(...actions);
    return actions;
  }

  /** Every consumer was given its last batch. */
  get ended(): boolean {
    return (this.probe.core.flags & layout.FLAG_ENDED) !== 0;
  }

  /** Steps at every deadline of the core up to `untilNs`, then there. */
  run(untilNs: number): Action[] {
    const actions = this.step();
    while (this.probe.core.deadlineNs <= untilNs) actions.push(...this.step(this.probe.core.deadlineNs));
    actions.push(...this.step(untilNs));
    return actions;
  }

  first(fetch: ActionOf<'fetch'>): void {
    this.events.firstByte(this.nowNs, fetch.id, fetch.attempt);
  }

  finish(fetch: ActionOf<'fetch'>, bytes = fetch.length): void {
    this.#close(fetch);
    this.events.fetched(this.nowNs, fetch.id, fetch.attempt, bytes);
  }

  fail(fetch: ActionOf<'fetch'>, name: FailureName, retryAfterNs = 0): void {
    this.#close(fetch);
    this.events.failed(this.nowNs, fetch.id, fetch.attempt, classOf(name), 0, retryAfterNs, 0);
  }

  moved(move: ActionOf<'place'>): void {
    this.#moves.delete(move.id);
    this.events.placed(this.nowNs, move.id, move.attempt);
  }

  moveFailed(move: ActionOf<'place'>): void {
    this.#moves.delete(move.id);
    this.events.placeFailed(this.nowNs, move.id, move.attempt, classOf('transfer'));
  }

  consume(batch: ActionOf<'deliver'>): void {
    this.delivered.splice(this.delivered.indexOf(batch), 1);
    this.events.consumed(this.nowNs, batch.consumer, batch.epoch, batch.batch);
  }

  /** Finishes every open attempt and move, again and again, until the core has nothing more to ask for. */
  settle(): void {
    do {
      for (const fetch of this.open) this.finish(fetch);
      for (const move of this.moves) this.moved(move);
      this.step();
    } while (this.#open.size + this.#moves.size > 0);
  }

  counter(index: number): number {
    return this.probe.core.counters[index]!;
  }

  #close(fetch: ActionOf<'fetch'>): void {
    const name = `${fetch.id}/${fetch.attempt}`;
    if (!this.#open.delete(name)) throw new Error(`attempt ${name} is not open`);
  }
}

/** Rows that were asked for, by the FETCH actions among these. */
export function fetchedRows(actions: readonly Action[]): number[] {
  return actions.filter(isKind('fetch')).map((f) => f.row);
}
