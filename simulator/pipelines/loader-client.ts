import * as layout from '../../assembly/layout.js';
import type { DataSet } from '../dataset.js';
import { codeOf, KIND_CLIENT_COPY_DONE, KIND_RETRY } from '../engine/codes.js';
import type { EventQueue } from '../engine/event-queue.js';
import type { Slots } from '../engine/slots.js';
import type { Machine } from '../machine.js';
import type { NodeSample } from '../observer.js';
import { Stream } from '../random.js';
import type { ReadingPlan } from '../reading-plan.js';
import type { RequestOwner } from '../request-owner.js';
import type { Sides } from '../stations/sides.js';
import type { Trainer } from '../trainer.js';
import type { Transport } from '../transport.js';
import type { Way } from '../way.js';
import { BatchLedger } from './batch-ledger.js';
import type { Client, ClientTotals } from './client.js';
import { LoaderStalls } from './loader-stalls.js';
import { batchesAhead, type LoaderModel, loaderOf, SDK_ATTEMPTS, sdkWaitNs } from './loaders.js';
import { RunDigest } from './run-digest.js';

/** Tag of a slot that carries a whole batch, not a request of a worker. */
const BATCH_TAG = 0x80000000;

/** A library or file-system client in loader workers: synchronous reads, whole batches, no plan across samples. */
export class LoaderClient implements Client, RequestOwner {
  readonly failure = null;
  readonly #machine: Machine;
  readonly #model: LoaderModel;
  readonly #queue: EventQueue;
  readonly #slots: Slots;
  readonly #dataSet: DataSet;
  readonly #plan: ReadingPlan;
  readonly #sides: Sides;
  readonly #stalls: LoaderStalls;
  readonly #ledger: BatchLedger;
  readonly #jitter: Stream[];
  readonly #digest = new RunDigest();
  // By worker: node, then GPU, then number.
  readonly #batch: Uint32Array;
  readonly #sample: Uint32Array; // of the batch
  readonly #object: Float64Array; // whose attributes it has
  readonly #left: Float64Array; // bytes of the sample that no request asks for yet
  readonly #underWay: Uint32Array;
  readonly #isParked: Uint8Array;
  #requests = 0;
  #headRequests = 0;
  #retries = 0;
  #throttles = 0;
  #givenUp = 0;
  #parts: { trainer: Trainer; transport: Transport; way: Way } | null = null;

  constructor(
    machine: Machine,
    queue: EventQueue,
    slots: Slots,
    dataSet: DataSet,
    plan: ReadingPlan,
    sides: Sides,
  ) {
    const { scenario, nodes, gpus, pipeline } = machine;
    if (pipeline.client === 'core') throw new Error(`${pipeline.name} has no loader`);
    this.#machine = machine;
    this.#model = loaderOf(pipeline.client, scenario);
    this.#queue = queue;
    this.#slots = slots;
    this.#dataSet = dataSet;
    this.#plan = plan;
    this.#sides = sides;
    const workers = nodes * gpus * this.#model.workers;
    this.#stalls = new LoaderStalls(nodes * gpus, this.#model.workers);
    const { access } = scenario.training;
    const known = access.kind === 'zipf' ? access.lookahead_batches + 1 : Number.POSITIVE_INFINITY;
    this.#ledger = new BatchLedger(nodes, gpus, batchesAhead(this.#model.workers, known));
    this.#jitter = Array.from(
      { length: nodes },
      (_, node) => new Stream(scenario.seed, 'loader-backoff', node),
    );
    this.#batch = new Uint32Array(workers);
    this.#sample = new Uint32Array(workers);
    this.#object = new Float64Array(workers).fill(-1);
    this.#left = new Float64Array(workers);
    this.#underWay = new Uint32Array(workers);
    this.#isParked = new Uint8Array(workers).fill(1);
    for (let worker = 0; worker < workers; worker++) this.#batch[worker] = worker % this.#model.workers;
  }

  connect(trainer: Trainer, transport: Transport, way: Way): void {
    this.#parts = { trainer, transport, way };
    // What a relay brings to the host belongs to a loader there; whole batches go on to their GPU.
    way.afterHostCopy = (slot) => this.#partIsThere(slot);
  }

  start(): void {}

  settle(): void {}

  stop(): void {
    this.#stalls.stop(this.#queue.nowNs);
  }

  // ---- the trainer --------------------------------------------------------------------------------

  asked(node: number, batch: number): void {
    this.#ledger.asked(node, batch);
    const perNode = this.#machine.gpus * this.#model.workers;
    for (let worker = node * perNode; worker < (node + 1) * perNode; worker++) {
      if (this.#isParked[worker]) this.#beginBatch(worker);
    }
  }

  waiting(node: number, gpu: number): void {
    const at = node * this.#machine.gpus + gpu;
    let batch = this.#ledger.nextBatch(at);
    while (this.#shareOf(at, batch) === 0) batch++;
    this.#stalls.begin(this.#queue.nowNs, at, at * this.#model.workers + (batch % this.#model.workers));
  }

  consumed(node: number, gpu: number, batch: number): void {
    this.#ledger.free(node, node * this.#machine.gpus + gpu, batch);
  }

  // ---- workers ------------------------------------------------------------------------------------

  #shareOf(rank: number, batch: number): number {
    return this.#plan.shareLength(rank, batch % this.#plan.steps);
  }

  #beginBatch(worker: number): void {
    const { workers } = this.#model;
    const rank = Math.floor(worker / workers);
    const last = this.#plan.epochs * this.#plan.steps;
    while (this.#batch[worker]! < last && this.#shareOf(rank, this.#batch[worker]!) === 0) {
      this.#batch[worker]! += workers;
    }
    const node = Math.floor(rank / this.#machine.gpus);
    const mayBegin = this.#batch[worker]! < last && this.#ledger.mayBegin(node, this.#batch[worker]!);
    this.#isParked[worker] = mayBegin ? 0 : 1;
    if (!mayBegin) return;
    this.#sample[worker] = 0;
    this.#beginSample(worker);
  }

  #beginSample(worker: number): void {
    const rank = Math.floor(worker / this.#model.workers);
    const batch = this.#batch[worker]!;
    const step = batch % this.#plan.steps;
    const position = this.#plan.shareStart(rank, step) + this.#sample[worker]!;
    const row = this.#plan.row((batch - step) / this.#plan.steps, position);
    this.#left[worker] = this.#dataSet.bytes(row);
    const object = this.#dataSet.object(row);
    const knows = !this.#model.asksHead || this.#object[worker] === object;
    this.#object[worker] = object;
    if (knows) return this.#askParts(worker);
    this.#headRequests++;
    this.#send(worker, 0);
  }

  /** Asks for the sample's next parts, as many at once as the client does. */
  #askParts(worker: number): void {
    while (this.#left[worker]! > 0 && this.#underWay[worker]! < this.#model.partsAtOnce) {
      const bytes = Math.min(this.#left[worker]!, this.#model.partBytes);
      this.#left[worker]! -= bytes;
      this.#requests++;
      const rank = Math.floor(worker / this.#model.workers);
      this.#ledger.take(Math.floor(rank / this.#machine.gpus), rank, this.#batch[worker]!, bytes);
      this.#send(worker, bytes);
    }
  }

  #send(worker: number, bytes: number): void {
    const rank = Math.floor(worker / this.#model.workers);
    const node = Math.floor(rank / this.#machine.gpus);
    const slot = this.#slots.take(node, rank % this.#machine.gpus, worker, 1, bytes);
    this.#underWay[worker]!++;
    this.#issue(slot);
  }

  #issue(slot: number): void {
    this.#does(slot, layout.STALL_CLIENT_CPU);
    this.#parts!.transport.issue(slot);
  }

  /** The worker of a slot is occupied with something that a GPU may wait for. */
  #does(slot: number, cause: number): void {
    this.#stalls.set(this.#queue.nowNs, this.#slots.tag[slot]!, cause);
  }

  // ---- requests -----------------------------------------------------------------------------------

  sent(slot: number): void {
    this.#does(slot, layout.STALL_STORE);
  }

  held(slot: number): void {
    this.#does(slot, layout.STALL_THROTTLE);
  }

  firstByte(slot: number): void {
    this.#does(slot, layout.STALL_NETWORK);
  }

  bodyCame(slot: number): void {
    this.#does(slot, layout.STALL_CLIENT_CPU);
  }

  received(slot: number): void {
    const slots = this.#slots;
    this.#digest.add(this.#queue.nowNs, slots.tag[slot]!, slots.bytes[slot]!);
    if (slots.bytes[slot] === 0) {
      const worker = slots.tag[slot]!;
      slots.release(slot);
      this.#underWay[worker]!--;
      return this.#askParts(worker);
    }
    const bus = this.#machine.pipeline.side === 'dpu' ? this.#sides.dpuBus : this.#sides.hostBus;
    slots.name(slot);
    bus[slots.node[slot]!]!.copy(slots.bytes[slot]!, codeOf(KIND_CLIENT_COPY_DONE, slot));
  }

  failed(slot: number, failureClass: number): void {
    const slots = this.#slots;
    const isThrottle = failureClass === layout.CLASS_THROTTLED;
    if (isThrottle) this.#throttles++;
    this.#does(slot, isThrottle ? layout.STALL_THROTTLE : layout.STALL_STORE);
    const node = slots.node[slot]!;
    const tries = slots.attempt[slot]!;
    this.#retries++;
    if (slots.bytes[slot]! > 0) this.#requests++;
    else this.#headRequests++;
    // A read that fails for good raises an error in the loader; a training run must end, so it is begun again.
    if (tries % SDK_ATTEMPTS === 0) this.#givenUp++;
    const again = slots.take(node, slots.gpu[slot]!, slots.tag[slot]!, tries + 1, slots.bytes[slot]!);
    const waitNs = sdkWaitNs(tries, this.#jitter[node]!.next());
    slots.name(again);
    this.#queue.push(this.#queue.nowNs + waitNs, codeOf(KIND_RETRY, again));
  }

  happened(kind: number, slot: number): void {
    if (!this.#slots.unname(slot)) return;
    if (kind === KIND_RETRY) return this.#issue(slot);
    if (kind !== KIND_CLIENT_COPY_DONE) throw new Error(`no event of kind ${kind} belongs to a loader`);
    if (this.#machine.pipeline.way !== 'relay') return this.#partIsThere(slot);
    this.#does(slot, layout.STALL_TRANSFER);
    this.#parts!.way.relay(slot);
  }

  #partIsThere(slot: number): void {
    const worker = this.#slots.tag[slot]!;
    this.#slots.release(slot);
    this.#underWay[worker]!--;
    if (this.#left[worker]! > 0) return this.#askParts(worker);
    if (this.#underWay[worker]! > 0) return;
    const rank = Math.floor(worker / this.#model.workers);
    this.#sample[worker]!++;
    if (this.#sample[worker]! < this.#shareOf(rank, this.#batch[worker]!)) return this.#beginSample(worker);
    this.#endBatch(worker, rank);
  }

  // ---- batches ------------------------------------------------------------------------------------

  /** A whole batch goes to its GPU as soon as it is made, while its worker begins the next one. */
  #endBatch(worker: number, rank: number): void {
    const node = Math.floor(rank / this.#machine.gpus);
    const batch = this.#batch[worker]!;
    this.#stalls.set(this.#queue.nowNs, worker, layout.STALL_TRANSFER);
    const bytes = this.#ledger.bytes(rank, batch);
    const slot = this.#slots.take(node, rank % this.#machine.gpus, BATCH_TAG, batch, bytes);
    this.#parts!.way.hostToGpu(slot);
    this.#batch[worker] = batch + this.#model.workers;
    this.#beginBatch(worker);
  }

  landed(slot: number): void {
    const { node, gpu, attempt } = this.#slots;
    const rank = node[slot]! * this.#machine.gpus + gpu[slot]!;
    this.#ledger.landed(rank, attempt[slot]!);
    this.#slots.release(slot);
    for (;;) {
      const batch = this.#ledger.nextBatch(rank);
      const isEmpty = this.#shareOf(rank, batch) === 0;
      if (!isEmpty && !this.#ledger.hasLanded(rank, batch)) return;
      this.#ledger.delivered(rank);
      if (isEmpty) continue;
      this.#stalls.end(this.#queue.nowNs, rank);
      const first = Math.floor(rank / this.#machine.gpus);
      this.#parts!.trainer.delivered(first, rank % this.#machine.gpus, this.#ledger.bytes(rank, batch));
    }
  }

  // ---- what others ask ----------------------------------------------------------------------------

  look(node: number, into: NodeSample): void {
    const perNode = this.#machine.gpus * this.#model.workers;
    let inFlight = 0;
    for (let worker = node * perNode; worker < (node + 1) * perNode; worker++)
      inFlight += this.#underWay[worker]!;
    into.windowBytes = 0;
    into.inFlight = inFlight;
    into.memoryBytes = this.#ledger.usedBytes(node);
    into.concurrencyLimit = perNode * this.#model.partsAtOnce;
  }

  totals(): ClientTotals {
    return {
      requests: this.#requests,
      headRequests: this.#headRequests,
      retries: this.#retries,
      hedges: 0,
      throttles: this.#throttles,
      givenUp: this.#givenUp,
      bytesFetched: this.#parts!.transport.bytesFetched,
      memoryPeakBytes: this.#ledger.peakBytes,
      stallNs: this.#stalls.stallNs,
      coreEvents: 0,
      hashes: [this.#digest.value],
    };
  }
}
