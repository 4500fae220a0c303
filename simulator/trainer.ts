import * as layout from '../assembly/layout.js';
import { codeOf, KIND_RESUME, KIND_STEP_END } from './engine/codes.js';
import type { EventQueue } from './engine/event-queue.js';
import type { EpochWork } from './epoch-work.js';
import { HostWork } from './host-work.js';
import type { Machine } from './machine.js';
import type { Observer } from './observer.js';
import type { ReadingPlan } from './reading-plan.js';
import type { Cores } from './stations/cores.js';

/** Who feeds the trainers. */
export interface Feeder {
  /** A GPU's batch was computed: its memory is free. */
  consumed(node: number, gpu: number, batch: number): void;
  /** The node's trainer wants the batch with this number next; comes before `waiting`. */
  asked(node: number, batch: number): void;
  /** A GPU is idle and its next batch is not there. Until `delivered` the feeder charges the wait. */
  waiting(node: number, gpu: number): void;
}

// What a node does.
const WAITS = 0;
const COMPUTES = 1;
const PAUSES = 2;

/**
 * The trainers: all GPUs of a node compute a step together when each has its batch and the host's work on it is done. Batches of a
 * GPU are counted over the whole run: number b is step `b % steps` of epoch `floor(b / steps)`.
 */
export class Trainer {
  readonly stallNs = new Float64Array(layout.STALL_CAUSES);
  /** Compute of all GPUs, ns. */
  busyNs = 0;
  bytesDelivered = 0;
  samples = 0;
  padded = 0;
  /** End of each epoch, by node: node * epochs + epoch. */
  readonly epochEndNs: Float64Array;
  readonly nodeBusyNs: Float64Array;
  readonly #machine: Machine;
  readonly #plan: ReadingPlan;
  readonly #queue: EventQueue;
  readonly #feeder: Feeder;
  readonly #work: EpochWork;
  readonly #observer: Observer | null;
  readonly #hostWork: HostWork | null;
  readonly #lastBatch: number;
  readonly #checkpointEvery: number;
  readonly #checkpointNs: number;
  // By GPU, all nodes: batches that came, whose host work is done, that were computed; when the last of each came.
  readonly #delivered: Uint32Array;
  readonly #ready: Uint32Array;
  readonly #deliveredNs: Float64Array;
  readonly #readyNs: Float64Array;
  // By node.
  readonly #step: Uint32Array;
  readonly #does: Uint8Array; // WAITS, COMPUTES, PAUSES
  readonly #idleSinceNs: Float64Array;
  readonly #stepStartNs: Float64Array;
  readonly #untilNs: Float64Array; // end of the step or the pause
  #nodesLeft: number;

  constructor(
    machine: Machine,
    plan: ReadingPlan,
    queue: EventQueue,
    hostCores: readonly Cores[],
    feeder: Feeder,
    work: EpochWork,
    observer: Observer | null,
  ) {
    this.#machine = machine;
    this.#plan = plan;
    this.#queue = queue;
    this.#feeder = feeder;
    this.#work = work;
    this.#observer = observer;
    const { nodes, gpus } = machine;
    const { checkpoint } = machine.scenario.training;
    this.#checkpointEvery = checkpoint?.every_batches ?? 0;
    this.#checkpointNs = Math.round((checkpoint?.pause_s ?? 0) * 1e9);
    this.#lastBatch = plan.epochs * plan.steps;
    this.epochEndNs = new Float64Array(nodes * plan.epochs);
    this.nodeBusyNs = new Float64Array(nodes);
    this.#delivered = new Uint32Array(nodes * gpus);
    this.#ready = new Uint32Array(nodes * gpus);
    this.#deliveredNs = new Float64Array(nodes * gpus);
    this.#readyNs = new Float64Array(nodes * gpus);
    this.#step = new Uint32Array(nodes);
    this.#does = new Uint8Array(nodes).fill(WAITS);
    this.#idleSinceNs = new Float64Array(nodes);
    this.#stepStartNs = new Float64Array(nodes);
    this.#untilNs = new Float64Array(nodes);
    this.#nodesLeft = nodes;
    this.#hostWork =
      machine.hostWorkNs > 0
        ? new HostWork(machine, queue, hostCores, (node, gpu) => this.#isReady(node, gpu))
        : null;
  }

  get isOver(): boolean {
    return this.#nodesLeft === 0;
  }

  /** When the node's last step ended; where the run ended before it, now. */
  endNs(node: number): number {
    return this.#isDone(node) ? this.epochEndNs[(node + 1) * this.#plan.epochs - 1]! : this.#queue.nowNs;
  }

  #isDone(node: number): boolean {
    return this.#step[node] === this.#lastBatch;
  }

  /** Compute of a node's GPUs up to now, ns. */
  busyAt(node: number): number {
    if (this.#does[node] !== COMPUTES) return this.nodeBusyNs[node]!;
    let leftNs = 0;
    for (let gpu = 0; gpu < this.#machine.gpus; gpu++) leftNs += this.#leftNs(node, gpu);
    return this.nodeBusyNs[node]! - leftNs;
  }

  /** Compute of the step under way that a GPU has still before it. */
  #leftNs(node: number, gpu: number): number {
    return Math.max(0, this.#stepStartNs[node]! + this.#computeNs(node, gpu) - this.#queue.nowNs);
  }

  start(): void {
    for (let node = 0; node < this.#machine.nodes; node++) this.#askNext(node);
  }

  /** The run ends here, before its last batch: takes back what was charged ahead, and charges what is still open. */
  stop(): void {
    const { nodes, gpus } = this.#machine;
    const { nowNs } = this.#queue;
    for (let node = 0; node < nodes; node++) {
      if (this.#isDone(node)) continue;
      const aheadNs = this.#untilNs[node]! - nowNs;
      if (this.#does[node] === PAUSES) this.stallNs[layout.STALL_HOST_WORK]! -= aheadNs * gpus;
      for (let gpu = 0; gpu < gpus; gpu++) {
        if (this.#does[node] === WAITS) this.#chargeIdle(node, gpu, nowNs);
        if (this.#does[node] !== COMPUTES) continue;
        const leftNs = this.#leftNs(node, gpu);
        this.busyNs -= leftNs;
        this.nodeBusyNs[node]! -= leftNs;
        this.stallNs[layout.STALL_BARRIER]! -= aheadNs - leftNs;
      }
    }
  }

  /** A GPU's next batch came. */
  delivered(node: number, gpu: number, bytes: number): void {
    const at = node * this.#machine.gpus + gpu;
    const batch = this.#skipEmpty(node, gpu, this.#delivered[at]!);
    const step = batch % this.#plan.steps;
    const epoch = (batch - step) / this.#plan.steps;
    const samples = this.#plan.shareLength(at, step);
    const pads = this.#plan.pads(at, step);
    this.#delivered[at] = batch + 1;
    this.samples += samples - pads;
    this.padded += pads;
    this.bytesDelivered += bytes;
    this.#work.delivered(at, batch, bytes);
    const idle = batch === this.#step[node] && this.#does[node] === WAITS;
    if (idle) this.#deliveredNs[at] = this.#queue.nowNs;
    if (this.#observer?.delivered) {
      const waitedNs = idle ? this.#queue.nowNs - this.#idleSinceNs[node]! : 0;
      this.#observer.delivered(node, gpu, epoch, step, this.#queue.nowNs, waitedNs);
    }
    if (this.#hostWork) this.#hostWork.add(node, gpu, samples);
    else this.#isReady(node, gpu);
  }

  happened(kind: number, node: number): void {
    if (kind === KIND_STEP_END) return this.#stepEnds(node);
    if (kind === KIND_RESUME) return this.#resume(node);
    this.#hostWork!.sampleDone(node);
  }

  /** A share without samples has no batch: it counts as come and ready. */
  #skipEmpty(node: number, gpu: number, batch: number): number {
    const rank = node * this.#machine.gpus + gpu;
    let next = batch;
    while (next < this.#lastBatch && this.#plan.shareLength(rank, next % this.#plan.steps) === 0) next++;
    return next;
  }

  #isReady(node: number, gpu: number): void {
    const at = node * this.#machine.gpus + gpu;
    const batch = this.#skipEmpty(node, gpu, this.#ready[at]!);
    this.#ready[at] = batch + 1;
    if (batch === this.#step[node] && this.#does[node] === WAITS) {
      this.#readyNs[at] = this.#queue.nowNs;
      this.#tryStep(node);
    }
  }

  #hasShare(node: number, gpu: number): boolean {
    return this.#plan.shareLength(node * this.#machine.gpus + gpu, this.#step[node]! % this.#plan.steps) > 0;
  }

  #tryStep(node: number): void {
    if (this.#does[node] !== WAITS) return;
    const { gpus } = this.#machine;
    const step = this.#step[node]!;
    for (let gpu = 0; gpu < gpus; gpu++) {
      if (this.#ready[node * gpus + gpu]! <= step && this.#hasShare(node, gpu)) return;
    }
    const nowNs = this.#queue.nowNs;
    let longestNs = 0;
    for (let gpu = 0; gpu < gpus; gpu++) {
      this.#chargeIdle(node, gpu, nowNs);
      longestNs = Math.max(longestNs, this.#computeNs(node, gpu));
    }
    for (let gpu = 0; gpu < gpus; gpu++) this.#busy(node, gpu, longestNs);
    this.#does[node] = COMPUTES;
    this.#stepStartNs[node] = nowNs;
    this.#untilNs[node] = nowNs + longestNs;
    this.#queue.push(nowNs + longestNs, codeOf(KIND_STEP_END, node));
  }

  #computeNs(node: number, gpu: number): number {
    const rank = node * this.#machine.gpus + gpu;
    const samples = this.#plan.shareLength(rank, this.#step[node]! % this.#plan.steps);
    return Math.round((samples * 1e9) / this.#machine.scenario.training.gpu_samples_per_s);
  }

  /** A GPU with less to compute than the others waits for them at the end of the step. */
  #busy(node: number, gpu: number, longestNs: number): void {
    const computeNs = this.#computeNs(node, gpu);
    this.busyNs += computeNs;
    this.nodeBusyNs[node]! += computeNs;
    this.stallNs[layout.STALL_BARRIER]! += longestNs - computeNs;
  }

  /** From the moment when the batch was there, which the feeder charges up to: the host's work on it, then the other GPUs. */
  #chargeIdle(node: number, gpu: number, endNs: number): void {
    const at = node * this.#machine.gpus + gpu;
    const step = this.#step[node]!;
    const sinceNs = this.#idleSinceNs[node]!;
    if (!this.#hasShare(node, gpu)) {
      this.stallNs[layout.STALL_BARRIER]! += endNs - sinceNs;
      return;
    }
    if (this.#delivered[at]! <= step) return;
    const deliveredNs = Math.max(sinceNs, this.#deliveredNs[at]!);
    const readyNs = this.#ready[at]! > step ? Math.max(sinceNs, this.#readyNs[at]!) : endNs;
    this.stallNs[layout.STALL_HOST_WORK]! += readyNs - deliveredNs;
    this.stallNs[layout.STALL_BARRIER]! += endNs - readyNs;
  }

  #stepEnds(node: number): void {
    const { gpus } = this.#machine;
    const nowNs = this.#queue.nowNs;
    const batch = this.#step[node]!;
    const step = batch % this.#plan.steps;
    this.#does[node] = WAITS;
    this.#idleSinceNs[node] = nowNs;
    if (this.#observer?.step) this.#tellStep(node, batch);
    for (let gpu = 0; gpu < gpus; gpu++)
      if (this.#hasShare(node, gpu)) this.#feeder.consumed(node, gpu, batch);
    this.#step[node] = batch + 1;
    this.#work.computed(node, batch);
    if (step === this.#plan.steps - 1) {
      this.epochEndNs[node * this.#plan.epochs + (batch - step) / this.#plan.steps] = nowNs;
    }
    if (batch + 1 === this.#lastBatch) {
      this.#nodesLeft--;
      return;
    }
    if (this.#checkpointEvery > 0 && (batch + 1) % this.#checkpointEvery === 0) {
      // A pause is idle time of the trainer's own making.
      this.stallNs[layout.STALL_HOST_WORK]! += this.#checkpointNs * gpus;
      this.#does[node] = PAUSES;
      this.#untilNs[node] = nowNs + this.#checkpointNs;
      this.#queue.push(nowNs + this.#checkpointNs, codeOf(KIND_RESUME, node));
      return;
    }
    this.#askNext(node);
  }

  #resume(node: number): void {
    this.#does[node] = WAITS;
    this.#idleSinceNs[node] = this.#queue.nowNs;
    this.#askNext(node);
  }

  #askNext(node: number): void {
    const { gpus } = this.#machine;
    const step = this.#step[node]!;
    const nowNs = this.#queue.nowNs;
    this.#feeder.asked(node, step);
    for (let gpu = 0; gpu < gpus; gpu++) {
      const at = node * gpus + gpu;
      if (!this.#hasShare(node, gpu)) continue;
      // Charges begin now where the batch, or the work on it, is there already.
      if (this.#delivered[at]! > step) this.#deliveredNs[at] = nowNs;
      else this.#feeder.waiting(node, gpu);
      if (this.#ready[at]! > step) this.#readyNs[at] = nowNs;
    }
    this.#tryStep(node);
  }

  #tellStep(node: number, batch: number): void {
    const step = batch % this.#plan.steps;
    const epoch = (batch - step) / this.#plan.steps;
    this.#observer!.step!(node, epoch, step, this.#stepStartNs[node]!, this.#queue.nowNs);
  }
}
