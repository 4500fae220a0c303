import type { ListedObject } from '../../s3/listing.js';
import { badShard } from '../format-error.js';
import type { MdsShard } from './index-file.js';

/** Reads bytes `[offset, offset + length)` of the shard. */
export type ReadBytes = (offset: number, length: number) => Promise<Uint8Array>;

const WORD_BYTES = 4;
/** Offsets of one request, 1 MiB: a shard of 64 MiB has as many only where samples are below 256 bytes. */
const OFFSETS_A_READ = 1 << 18;

export const MEND_SHARD = 'write or upload the shard again, together with its index.json';

/**
 * Where samples lie, some at a time: each answer has the begins of up to 262 143 samples and the end of the last one of them. A
 * shard begins with the number of samples, then where each begins, then where the last one ends (all uint32, little-endian).
 * @throws Os2gError `bad_shard` where count, order or end disagree with the index or the size
 */
export async function* sampleBounds(
  shard: MdsShard,
  object: ListedObject,
  read: ReadBytes,
): AsyncGenerator<Uint32Array> {
  const offsets = shard.samples + 1;
  const headEnd = WORD_BYTES * (1 + offsets);
  if (headEnd > object.sizeBytes) {
    const what = `the index says ${shard.samples} samples, whose offsets alone need ${headEnd} bytes; the shard has ${object.sizeBytes}`;
    throw badShard(object, 0, what, MEND_SHARD);
  }
  let before: number | null = null;
  for (let first = 0; first < offsets; first += OFFSETS_A_READ) {
    const count = Math.min(OFFSETS_A_READ, offsets - first);
    const skipped = first === 0 ? 1 : 0;
    const at = WORD_BYTES * (first === 0 ? 0 : 1 + first);
    const words = wordsOf(await read(at, WORD_BYTES * (count + skipped)));
    if (first === 0) checkCount(shard, object, words[0]!);
    const some: Uint32Array = words.subarray(skipped);
    checkOrder(object, some, before ?? headEnd, WORD_BYTES * (1 + first));
    const bounds: Uint32Array = before === null ? some : withFirst(before, some);
    before = some[count - 1]!;
    if (first + count === offsets) checkEnd(object, before, WORD_BYTES * offsets);
    if (bounds.length > 1) yield bounds;
  }
}

function checkCount(shard: MdsShard, object: ListedObject, count: number): void {
  if (count === shard.samples) return;
  throw badShard(object, 0, `it says ${count} samples, the index says ${shard.samples}`, MEND_SHARD);
}

function checkEnd(object: ListedObject, end: number, byte: number): void {
  if (end === object.sizeBytes) return;
  const what = `the last sample is said to end at ${end}, the shard ends at ${object.sizeBytes}`;
  throw badShard(object, byte, what, MEND_SHARD);
}

function checkOrder(object: ListedObject, offsets: Uint32Array, least: number, firstByte: number): void {
  let before = least;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i]!;
    if (offset < before || offset > object.sizeBytes) {
      const limits =
        offset < before ? `before ${before}, where it may` : `beyond the shard's ${object.sizeBytes} bytes`;
      throw badShard(
        object,
        firstByte + WORD_BYTES * i,
        `a sample is said to begin at ${offset}, ${limits}`,
        MEND_SHARD,
      );
    }
    before = offset;
  }
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.byteLength / WORD_BYTES }, (_, i) =>
    view.getUint32(WORD_BYTES * i, true),
  );
}

function withFirst(first: number, others: Uint32Array): Uint32Array {
  const all = new Uint32Array(others.length + 1);
  all[0] = first;
  all.set(others, 1);
  return all;
}
