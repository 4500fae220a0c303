import type { Core } from '../../runtime-node/core.js';
import type { DataSet } from '../dataset.js';
import { grownDoubles, grownWords } from '../engine/event-queue.js';

/** Samples whose places the core asked for, answered before its next step: a manifest in virtual time is instant. */
export class PlaceQueue {
  readonly #dataSet: DataSet;
  #slots = new Uint32Array(4096);
  #rows = new Float64Array(4096);
  #head = 0;
  #tail = 0;

  constructor(dataSet: DataSet) {
    this.#dataSet = dataSet;
  }

  get areWaiting(): boolean {
    return this.#head !== this.#tail;
  }

  ask(slot: number, row: number): void {
    if (this.#tail === this.#slots.length) {
      this.#slots = grownWords(this.#slots, 2 * this.#tail);
      this.#rows = grownDoubles(this.#rows, 2 * this.#tail);
    }
    this.#slots[this.#tail] = slot;
    this.#rows[this.#tail++] = row;
  }

  /** Writes as many answers as the ring has room for. */
  answer(core: Core, nowNs: number): void {
    if (this.#head === this.#tail) return;
    const dataSet = this.#dataSet;
    const { events } = core;
    let { free } = events;
    for (; this.#head !== this.#tail && free > 0; free--) {
      const row = this.#rows[this.#head]!;
      // Object handles are 32 bits wide, and only their equality counts.
      const object = dataSet.object(row) >>> 0;
      events.resolved(nowNs, this.#slots[this.#head]!, object, dataSet.offset(row), dataSet.bytes(row));
      this.#head++;
    }
    if (this.#head === this.#tail) this.#head = this.#tail = 0;
  }
}
