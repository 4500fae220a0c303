import { createHash } from 'node:crypto';
import { etagIsNull, type RowBatch } from './row-batch.js';
import type { TextColumn } from './text-column.js';

const DOMAIN = 'os2g.dataset/1\n';
const BUFFER_BYTES = 256 * 1024;
const NULL_LENGTH = 0xffffffff;
const TWO_32 = 2 ** 32;

/**
 * SHA-256, in hex, over what says which bytes each row is. The bytes hashed are, all numbers little-endian:
 *
 *     "os2g.dataset/1\n"                           15 bytes, ASCII
 *     rows                                         u64
 *     for each row, in order:
 *       length of key in bytes                     u32
 *       key                                        UTF-8
 *       offset, length                             u64 each
 *       length of etag in bytes                    u32; 2^32 - 1 where the etag is null, and no bytes follow
 *       etag                                       UTF-8, quotes included where the store gives them
 *       object_size                                u64
 *
 * Record batches, dictionaries and widths of integers leave no trace in it; nor do label, fields and other columns.
 */
export function hashRows(batches: readonly RowBatch[], rows: number): string {
  const hasher = new DatasetHasher(rows);
  for (const batch of batches) hasher.add(batch);
  return hasher.digest();
}

/** The same, batch by batch. @param rows of all batches together */
export class DatasetHasher {
  private readonly sink = new HashSink();

  constructor(rows: number) {
    this.sink.putAscii(DOMAIN);
    this.sink.putU64(rows);
  }

  add(batch: RowBatch): void {
    const { sink } = this;
    for (let i = 0; i < batch.rows; i++) {
      sink.putText(batch.key, i);
      sink.putU64(batch.offset.get(i));
      sink.putU64(batch.length.get(i));
      if (batch.etag === null || etagIsNull(batch, i)) sink.putU32(NULL_LENGTH);
      else sink.putText(batch.etag, i);
      sink.putU64(batch.objectSize.get(i));
    }
  }

  digest(): string {
    return this.sink.digest();
  }
}

class HashSink {
  private readonly hash = createHash('sha256');
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private used = 0;

  putAscii(text: string): void {
    this.hash.update(text, 'latin1');
  }

  putU32(value: number): void {
    this.reserve(4);
    const { buffer, used } = this;
    buffer[used] = value;
    buffer[used + 1] = value >>> 8;
    buffer[used + 2] = value >>> 16;
    buffer[used + 3] = value >>> 24;
    this.used = used + 4;
  }

  putU64(value: number): void {
    this.putU32(value >>> 0);
    this.putU32(Math.floor(value / TWO_32));
  }

  putText(column: TextColumn, row: number): void {
    const start = column.start(row);
    const length = column.end(row) - start;
    this.putU32(length);
    if (length > BUFFER_BYTES) {
      this.flush();
      this.hash.update(column.bytes.subarray(start, start + length));
      return;
    }
    this.reserve(length);
    const { buffer, used } = this;
    const source = column.bytes;
    for (let i = 0; i < length; i++) buffer[used + i] = source[start + i] as number;
    this.used = used + length;
  }

  digest(): string {
    this.flush();
    return this.hash.digest('hex');
  }

  private reserve(length: number): void {
    if (this.used + length > BUFFER_BYTES) this.flush();
  }

  private flush(): void {
    this.hash.update(this.buffer.subarray(0, this.used));
    this.used = 0;
  }
}
