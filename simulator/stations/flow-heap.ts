import { grownDoubles, grownWords } from '../engine/event-queue.js';

/** Bodies of one node by the service at which each will be whole: a binary heap over typed arrays. */
export class FlowHeap {
  #ends = new Float64Array(64);
  #slots = new Uint32Array(64);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get firstEnd(): number {
    return this.#ends[0]!;
  }

  push(end: number, slot: number): void {
    let at = this.#size++;
    if (at === this.#ends.length) {
      this.#ends = grownDoubles(this.#ends, 2 * at);
      this.#slots = grownWords(this.#slots, 2 * at);
    }
    const ends = this.#ends;
    const slots = this.#slots;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      // Equal ends are told apart by the slot: the order never hangs on how the heap was built.
      if (ends[parent]! < end || (ends[parent]! === end && slots[parent]! <= slot)) break;
      ends[at] = ends[parent]!;
      slots[at] = slots[parent]!;
      at = parent;
    }
    ends[at] = end;
    slots[at] = slot;
  }

  pop(): number {
    const ends = this.#ends;
    const slots = this.#slots;
    const first = slots[0]!;
    const size = --this.#size;
    const end = ends[size]!;
    const slot = slots[size]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && before(ends, slots, child + 1, child)) child++;
      if (ends[child]! > end || (ends[child]! === end && slots[child]! >= slot)) break;
      ends[at] = ends[child]!;
      slots[at] = slots[child]!;
      at = child;
    }
    ends[at] = end;
    slots[at] = slot;
    return first;
  }
}

function before(ends: Float64Array, slots: Uint32Array, a: number, b: number): boolean {
  return ends[a]! < ends[b]! || (ends[a]! === ends[b]! && slots[a]! < slots[b]!);
}
