import { compareRecords, recordBytes } from './row-record.js';

/** Records that come one after the other, in order. */
export interface RecordRun {
  /** Where the record of now lies. */
  readonly buffer: Buffer;
  readonly at: number;
  /** Goes to the next record; false where there is none. The first call goes to the first. */
  next(): boolean;
}

/** Merges sorted runs: of the records of now, the least is always on top (a binary heap). */
export class RecordHeap {
  private readonly runs: RecordRun[] = [];

  constructor(runs: readonly RecordRun[]) {
    for (const run of runs) if (run.next()) this.runs.push(run);
    for (let i = (this.runs.length >> 1) - 1; i >= 0; i--) this.sink(i);
  }

  /** The run that holds the least record; undefined where all are at their end. */
  get top(): RecordRun | undefined {
    return this.runs[0];
  }

  /** Steps over the least record. */
  advance(): void {
    const { runs } = this;
    const [top, last] = [runs[0], runs.at(-1)];
    if (top === undefined || last === undefined) return;
    if (!top.next()) {
      runs[0] = last;
      runs.pop();
    }
    this.sink(0);
  }

  private sink(from: number): void {
    const { runs } = this;
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= runs.length) return;
      const right = left + 1;
      const least = right < runs.length && isBefore(runs[right]!, runs[left]!) ? right : left;
      if (!isBefore(runs[least]!, runs[at]!)) return;
      [runs[at], runs[least]] = [runs[least]!, runs[at]!];
      at = least;
    }
  }
}

function isBefore(a: RecordRun, b: RecordRun): boolean {
  return compareRecords(a.buffer, a.at, b.buffer, b.at) < 0;
}

/** Records in a buffer, at the places given. */
export class PlacedRun implements RecordRun {
  private index = -1;

  constructor(
    private readonly blocks: readonly Buffer[],
    private readonly places: Float64Array,
    private readonly blockSpan: number,
  ) {}

  get buffer(): Buffer {
    return this.blocks[Math.floor(this.place / this.blockSpan)] as Buffer;
  }

  get at(): number {
    return this.place % this.blockSpan;
  }

  get length(): number {
    return recordBytes(this.buffer, this.at);
  }

  next(): boolean {
    return ++this.index < this.places.length;
  }

  private get place(): number {
    return this.places[this.index] as number;
  }
}
