import type { RecordBatch } from 'apache-arrow/fb/record-batch';
import type { ArrowField, IntType } from './arrow-types.js';
import { badManifest } from './manifest-error.js';
import { type Bitmap, NumberColumn, type NumberValues } from './number-column.js';

type NumberArray = {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): NumberValues;
  BYTES_PER_ELEMENT: number;
};
const ARRAYS: Record<IntType['bits'], { signed: NumberArray; unsigned: NumberArray }> = {
  8: { signed: Int8Array, unsigned: Uint8Array },
  16: { signed: Int16Array, unsigned: Uint16Array },
  32: { signed: Int32Array, unsigned: Uint32Array },
  64: { signed: Uint32Array, unsigned: Uint32Array },
};

/** The slots of one column in one batch. */
export interface Node {
  rows: number;
  nulls: number;
}

/**
 * Walks over the nodes and buffers of one record batch in the order of the schema, and gives them as views. Every buffer
 * must lie within the body and be long enough for its rows.
 */
export class BatchReader {
  readonly rows: number;
  private node = 0;
  private buffer = 0;
  private variadic = 0;

  constructor(
    private readonly batch: RecordBatch,
    private readonly body: Uint8Array,
    file: string,
  ) {
    if (batch.compression() !== null) {
      throw badManifest(
        { file },
        'its columns are compressed (LZ4 or Zstandard)',
        'write it without compression: pyarrow.ipc.IpcWriteOptions(compression=None), or pyarrow.feather.write_feather(…, compression="uncompressed")',
      );
    }
    this.rows = safe(batch.length(), 'rows');
  }

  /** The next column's node; at the top level it has as many rows as the batch. */
  nextNode(rows: number | null): Node {
    const node = this.node < this.batch.nodesLength() ? this.batch.nodes(this.node) : null;
    if (node === null) throw new RangeError('a batch has fewer columns than the schema');
    this.node++;
    const found = { rows: safe(node.length(), 'rows'), nulls: safe(node.nullCount(), 'nulls') };
    if ((rows !== null && found.rows !== rows) || found.nulls > found.rows) {
      throw new RangeError(
        `a column has ${found.rows} rows and ${found.nulls} nulls in a batch of ${this.rows} rows`,
      );
    }
    return found;
  }

  nextBuffer(): Uint8Array {
    const buffer = this.buffer < this.batch.buffersLength() ? this.batch.buffers(this.buffer) : null;
    if (buffer === null) throw new RangeError('a batch has fewer buffers than its columns need');
    this.buffer++;
    const offset = safe(buffer.offset(), 'bytes');
    const length = safe(buffer.length(), 'bytes');
    if (offset + length > this.body.length) {
      throw new RangeError(`a buffer ends at byte ${offset + length} of ${this.body.length}`);
    }
    return this.body.subarray(offset, offset + length);
  }

  nextVariadicCount(): number {
    const at = this.variadic++;
    const count = at < this.batch.variadicBufferCountsLength() ? this.batch.variadicBufferCounts(at) : null;
    if (count === null) throw new RangeError('a batch does not say how many buffers a column has');
    const buffers = safe(count, 'buffers');
    if (buffers > this.batch.buffersLength()) throw new RangeError(`a column claims ${buffers} buffers`);
    return buffers;
  }

  nextValidity(node: Node): Bitmap {
    const bitmap = this.nextBuffer();
    if (bitmap.length === 0 && node.nulls === 0) return null;
    need(bitmap, Math.ceil(node.rows / 8));
    // Readers differ in which of the two they believe.
    const nulls = node.rows - onesOf(bitmap, node.rows);
    if (nulls !== node.nulls) {
      throw new RangeError(`a column says that ${node.nulls} of its rows are null, and marks ${nulls}`);
    }
    return bitmap;
  }

  nextIntegers(type: IntType, count: number, validity: Bitmap): NumberColumn {
    const values = typed(
      this.nextBuffer(),
      ARRAYS[type.bits][type.signed ? 'signed' : 'unsigned'],
      type.bits,
      count,
    );
    const wide = type.bits < 64 ? 'no' : type.signed ? 'signed' : 'unsigned';
    return new NumberColumn(count, values, wide, validity);
  }

  /** `count` words of 32 bits, each a pair where `stride` is 2. */
  nextWords(count: number, stride: 1 | 2): Uint32Array {
    const buffer = this.nextBuffer();
    // Arrow lets an empty column leave its offsets out.
    if (buffer.length === 0 && count === 1) return new Uint32Array(stride);
    return typed(buffer, Uint32Array, stride * 32, count) as Uint32Array;
  }

  /** Steps over a column that nobody asked for. */
  skip(field: ArrowField, rows: number | null): void {
    this.nextNode(rows);
    const own = field.dictionary === null ? field.buffers : 2;
    for (let i = 0; i < own; i++) this.nextBuffer();
    if (field.dictionary !== null) return;
    if (field.hasVariadicBuffers) {
      for (let i = this.nextVariadicCount(); i > 0; i--) this.nextBuffer();
    }
    for (const child of field.children) this.skip(child, null);
  }

  /** All nodes and buffers were used: the schema and the batch agree. */
  finish(): void {
    if (this.node !== this.batch.nodesLength() || this.buffer !== this.batch.buffersLength()) {
      throw new RangeError('a batch has more columns than the schema');
    }
  }
}

/** Bits that are set among the first `bits`. */
function onesOf(bitmap: Uint8Array, bits: number): number {
  let ones = 0;
  const whole = Math.floor(bits / 8);
  for (let i = 0; i < whole; i++) ones += onesOfByte(bitmap[i] as number);
  return bits % 8 === 0 ? ones : ones + onesOfByte((bitmap[whole] as number) & ((1 << (bits % 8)) - 1));
}

function onesOfByte(byte: number): number {
  const pairs = byte - ((byte >> 1) & 0x55);
  const nibbles = (pairs & 0x33) + ((pairs >> 2) & 0x33);
  return (nibbles + (nibbles >> 4)) & 0x0f;
}

function typed(bytes: Uint8Array, array: NumberArray, bits: number, count: number): NumberValues {
  need(bytes, (bits / 8) * count);
  const width = array.BYTES_PER_ELEMENT;
  const length = (bits / 8 / width) * count;
  if (bytes.byteOffset % width === 0) return new array(bytes.buffer, bytes.byteOffset, length);
  return new array(bytes.slice(0, length * width).buffer, 0, length);
}

function need(bytes: Uint8Array, length: number): void {
  if (bytes.length < length)
    throw new RangeError(`a buffer of ${bytes.length} bytes where ${length} are needed`);
}

function safe(value: bigint, what: string): number {
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER))
    throw new RangeError(`a batch claims ${value} ${what}`);
  return Number(value);
}
