import type { ReadingPlan } from './reading-plan.js';

/** How much of an epoch a GPU can hold before the epoch begins. */
export interface Reach {
  /** Batches that may be begun, the one that the trainer asks for included. */
  readonly batches: number;
  /** Memory of one GPU: batches get theirs in order, each as a whole. */
  readonly bytes: number;
}

/** What must be done after an epoch began: what no memory can have held by then. */
export interface LateEpoch {
  /** All nodes together. */
  bytes: number;
  samples: number;
  /** The node that ended the epoch before last: all its steps are still to come. */
  node: number;
  nodeBytes: number;
  nodeSamples: number;
  /** Of the last step of that node. */
  tailBytes: number;
}

/** Keeps book of what each epoch of a run had to do, as the bound needs it. */
export class EpochWork {
  // Of the first epoch, by node.
  readonly bytes: Float64Array;
  readonly firstStepBytes: Float64Array;
  readonly tailBytes: Float64Array;
  /** Of the epochs after the first, as far as they have begun; a run of one epoch has none. */
  readonly late: LateEpoch[] = [];
  readonly #plan: ReadingPlan;
  readonly #reach: Reach;
  readonly #gpus: number;
  readonly #computed: Uint32Array; // batches, by node
  readonly #nodesLeft: Uint32Array; // by epoch
  // By GPU of all nodes.
  readonly #delivered: Uint32Array; // the batch after the last that came
  readonly #firstFresh: Float64Array; // batches from here on cannot have been held
  readonly #heldBytes: Float64Array; // that may have been held of the epoch that runs
  /** Bytes of batches that came and were not computed: a ring for each GPU. */
  #waiting: Float64Array;
  #room = 8;

  constructor(plan: ReadingPlan, nodes: number, gpus: number, reach: Reach) {
    this.#plan = plan;
    this.#reach = reach;
    this.#gpus = gpus;
    this.bytes = new Float64Array(nodes);
    this.firstStepBytes = new Float64Array(nodes);
    this.tailBytes = new Float64Array(nodes);
    this.#computed = new Uint32Array(nodes);
    this.#nodesLeft = new Uint32Array(plan.epochs).fill(nodes);
    const ranks = nodes * gpus;
    this.#delivered = new Uint32Array(ranks);
    this.#firstFresh = new Float64Array(ranks);
    this.#heldBytes = new Float64Array(ranks);
    this.#waiting = new Float64Array(ranks * this.#room);
  }

  /** A GPU's batch came, the next one of its rank that holds anything. */
  delivered(rank: number, batch: number, bytes: number): void {
    const node = Math.floor(rank / this.#gpus);
    const { steps, epochs } = this.#plan;
    if (batch === 0) this.firstStepBytes[node]! += bytes;
    if (batch < steps) this.bytes[node]! += bytes;
    if (batch === steps - 1) this.tailBytes[node]! += bytes;
    if (epochs === 1) return;
    if (batch - this.#computed[node]! >= this.#room) this.#grow(batch - this.#computed[node]! + 1);
    this.#waiting[rank * this.#room + (batch % this.#room)] = bytes;
    this.#delivered[rank] = batch + 1;
    const running = this.late.length;
    if (running > 0 && Math.floor(batch / steps) === running) this.#count(rank, batch, bytes);
  }

  /** A node computed a batch on all its GPUs. */
  computed(node: number, batch: number): void {
    const { steps, epochs } = this.#plan;
    this.#computed[node] = batch + 1;
    if ((batch + 1) % steps !== 0) return;
    const next = (batch + 1) / steps;
    if (--this.#nodesLeft[next - 1]! === 0 && next < epochs) this.#begin(next, node);
  }

  /** The last node goes on to an epoch; others may be in it already. */
  #begin(epoch: number, last: number): void {
    this.late.push({ bytes: 0, samples: 0, node: last, nodeBytes: 0, nodeSamples: 0, tailBytes: 0 });
    const end = (epoch + 1) * this.#plan.steps;
    for (let rank = 0; rank < this.#delivered.length; rank++) {
      const node = Math.floor(rank / this.#gpus);
      const done = this.#computed[node]!;
      // The last node has not asked for its next batch yet.
      this.#firstFresh[rank] = done + this.#reach.batches - (node === last ? 1 : 0);
      this.#heldBytes[rank] = 0;
      for (let batch = done; batch < Math.min(end, this.#delivered[rank]!); batch++) {
        if (this.#plan.shareLength(rank, batch % this.#plan.steps) === 0) continue;
        this.#count(rank, batch, this.#waiting[rank * this.#room + (batch % this.#room)]!);
      }
    }
  }

  /** A batch of the epoch that runs: memory may have held it when the epoch began, or the work is late. */
  #count(rank: number, batch: number, bytes: number): void {
    if (batch < this.#firstFresh[rank]!) {
      this.#heldBytes[rank]! += bytes;
      if (this.#heldBytes[rank]! <= this.#reach.bytes) return;
      this.#firstFresh[rank] = batch;
    }
    const late = this.late[this.late.length - 1]!;
    const step = batch % this.#plan.steps;
    const samples = this.#plan.shareLength(rank, step);
    late.bytes += bytes;
    late.samples += samples;
    if (Math.floor(rank / this.#gpus) !== late.node) return;
    late.nodeBytes += bytes;
    late.nodeSamples += samples;
    if (step === this.#plan.steps - 1) late.tailBytes += bytes;
  }

  #grow(least: number): void {
    const before = this.#room;
    while (this.#room < least) this.#room *= 2;
    const old = this.#waiting;
    this.#waiting = new Float64Array(this.#delivered.length * this.#room);
    for (let rank = 0; rank < this.#delivered.length; rank++) {
      const from = this.#computed[Math.floor(rank / this.#gpus)]!;
      for (let batch = from; batch < this.#delivered[rank]!; batch++) {
        this.#waiting[rank * this.#room + (batch % this.#room)] = old[rank * before + (batch % before)]!;
      }
    }
  }
}
