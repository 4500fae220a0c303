import { type EventQueue, grownDoubles, grownWords } from '../engine/event-queue.js';
import type { Cores } from './cores.js';

/**
 * The copies of one side of one node. They share the side's memory bandwidth one after the other, and the one that runs takes
 * a core for `bytes / bandwidth`: so all copies together never move more than the bandwidth, and each costs the same core time
 * whatever runs beside it.
 */
export class MemoryBus {
  /** Bytes copied so far. */
  copiedBytes = 0;
  readonly #queue: EventQueue;
  readonly #cores: Cores;
  readonly #bytesPerNs: number;
  readonly #doneCode: number;
  #bytes = new Float64Array(64);
  #codes = new Uint32Array(64);
  #head = 0;
  #tail = 0;

  /** @param doneCode event that is pushed when a copy ends; who gets it calls `finish` */
  constructor(queue: EventQueue, cores: Cores, bytesPerNs: number, doneCode: number) {
    this.#queue = queue;
    this.#cores = cores;
    this.#bytesPerNs = bytesPerNs;
    this.#doneCode = doneCode;
  }

  /** Copies `bytes`, then `code` is what goes on. */
  copy(bytes: number, code: number): void {
    const capacity = this.#codes.length;
    if (this.#tail - this.#head === capacity) this.#grow();
    const at = this.#tail++ & (this.#codes.length - 1);
    this.#bytes[at] = bytes;
    this.#codes[at] = code;
    if (this.#tail - this.#head === 1) this.#start();
  }

  /** The copy that ran is done: starts the next one; returns the code that goes on. */
  finish(): number {
    const at = this.#head++ & (this.#codes.length - 1);
    this.copiedBytes += this.#bytes[at]!;
    const code = this.#codes[at]!;
    if (this.#head !== this.#tail) this.#start();
    return code;
  }

  #start(): void {
    const bytes = this.#bytes[this.#head & (this.#codes.length - 1)]!;
    const durationNs = Math.round(bytes / this.#bytesPerNs);
    this.#queue.push(this.#cores.submit(this.#queue.nowNs, durationNs), this.#doneCode);
  }

  #grow(): void {
    const old = this.#codes.length;
    const bytes = grownDoubles(this.#bytes, 2 * old);
    const codes = grownWords(this.#codes, 2 * old);
    for (let i = 0; i < old; i++) {
      bytes[i] = this.#bytes[(this.#head + i) & (old - 1)]!;
      codes[i] = this.#codes[(this.#head + i) & (old - 1)]!;
    }
    this.#bytes = bytes;
    this.#codes = codes;
    this.#tail = old;
    this.#head = 0;
  }
}
