import * as layout from '../../assembly/layout.js';
import type { Core } from '../../runtime-node/core.js';
import type { DataSet } from '../dataset.js';
import { codeOf, KIND_CANCELLED, KIND_DEADLINE } from '../engine/codes.js';
import type { EventQueue } from '../engine/event-queue.js';
import type { Slots } from '../engine/slots.js';
import type { Machine } from '../machine.js';
import type { NodeSample } from '../observer.js';
import type { ReadingPlan } from '../reading-plan.js';
import type { RequestOwner } from '../request-owner.js';
import type { Cores } from '../stations/cores.js';
import type { Trainer } from '../trainer.js';
import type { Transport } from '../transport.js';
import type { Way } from '../way.js';
import type { Client, ClientTotals, RunFailure } from './client.js';
import { CpuStalls } from './cpu-stalls.js';
import { KnownBatches } from './known-batches.js';
import { PlaceQueue } from './place-queue.js';
import { SentRequests } from './sent-requests.js';

const HASH_WORD = (layout.HEADER_OFFSET >> 2) + layout.HEAD_HASH_LO;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The OS2G client: the policy core's own binary, one instance a node, pumped in virtual time. Events of one instant are one step,
 * and every action is carried out before the next step, as the feed's pump does; so a recorded run replays to the same hash.
 */
export class CoreClient implements Client, RequestOwner {
  failure: RunFailure | null = null;
  readonly #machine: Machine;
  readonly #queue: EventQueue;
  readonly #slots: Slots;
  readonly #cores: readonly Core[];
  readonly #plan: ReadingPlan;
  readonly #places: PlaceQueue;
  readonly #cpuStalls: CpuStalls;
  readonly #sent: SentRequests;
  readonly #isDirty: Uint8Array;
  readonly #dirty: Uint32Array;
  #dirtyCount = 0;
  readonly #armedNs: Float64Array;
  /** Null where the core knows the order by itself. */
  readonly #known: KnownBatches | null;
  #parts: { trainer: Trainer; transport: Transport; way: Way } | null = null;

  /**
   * @param cores the policy's, one a node, started with its configuration and not stepped yet
   * @param cpu by node, of the side where the client runs
   */
  constructor(
    machine: Machine,
    queue: EventQueue,
    slots: Slots,
    cores: readonly Core[],
    dataSet: DataSet,
    plan: ReadingPlan,
    cpu: readonly Cores[],
  ) {
    this.#machine = machine;
    this.#queue = queue;
    this.#slots = slots;
    this.#cores = cores;
    this.#plan = plan;
    this.#places = new PlaceQueue(dataSet);
    this.#sent = new SentRequests(slots, cores.length);
    this.#cpuStalls = new CpuStalls(cpu);
    this.#isDirty = new Uint8Array(cores.length);
    this.#dirty = new Uint32Array(cores.length);
    this.#armedNs = new Float64Array(cores.length).fill(NEVER);
    const { access } = machine.scenario.training;
    const ring = (node: number): Core['events'] => this.#eventRing(node);
    this.#known =
      access.kind === 'zipf'
        ? new KnownBatches(
            plan,
            cores.length,
            machine.gpus,
            access.lookahead_batches,
            ring,
            () => queue.nowNs,
          )
        : null;
  }

  connect(trainer: Trainer, transport: Transport, way: Way): void {
    this.#parts = { trainer, transport, way };
  }

  start(): void {
    for (let node = 0; node < this.#cores.length; node++) this.#touch(node);
  }

  // ---- from the world to the core -----------------------------------------------------------------

  sent(): void {}

  held(): void {}

  bodyCame(): void {}

  firstByte(slot: number): void {
    const node = this.#slots.node[slot]!;
    this.#eventRing(node).firstByte(this.#queue.nowNs, this.#slots.tag[slot]!, this.#slots.attempt[slot]!);
  }

  received(slot: number): void {
    const slots = this.#slots;
    const events = this.#eventRing(slots.node[slot]!);
    events.fetched(this.#queue.nowNs, slots.tag[slot]!, slots.attempt[slot]!, slots.bytes[slot]!);
    slots.release(slot);
  }

  failed(slot: number, failureClass: number, bytes: number): void {
    const slots = this.#slots;
    const status =
      failureClass === layout.CLASS_THROTTLED ? 503 : failureClass === layout.CLASS_SERVER ? 500 : 0;
    const events = this.#eventRing(slots.node[slot]!);
    events.failed(this.#queue.nowNs, slots.tag[slot]!, slots.attempt[slot]!, failureClass, status, 0, bytes);
  }

  /** A transfer reached its GPU. */
  landed(slot: number): void {
    const slots = this.#slots;
    this.#eventRing(slots.node[slot]!).placed(this.#queue.nowNs, slots.tag[slot]!, slots.attempt[slot]!);
    slots.release(slot);
  }

  consumed(node: number, gpu: number, batch: number): void {
    const events = this.#eventRing(node);
    if (this.#known) return events.consumed(this.#queue.nowNs, gpu, 0, this.#known.consumed(node, gpu));
    const step = batch % this.#plan.steps;
    events.consumed(this.#queue.nowNs, gpu, (batch - step) / this.#plan.steps, step);
  }

  waiting(node: number, gpu: number): void {
    this.#eventRing(node).waiting(this.#queue.nowNs, gpu);
  }

  asked(node: number, batch: number): void {
    this.#known?.asked(node, batch);
  }

  happened(kind: number, argument: number): void {
    if (kind === KIND_DEADLINE) return this.#deadline(argument);
    if (kind !== KIND_CANCELLED) throw new Error(`no event of kind ${kind} belongs to the core`);
    if (!this.#slots.unname(argument)) return;
    this.failed(argument, layout.CLASS_CANCELLED, this.#slots.bytes[argument]!);
    this.#slots.release(argument);
  }

  #deadline(node: number): void {
    // An event that an earlier one overtook is void.
    if (this.#armedNs[node] !== this.#queue.nowNs) return;
    this.#armedNs[node] = NEVER;
    const deadlineNs = this.#cores[node]!.deadlineNs;
    if (deadlineNs <= this.#queue.nowNs) this.#touch(node);
    else this.#arm(node, deadlineNs);
  }

  /** A later deadline needs no other event: the one that was pushed looks again. */
  #arm(node: number, deadlineNs: number): void {
    if (deadlineNs >= this.#armedNs[node]!) return;
    this.#armedNs[node] = deadlineNs;
    this.#queue.push(deadlineNs, codeOf(KIND_DEADLINE, node));
  }

  /** The node's event ring, with room for one event. */
  #eventRing(node: number): Core['events'] {
    if (this.#isDirty[node] === 0) this.#touch(node);
    const { events } = this.#cores[node]!;
    if (events.free === 0) this.#turn(node);
    return events;
  }

  #touch(node: number): void {
    if (this.#isDirty[node] === 1) return;
    this.#isDirty[node] = 1;
    this.#dirty[this.#dirtyCount++] = node;
  }

  settle(): void {
    for (let i = 0; i < this.#dirtyCount; i++) {
      const node = this.#dirty[i]!;
      this.#isDirty[node] = 0;
      this.#turn(node);
      if (this.failure === null) this.#arm(node, this.#cores[node]!.deadlineNs);
    }
    this.#dirtyCount = 0;
  }

  stop(): void {
    // A core charges a wait up to its last step. What it still wants to do comes too late.
    this.#cores.forEach((core, node) => {
      core.step(this.#queue.nowNs);
      this.#cpuStalls.stepped(node, core, this.#queue.nowNs);
    });
  }

  // ---- from the core to the world -----------------------------------------------------------------

  #turn(node: number): void {
    const core = this.#cores[node]!;
    do {
      this.#places.answer(core, this.#queue.nowNs);
      core.step(this.#queue.nowNs);
      this.#cpuStalls.stepped(node, core, this.#queue.nowNs);
      for (let word = core.action(); word >= 0; word = core.action()) this.#act(node, core, word);
      if (core.error !== layout.ERROR_NONE && this.failure === null) {
        throw new Error(
          `the core refused what it was given: error ${core.error}, detail ${core.errorDetail}`,
        );
      }
    } while (this.failure === null && (core.more || this.#places.areWaiting));
  }

  #act(node: number, core: Core, word: number): void {
    const { u32, f64 } = core;
    const half = word >> 1;
    switch (u32[word]) {
      case layout.ACTION_SAMPLE:
      case layout.ACTION_END:
        return;
      case layout.ACTION_RESOLVE:
        return this.#places.ask(u32[word + layout.W_ID]!, f64[half + layout.RESOLVE_D_ROW]!);
      case layout.ACTION_FETCH: {
        const slot = this.#slotFor(node, core, word, f64[half + layout.FETCH_D_LENGTH]!);
        this.#sent.add(slot);
        return this.#parts!.transport.issue(slot);
      }
      case layout.ACTION_PLACE:
        return this.#place(this.#slotFor(node, core, word, f64[half + layout.PLACE_D_LENGTH]!));
      case layout.ACTION_DELIVER: {
        const gpu = u32[word + layout.W_CONSUMER]!;
        return this.#parts!.trainer.delivered(node, gpu, f64[half + layout.DELIVER_D_BYTES]!);
      }
      case layout.ACTION_CANCEL:
        return this.#cancel(node, u32[word + layout.W_ID]!, u32[word + layout.W_ATTEMPT]!);
      case layout.ACTION_FAIL:
        this.failure = {
          code: u32[word + layout.FAIL_W_CODE]!,
          failureClass: u32[word + layout.FAIL_W_CLASS]!,
          row: f64[half + layout.FAIL_D_ROW]!,
          atNs: this.#queue.nowNs,
          neededBytes: f64[half + layout.FAIL_D_NEEDED]!,
          limitBytes: f64[half + layout.FAIL_D_LIMIT]!,
        };
        return;
      default:
        throw new Error(`an action of kind ${u32[word]} has no place in the simulator`);
    }
  }

  /** A slot for what an action begins. */
  #slotFor(node: number, { u32 }: Core, word: number, bytes: number): number {
    const gpu = u32[word + layout.W_CONSUMER]!;
    return this.#slots.take(node, gpu, u32[word + layout.W_ID]!, u32[word + layout.W_ATTEMPT]!, bytes);
  }

  #place(slot: number): void {
    const { way } = this.#parts!;
    switch (this.#machine.pipeline.way) {
      case 'direct':
        return way.dpuToGpu(slot);
      case 'relay':
        return way.relay(slot);
      case 'host':
        return way.copyToGpu(slot);
    }
  }

  /** The core is told of the end of a cancelled attempt in an event of its own, after the step. */
  #cancel(node: number, id: number, attempt: number): void {
    const slots = this.#slots;
    const slot = this.#sent.find(node, id, attempt);
    // An attempt that has ended by itself was reported already.
    if (slot < 0) return;
    const gpu = slots.gpu[slot]!;
    const bytes = this.#parts!.transport.cancel(slot);
    const report = slots.take(node, gpu, id, attempt, bytes);
    slots.name(report);
    this.#queue.push(this.#queue.nowNs, codeOf(KIND_CANCELLED, report));
  }

  // ---- what others ask ----------------------------------------------------------------------------

  look(node: number, into: NodeSample): void {
    const { counters } = this.#cores[node]!;
    into.windowBytes = counters[layout.COUNTER_WINDOW_BYTES]!;
    into.inFlight = counters[layout.COUNTER_IN_FLIGHT]!;
    into.memoryBytes = counters[layout.COUNTER_MEMORY_BYTES]!;
    into.concurrencyLimit = counters[layout.COUNTER_CONCURRENCY_LIMIT]!;
  }

  totals(): ClientTotals {
    const sum = (index: number): number =>
      this.#cores.reduce((total, core) => total + core.counters[index]!, 0);
    const stallNs = new Float64Array(layout.STALL_CAUSES);
    for (let i = 0; i < stallNs.length; i++) stallNs[i] = sum(layout.COUNTER_STALL_NS + i);
    this.#cpuStalls.applyTo(stallNs);
    return {
      requests: sum(layout.COUNTER_REQUESTS),
      headRequests: 0,
      retries: sum(layout.COUNTER_RETRIES),
      hedges: sum(layout.COUNTER_HEDGES),
      throttles: sum(layout.COUNTER_THROTTLES),
      givenUp: 0,
      bytesFetched: this.#parts!.transport.bytesFetched,
      memoryPeakBytes: Math.max(
        ...this.#cores.map((core) => core.counters[layout.COUNTER_MEMORY_PEAK_BYTES]!),
      ),
      stallNs,
      coreEvents: sum(layout.COUNTER_EVENTS),
      hashes: this.#cores.map((core) => ({ lo: core.u32[HASH_WORD]!, hi: core.u32[HASH_WORD + 1]! })),
    };
  }
}
