import type { SampleRow } from '../formats/format.js';
import { PlacedRun, RecordHeap } from './record-heap.js';
import type { OptionalColumn } from './row-batch.js';
import {
  compareRecords,
  decodeRow,
  flaggedColumns,
  RowEncoder,
  recordBytes,
  recordFlags,
} from './row-record.js';
import { SpillFile } from './spill-file.js';

const BLOCK_BYTES = 4 * 1024 * 1024;
/** A place is the block's number times this, plus the offset in it. */
const BLOCK_SPAN = 2 ** 32;

/** What is held in memory before rows go to disk. */
export interface SpillLimits {
  rows: number;
  bytes: number;
}

export const SPILL_LIMITS: SpillLimits = { rows: 1_000_000, bytes: 256 * 1024 * 1024 };

/**
 * Puts rows in the order of a manifest. Rows are held as bytes, a few more than their key; beyond the limits they go to a
 * temporary file in sorted runs, which are merged in the end.
 */
export class RowSorter {
  rows = 0;
  private readonly encoder = new RowEncoder();
  private flags = 0;
  private readonly blocks: Buffer[] = [];
  private block = -1;
  private blockUsed = BLOCK_BYTES;
  private bytes = 0;
  private places = new Float64Array(1024);
  private held = 0;
  private spill: SpillFile | null = null;

  /**
   * @param beside the file in whose folder rows may be kept; null: all are held in memory
   */
  constructor(
    private readonly beside: string | null,
    private readonly limits: SpillLimits = SPILL_LIMITS,
  ) {}

  /** The optional columns in which any row has a value. */
  get optional(): OptionalColumn[] {
    return flaggedColumns(this.flags);
  }

  /** @throws Os2gError `write_failed` */
  add(row: SampleRow): void {
    this.addRecord(this.encoder.encode(row), 0);
  }

  /** Adds the record that begins at `at`. @throws Os2gError `write_failed` */
  addRecord(buffer: Buffer, at: number): void {
    const length = recordBytes(buffer, at);
    if (this.held >= this.limits.rows || (this.held > 0 && this.bytes + length > this.limits.bytes))
      this.flush();
    const block = this.room(length);
    buffer.copy(block, this.blockUsed, at, at + length);
    if (this.held === this.places.length) {
      const grown = new Float64Array(this.places.length * 2);
      grown.set(this.places);
      this.places = grown;
    }
    this.places[this.held++] = this.block * BLOCK_SPAN + this.blockUsed;
    this.blockUsed += length;
    this.bytes += length;
    this.rows++;
    this.flags |= recordFlags(buffer, at);
  }

  /** All rows in order; may be asked for once, and no row is added after. */
  *sorted(): Generator<SampleRow> {
    const runs = [...(this.spill?.read() ?? []), this.sortHeld()];
    const heap = new RecordHeap(runs);
    for (let top = heap.top; top !== undefined; top = heap.top) {
      yield decodeRow(top.buffer, top.at);
      heap.advance();
    }
  }

  close(): void {
    this.spill?.close();
    this.spill = null;
    this.blocks.length = 0;
  }

  private flush(): void {
    if (this.beside === null) return;
    this.spill ??= new SpillFile(this.beside);
    this.spill.add(this.sortHeld());
    this.held = 0;
    this.bytes = 0;
    this.block = -1;
    this.blockUsed = BLOCK_BYTES;
  }

  /** A block with room for `length` bytes at `blockUsed`; blocks of earlier runs are used again. */
  private room(length: number): Buffer {
    const now = this.blocks[this.block];
    if (now !== undefined && this.blockUsed + length <= now.length) return now;
    this.block++;
    this.blockUsed = 0;
    let block = this.blocks[this.block];
    if (block === undefined || block.length < length) {
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, length));
      this.blocks[this.block] = block;
    }
    return block;
  }

  private sortHeld(): PlacedRun {
    const places = this.places.subarray(0, this.held);
    const compare = (a: number, b: number): number =>
      compareRecords(this.blockOf(a), a % BLOCK_SPAN, this.blockOf(b), b % BLOCK_SPAN);
    if (!isSorted(places, compare)) places.sort(compare);
    return new PlacedRun(this.blocks, places, BLOCK_SPAN);
  }

  private blockOf(place: number): Buffer {
    return this.blocks[Math.floor(place / BLOCK_SPAN)] as Buffer;
  }
}

/** Stores list in order: what is sorted already is not sorted again. */
function isSorted(places: Float64Array, compare: (a: number, b: number) => number): boolean {
  for (let i = 1; i < places.length; i++) {
    if (compare(places[i - 1] as number, places[i] as number) > 0) return false;
  }
  return true;
}
