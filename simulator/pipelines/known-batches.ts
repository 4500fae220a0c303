import * as layout from '../../assembly/layout.js';
import type { EventRing } from '../../runtime-node/core.js';
import type { ReadingPlan } from '../reading-plan.js';

/**
 * An order that the core is told as it becomes known: batch b when the trainer asks for batch b - look-ahead. For the core such an
 * order has no epochs, so it numbers each consumer's batches as they come.
 */
export class KnownBatches {
  readonly #plan: ReadingPlan;
  readonly #gpus: number;
  readonly #lookahead: number;
  readonly #events: (node: number) => EventRing;
  readonly #nowNs: () => number;
  readonly #known: Uint32Array; // batches, by node
  readonly #consumed: Uint32Array; // batches, by node and GPU

  /** @param events a node's ring with room for one event */
  constructor(
    plan: ReadingPlan,
    nodes: number,
    gpus: number,
    lookahead: number,
    events: (node: number) => EventRing,
    nowNs: () => number,
  ) {
    this.#plan = plan;
    this.#gpus = gpus;
    this.#lookahead = lookahead;
    this.#events = events;
    this.#nowNs = nowNs;
    this.#known = new Uint32Array(nodes);
    this.#consumed = new Uint32Array(nodes * gpus);
  }

  asked(node: number, batch: number): void {
    const last = this.#plan.epochs * this.#plan.steps;
    while (this.#known[node]! < last && this.#known[node]! <= batch + this.#lookahead) {
      for (let gpu = 0; gpu < this.#gpus; gpu++) this.#tell(node, gpu, this.#known[node]!);
      if (++this.#known[node]! < last) continue;
      for (let gpu = 0; gpu < this.#gpus; gpu++) {
        this.#events(node).requested(this.#nowNs(), gpu, layout.REQUESTED_ENDS, 0);
      }
    }
  }

  /** The core's number of the batch that a GPU consumes now. */
  consumed(node: number, gpu: number): number {
    return this.#consumed[node * this.#gpus + gpu]!++;
  }

  #tell(node: number, gpu: number, batch: number): void {
    const rank = node * this.#gpus + gpu;
    const step = batch % this.#plan.steps;
    const epoch = (batch - step) / this.#plan.steps;
    const start = this.#plan.shareStart(rank, step);
    const samples = this.#plan.shareLength(rank, step);
    for (let i = 0; i < samples; i++) {
      const flags = i === samples - 1 ? layout.REQUESTED_CLOSES_BATCH : 0;
      this.#events(node).requested(this.#nowNs(), gpu, flags, this.#plan.row(epoch, start + i));
    }
  }
}
