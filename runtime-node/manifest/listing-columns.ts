import { TextBuilder } from './text-builder.js';
import { TextColumn } from './text-column.js';

/** Growing numbers, eight bytes each. */
class NumberList {
  private values = new Float64Array(1024);
  private count = 0;

  add(value: number): void {
    if (this.count === this.values.length) {
      const grown = new Float64Array(this.values.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.count++] = value;
  }

  finish(): Float64Array {
    return this.values.subarray(0, this.count);
  }
}

/** A listing's objects, sorted bytewise by key. */
export interface SortedListing {
  rows: number;
  key: TextColumn;
  etag: TextColumn;
  sizes: Float64Array;
}

/** Takes a listing in whatever order it comes, as columns: a few bytes beside the key for each object. */
export class ListingColumns {
  private readonly keys = new TextBuilder();
  private readonly etags = new TextBuilder();
  private readonly sizes = new NumberList();

  get rows(): number {
    return this.keys.rows;
  }

  add(key: string, etag: string | null, sizeBytes: number): void {
    this.keys.add(key);
    this.etags.add(etag);
    this.sizes.add(sizeBytes);
  }

  /** Sorts by the bytes of the UTF-8 keys, not by JavaScript's order of UTF-16 units; the builder is not used after. */
  sorted(): SortedListing {
    const rows = this.keys.rows;
    const key = new TextColumn(rows, this.keys.finish(), null);
    const etag = new TextColumn(rows, this.etags.finish(), null);
    const sizes = this.sizes.finish();
    if (isSorted(key)) return { rows, key, etag, sizes };
    const order = Uint32Array.from({ length: rows }, (_, i) => i).sort((a, b) => compareKeys(key, a, b));
    return {
      rows,
      key: inOrder(key, order),
      etag: inOrder(etag, order),
      sizes: Float64Array.from(order, (row) => sizes[row] as number),
    };
  }
}

/** Below 0, 0 or above 0, by bytes. */
export function compareKeys(column: TextColumn, a: number, b: number): number {
  const { bytes } = column;
  const startA = column.start(a);
  const startB = column.start(b);
  const lengthA = column.end(a) - startA;
  const lengthB = column.end(b) - startB;
  const shorter = Math.min(lengthA, lengthB);
  for (let i = 0; i < shorter; i++) {
    const difference = (bytes[startA + i] as number) - (bytes[startB + i] as number);
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}

function isSorted(column: TextColumn): boolean {
  for (let row = 1; row < column.rows; row++) {
    if (compareKeys(column, row - 1, row) > 0) return false;
  }
  return true;
}

function inOrder(column: TextColumn, order: Uint32Array): TextColumn {
  const builder = new TextBuilder(order.length, column.bytes.length);
  for (const row of order) builder.addFrom(column, row);
  return new TextColumn(order.length, builder.finish(), null);
}
