const FIRST_CAPACITY = 1024;

/**
 * What happens when, in virtual time: codes by (time, order of pushing). A 4-ary heap over typed arrays, and beside it a lane
 * for events that come in order already: a ring, so that they cost no sifting.
 */
export class EventQueue {
  /** Whole nanoseconds since the start of the run. */
  nowNs = 0;
  #times = new Float64Array(FIRST_CAPACITY);
  #sequences = new Float64Array(FIRST_CAPACITY);
  #codes = new Uint32Array(FIRST_CAPACITY);
  #size = 0;
  #sequence = 0;
  #laneTimes = new Float64Array(FIRST_CAPACITY);
  #laneSequences = new Float64Array(FIRST_CAPACITY);
  #laneCodes = new Uint32Array(FIRST_CAPACITY);
  #laneHead = 0;
  #laneTail = 0;
  #laneLastNs = 0;

  /** Events that wait. */
  get length(): number {
    return this.#size + (this.#laneTail - this.#laneHead);
  }

  /** Events pushed so far. */
  get pushed(): number {
    return this.#sequence;
  }

  /** When the next event happens; Infinity: none waits. */
  get nextNs(): number {
    const heapNs = this.#size > 0 ? this.#times[0]! : Number.POSITIVE_INFINITY;
    if (this.#laneHead === this.#laneTail) return heapNs;
    const laneNs = this.#laneTimes[this.#laneHead & (this.#laneTimes.length - 1)]!;
    return Math.min(laneNs, heapNs);
  }

  /** At `atNs`, whole and not before now. */
  push(atNs: number, code: number): void {
    const sequence = this.#sequence++;
    let at = this.#size++;
    if (at === this.#times.length) this.#grow();
    const times = this.#times;
    const sequences = this.#sequences;
    const codes = this.#codes;
    while (at > 0) {
      const parent = (at - 1) >> 2;
      // A later push never goes before an equal time, so sequences need no look.
      if (times[parent]! <= atNs) break;
      times[at] = times[parent]!;
      sequences[at] = sequences[parent]!;
      codes[at] = codes[parent]!;
      at = parent;
    }
    times[at] = atNs;
    sequences[at] = sequence;
    codes[at] = code;
  }

  /** As `push`, for events of stations that end in the order in which they begin. */
  pushOrdered(atNs: number, code: number): void {
    if (this.#laneHead !== this.#laneTail && atNs < this.#laneLastNs) return this.push(atNs, code);
    if (this.#laneTail - this.#laneHead === this.#laneTimes.length) this.#growLane();
    const at = this.#laneTail++ & (this.#laneTimes.length - 1);
    this.#laneTimes[at] = atNs;
    this.#laneSequences[at] = this.#sequence++;
    this.#laneCodes[at] = code;
    this.#laneLastNs = atNs;
  }

  /** Takes the next event and moves `nowNs` to it; -1: none waits. */
  next(): number {
    if (this.#laneHead !== this.#laneTail) {
      const at = this.#laneHead & (this.#laneTimes.length - 1);
      const laneNs = this.#laneTimes[at]!;
      if (
        this.#size === 0 ||
        laneNs < this.#times[0]! ||
        (laneNs === this.#times[0]! && this.#laneSequences[at]! < this.#sequences[0]!)
      ) {
        this.#laneHead++;
        this.nowNs = laneNs;
        return this.#laneCodes[at]!;
      }
    }
    if (this.#size === 0) return -1;
    this.nowNs = this.#times[0]!;
    const code = this.#codes[0]!;
    this.#removeFirst();
    return code;
  }

  #removeFirst(): void {
    const size = --this.#size;
    if (size === 0) return;
    const times = this.#times;
    const sequences = this.#sequences;
    const codes = this.#codes;
    const time = times[size]!;
    const sequence = sequences[size]!;
    let at = 0;
    for (;;) {
      const first = 4 * at + 1;
      if (first >= size) break;
      const last = Math.min(first + 4, size);
      let least = first;
      let leastTime = times[first]!;
      for (let child = first + 1; child < last; child++) {
        const childTime = times[child]!;
        if (childTime < leastTime || (childTime === leastTime && sequences[child]! < sequences[least]!)) {
          least = child;
          leastTime = childTime;
        }
      }
      if (leastTime > time || (leastTime === time && sequences[least]! > sequence)) break;
      times[at] = leastTime;
      sequences[at] = sequences[least]!;
      codes[at] = codes[least]!;
      at = least;
    }
    times[at] = time;
    sequences[at] = sequence;
    codes[at] = codes[size]!;
  }

  #grow(): void {
    const capacity = 2 * this.#times.length;
    this.#times = grownDoubles(this.#times, capacity);
    this.#sequences = grownDoubles(this.#sequences, capacity);
    this.#codes = grownWords(this.#codes, capacity);
  }

  #growLane(): void {
    const old = this.#laneTimes.length;
    const shift = this.#laneHead & (old - 1);
    const rotate = <T extends Float64Array | Uint32Array>(into: T, from: T): T => {
      into.set(from.subarray(shift), 0);
      into.set(from.subarray(0, shift), old - shift);
      return into;
    };
    this.#laneTimes = rotate(new Float64Array(2 * old), this.#laneTimes);
    this.#laneSequences = rotate(new Float64Array(2 * old), this.#laneSequences);
    this.#laneCodes = rotate(new Uint32Array(2 * old), this.#laneCodes);
    this.#laneTail -= this.#laneHead;
    this.#laneHead = 0;
  }
}

/** A longer copy. */
export function grownDoubles(array: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const grown = new Float64Array(capacity);
  grown.set(array);
  return grown;
}

/** A longer copy. */
export function grownWords(array: Uint32Array, capacity: number): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(capacity);
  grown.set(array);
  return grown;
}
