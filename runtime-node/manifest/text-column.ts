import { isUtf8 } from 'node:buffer';
import { type Bitmap, isSet, type NumberColumn } from './number-column.js';

/** Strings end to end, with `count + 1` offsets; `stride` 2 where the offsets are 64-bit words read by their low halves. */
export interface TextValues {
  count: number;
  bytes: Buffer;
  offsets: Uint32Array;
  stride: 1 | 2;
  validity: Bitmap;
}

/** A problem in one slot of a text column. */
export interface TextProblem {
  slot: number;
  what: string;
}

/** A column of strings, plain or through a dictionary, read from where they lie. */
export class TextColumn {
  constructor(
    readonly rows: number,
    readonly values: TextValues,
    readonly indices: NumberColumn | null,
  ) {}

  get bytes(): Buffer {
    return this.values.bytes;
  }

  get isDictionary(): boolean {
    return this.indices !== null;
  }

  isNull(row: number): boolean {
    if (this.indices?.isNull(row)) return true;
    const validity = this.values.validity;
    return validity !== null && !isSet(validity, this.slot(row));
  }

  start(row: number): number {
    return this.values.offsets[this.slot(row) * this.values.stride] as number;
  }

  end(row: number): number {
    return this.values.offsets[(this.slot(row) + 1) * this.values.stride] as number;
  }

  text(row: number): string {
    return this.values.bytes.toString('utf8', this.start(row), this.end(row));
  }

  /** The first dictionary index that points nowhere, or null. */
  findBadIndex(): TextProblem | null {
    if (this.indices === null) return null;
    for (let row = 0; row < this.rows; row++) {
      if (this.indices.isNull(row)) continue;
      const index = this.indices.get(row);
      if (!(index >= 0 && index < this.values.count)) {
        return { slot: row, what: `index ${index} into a dictionary of ${this.values.count}` };
      }
    }
    return null;
  }

  private slot(row: number): number {
    return this.indices === null ? row : this.indices.get(row);
  }
}

/** The first string that lies outside its buffer or is not UTF-8, or null. */
export function findBadText(values: TextValues): TextProblem | null {
  const { offsets, stride, bytes, count } = values;
  let aligned = true;
  for (let slot = 0; slot < count; slot++) {
    const start = offsets[slot * stride] as number;
    const end = offsets[(slot + 1) * stride] as number;
    if (start > end || end > bytes.length)
      return { slot, what: `text at bytes ${start} to ${end} of ${bytes.length}` };
    if (start < bytes.length && isContinuation(bytes[start] as number)) aligned = false;
  }
  if (count === 0) return null;
  const first = offsets[0] as number;
  const last = offsets[count * stride] as number;
  // Whole and cut nowhere inside a character: then each string is valid, in one native call.
  if (aligned && isUtf8(bytes.subarray(first, last))) return null;
  for (let slot = 0; slot < count; slot++) {
    if (values.validity !== null && !isSet(values.validity, slot)) continue;
    const text = bytes.subarray(offsets[slot * stride] as number, offsets[(slot + 1) * stride] as number);
    if (!isUtf8(text)) return { slot, what: 'text that is not valid UTF-8' };
  }
  return null;
}

/** Compares from the end, where neighbouring keys differ. */
export function sameText(a: TextColumn, rowA: number, b: TextColumn, rowB: number): boolean {
  const startA = a.start(rowA);
  const startB = b.start(rowB);
  const length = a.end(rowA) - startA;
  if (length !== b.end(rowB) - startB) return false;
  for (let i = length - 1; i >= 0; i--) {
    if (a.bytes[startA + i] !== b.bytes[startB + i]) return false;
  }
  return true;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
