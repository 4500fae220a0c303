import type { SampleRow } from '../formats/format.js';
import { OPTIONAL_COLUMNS, type OptionalColumn } from './row-batch.js';

/**
 * A row as bytes, as it is kept while rows are sorted and in work files. Numbers are little-endian:
 *
 *     length of the record, flags, length of the key     u32 each
 *     key                                                UTF-8
 *     offset, length, object size                        f64 each
 *     what the flags name, in their order: etag, label, dtype (u32 length, UTF-8), width, height (f64),
 *     shape (u32 count, f64 each), fields (u32 count, each u32 length and UTF-8 of the name, f64 offset, f64 length)
 */
const ETAG = 1;
const LABEL = 2;
const DTYPE = 4;
const WIDTH = 8;
const HEIGHT = 16;
const SHAPE = 32;
const FIELDS = 64;
const FLAGS_AT = 4;
const KEY_LENGTH_AT = 8;
const KEY_AT = 12;
const LEAST_BYTES = KEY_AT + 3 * 8;
const UTF8_PER_UNIT = 3;

const FLAG_OF: Record<OptionalColumn, number> = {
  label: LABEL,
  fields: FIELDS,
  width: WIDTH,
  height: HEIGHT,
  dtype: DTYPE,
  shape: SHAPE,
};

/** Puts rows into one buffer, again and again. */
export class RowEncoder {
  private buffer = Buffer.allocUnsafe(1024);
  private at = 0;

  /** The record; a view that holds until the next call. */
  encode(row: SampleRow): Buffer {
    const { etag, label, dtype, width, height, shape, fields } = row;
    this.reserve(row, fields, shape);
    this.at = KEY_AT;
    this.at += this.buffer.write(row.key, KEY_AT, 'utf8');
    this.buffer.writeUInt32LE(this.at - KEY_AT, KEY_LENGTH_AT);
    this.number(row.offset);
    this.number(row.length);
    this.number(row.objectSizeBytes);
    let flags = 0;
    if (etag !== null) flags |= this.text(etag, ETAG);
    if (label !== null) flags |= this.text(label, LABEL);
    if (dtype !== null) flags |= this.text(dtype, DTYPE);
    if (width !== null) flags |= this.number(width, WIDTH);
    if (height !== null) flags |= this.number(height, HEIGHT);
    if (shape !== null) {
      flags |= this.count(shape.length, SHAPE);
      for (const extent of shape) this.number(extent);
    }
    if (fields !== null) {
      flags |= this.count(fields.length, FIELDS);
      for (const { name, offset, length } of fields) {
        this.text(name);
        this.number(offset);
        this.number(length);
      }
    }
    this.buffer.writeUInt32LE(flags, FLAGS_AT);
    this.buffer.writeUInt32LE(this.at, 0);
    return this.buffer.subarray(0, this.at);
  }

  private text(text: string, flag = 0): number {
    const bytes = this.buffer.write(text, this.at + 4, 'utf8');
    this.buffer.writeUInt32LE(bytes, this.at);
    this.at += 4 + bytes;
    return flag;
  }

  private number(value: number, flag = 0): number {
    this.at = this.buffer.writeDoubleLE(value, this.at);
    return flag;
  }

  private count(value: number, flag: number): number {
    this.at = this.buffer.writeUInt32LE(value, this.at);
    return flag;
  }

  private reserve(row: SampleRow, fields: SampleRow['fields'], shape: SampleRow['shape']): void {
    let units =
      row.key.length + (row.etag?.length ?? 0) + (row.label?.length ?? 0) + (row.dtype?.length ?? 0);
    let fixed = 128 + 8 * (shape?.length ?? 0);
    for (const { name } of fields ?? []) {
      units += name.length;
      fixed += 20;
    }
    const bytes = units * UTF8_PER_UNIT + fixed;
    if (bytes > this.buffer.length) this.buffer = Buffer.allocUnsafe(Math.max(bytes, this.buffer.length * 2));
  }
}

/** Length of the record that begins at `at`, in bytes. */
export function recordBytes(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at);
}

/** Which columns have a value in the record that begins at `at`: flags, to be put together by or. */
export function recordFlags(buffer: Buffer, at: number): number {
  return buffer.readUInt32LE(at + FLAGS_AT);
}

/** The optional columns that such flags name. */
export function flaggedColumns(flags: number): OptionalColumn[] {
  return OPTIONAL_COLUMNS.filter((column) => (flags & FLAG_OF[column]) !== 0);
}

/** The row of the record that begins at `at`. */
export function decodeRow(buffer: Buffer, at: number): SampleRow {
  const flags = buffer.readUInt32LE(at + FLAGS_AT);
  const reader = new RecordReader(buffer, at + KEY_LENGTH_AT);
  return {
    key: reader.text(),
    offset: reader.number(),
    length: reader.number(),
    objectSizeBytes: reader.number(),
    etag: flags & ETAG ? reader.text() : null,
    label: flags & LABEL ? reader.text() : null,
    dtype: flags & DTYPE ? reader.text() : null,
    width: flags & WIDTH ? reader.number() : null,
    height: flags & HEIGHT ? reader.number() : null,
    shape: flags & SHAPE ? Array.from({ length: reader.count() }, () => reader.number()) : null,
    fields:
      flags & FIELDS
        ? Array.from({ length: reader.count() }, () => ({
            name: reader.text(),
            offset: reader.number(),
            length: reader.number(),
          }))
        : null,
  };
}

/** Whether `bytes` are whole records and nothing else, as far as their lengths say. */
export function areRecords(bytes: Buffer): boolean {
  let at = 0;
  while (at + LEAST_BYTES <= bytes.length) {
    const length = recordBytes(bytes, at);
    if (length < LEAST_BYTES) return false;
    at += length;
  }
  return at === bytes.length;
}

/** The order of rows: bytes of the key, then offset, then length, then all else, so that equal sets of rows have one order. */
export function compareRecords(a: Buffer, atA: number, b: Buffer, atB: number): number {
  const keyA = a.readUInt32LE(atA + KEY_LENGTH_AT);
  const keyB = b.readUInt32LE(atB + KEY_LENGTH_AT);
  const shorter = Math.min(keyA, keyB);
  for (let i = KEY_AT; i < KEY_AT + shorter; i++) {
    const difference = (a[atA + i] as number) - (b[atB + i] as number);
    if (difference !== 0) return difference;
  }
  if (keyA !== keyB) return keyA - keyB;
  const placeA = atA + KEY_AT + keyA;
  const placeB = atB + KEY_AT + keyB;
  const place =
    a.readDoubleLE(placeA) - b.readDoubleLE(placeB) ||
    a.readDoubleLE(placeA + 8) - b.readDoubleLE(placeB + 8);
  if (place !== 0) return place;
  return a.compare(b, placeB, atB + recordBytes(b, atB), placeA, atA + recordBytes(a, atA));
}

class RecordReader {
  constructor(
    private readonly buffer: Buffer,
    private at: number,
  ) {}

  text(): string {
    const start = this.at + 4;
    this.at = start + this.buffer.readUInt32LE(this.at);
    return this.buffer.toString('utf8', start, this.at);
  }

  number(): number {
    const value = this.buffer.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  count(): number {
    const value = this.buffer.readUInt32LE(this.at);
    this.at += 4;
    return value;
  }
}
