/** The `count` largest of the numbers it is given (a binary heap, the least of them on top). */
export class Largest {
  readonly #heap: Float64Array;
  #size = 0;

  constructor(count: number) {
    this.#heap = new Float64Array(count);
  }

  add(value: number): void {
    const heap = this.#heap;
    if (this.#size < heap.length) this.#rise(this.#size++, value);
    else if (heap.length > 0 && value > heap[0]!) this.#sink(value);
  }

  /** Sum of the `count` largest. */
  sum(count: number): number {
    const sorted = this.#heap.slice(0, this.#size).sort();
    return sorted.subarray(Math.max(0, sorted.length - count)).reduce((sum, value) => sum + value, 0);
  }

  #rise(from: number, value: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]! <= value) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = value;
  }

  #sink(value: number): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= value) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = value;
  }
}
