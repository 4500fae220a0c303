import { codeOf, KIND_HOST_WORK } from './engine/codes.js';
import { type EventQueue, grownWords } from './engine/event-queue.js';
import type { Machine } from './machine.js';
import type { Cores } from './stations/cores.js';

/**
 * The host's own work on each sample before its batch can be used: as many threads as the host has cores take one sample after
 * the other, of batches in the order in which they came, and share the cores with whatever else runs there.
 */
export class HostWork {
  readonly #queue: EventQueue;
  readonly #cores: readonly Cores[];
  readonly #workNs: number;
  readonly #done: (node: number, gpu: number) => void;
  readonly #nodes: NodeWork[];

  /** @param done told when the last sample of a batch is worked on */
  constructor(
    machine: Machine,
    queue: EventQueue,
    cores: readonly Cores[],
    done: (node: number, gpu: number) => void,
  ) {
    this.#queue = queue;
    this.#cores = cores;
    this.#workNs = machine.hostWorkNs;
    this.#done = done;
    this.#nodes = cores.map(() => new NodeWork());
  }

  /** A batch of `samples` came. */
  add(node: number, gpu: number, samples: number): void {
    const work = this.#nodes[node]!;
    work.push(gpu, samples);
    const threads = this.#cores[node]!.count;
    while (work.running < threads && work.unstarted > 0) this.#startOne(node, work);
  }

  /**
   * One sample is done. Samples start in order and each takes as long as any other, so they end in order too: the one that
   * ends is of the oldest batch.
   */
  sampleDone(node: number): void {
    const work = this.#nodes[node]!;
    work.running--;
    if (work.unstarted > 0) this.#startOne(node, work);
    const gpu = work.finishOne();
    if (gpu >= 0) this.#done(node, gpu);
  }

  #startOne(node: number, work: NodeWork): void {
    work.unstarted--;
    work.running++;
    const endNs = this.#cores[node]!.submit(this.#queue.nowNs, this.#workNs);
    this.#queue.pushOrdered(endNs, codeOf(KIND_HOST_WORK, node));
  }
}

/** Batches of one node in the order in which they came: a ring of (gpu, samples not done). */
class NodeWork {
  running = 0;
  unstarted = 0;
  #gpus = new Uint32Array(16);
  #left = new Uint32Array(16);
  #head = 0;
  #tail = 0;

  push(gpu: number, samples: number): void {
    if (this.#tail - this.#head === this.#gpus.length) this.#grow();
    const at = this.#tail++ & (this.#gpus.length - 1);
    this.#gpus[at] = gpu;
    this.#left[at] = samples;
    this.unstarted += samples;
  }

  /** Returns the GPU whose batch that completes, or -1. */
  finishOne(): number {
    const at = this.#head & (this.#gpus.length - 1);
    this.#left[at]!--;
    if (this.#left[at]! > 0) return -1;
    this.#head++;
    return this.#gpus[at]!;
  }

  #grow(): void {
    const old = this.#gpus.length;
    const gpus = grownWords(this.#gpus, 2 * old);
    const left = grownWords(this.#left, 2 * old);
    for (let i = 0; i < old; i++) {
      gpus[i] = this.#gpus[(this.#head + i) & (old - 1)]!;
      left[i] = this.#left[(this.#head + i) & (old - 1)]!;
    }
    this.#gpus = gpus;
    this.#left = left;
    this.#tail = old;
    this.#head = 0;
  }
}
