import { mix32 } from './random.js';

/** Content that is computed where it is read: a size and a seed, no memory. */
export interface SyntheticBody {
  sizeBytes: number;
  seed: number;
}

/** What the store reads an object's bytes from. `read` may return a view of memory that must not be written to. */
export interface ObjectBody {
  readonly sizeBytes: number;
  read(offset: number, length: number): Uint8Array;
}

const WORDS_PER_KEY = 2 ** 32;

/**
 * Bytes `[offset, offset + length)` of the synthetic content of `seed`. Word w of the content is a two-key scramble of w, so
 * that any range is made alone and ranges of different offsets or seeds do not look alike.
 */
export function syntheticBytes(seed: number, offset: number, length: number): Uint8Array {
  const firstWord = Math.floor(offset / 4);
  const lead = offset - firstWord * 4;
  const count = Math.ceil((lead + length) / 4);
  // Slow only in name: not from the shared pool, so aligned to words.
  const memory = Buffer.allocUnsafeSlow(count * 4);
  const words = new Int32Array(memory.buffer, memory.byteOffset, count);
  let done = 0;
  while (done < count) {
    const word = firstWord + done;
    const high = Math.floor(word / WORDS_PER_KEY);
    const until = Math.min(count, done + ((high + 1) * WORDS_PER_KEY - word));
    fillWords(words, done, until, word | 0, mix32(seed ^ mix32(high)), mix32(seed + 0x9e3779b9 + high));
    done = until;
  }
  return memory.subarray(lead, lead + length);
}

function fillWords(
  words: Int32Array,
  from: number,
  until: number,
  word: number,
  key: number,
  key2: number,
): void {
  let counter = word;
  for (let i = from; i < until; i++) {
    let x = Math.imul(counter, 0x9e3779b1) ^ key;
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d) ^ key2;
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
    words[i] = x ^ (x >>> 16);
    counter = (counter + 1) | 0;
  }
}

function checkSize(sizeBytes: number): void {
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    throw new RangeError(`body: sizeBytes must be a whole number, at least 0, not ${sizeBytes}`);
  }
}

/** The body of a synthetic description, or of bytes (copied, so that the caller may go on using its memory). */
export function objectBody(body: Uint8Array | SyntheticBody): ObjectBody {
  if (body instanceof Uint8Array) return memoryBody(Buffer.from(body));
  const { sizeBytes, seed } = body;
  checkSize(sizeBytes);
  if (!Number.isInteger(seed)) throw new RangeError(`body: seed must be a whole number, not ${seed}`);
  return { sizeBytes, read: (offset, length) => syntheticBytes(seed, offset, length) };
}

export function memoryBody(bytes: Uint8Array): ObjectBody {
  return { sizeBytes: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

/** A window on a body; what lies past the body's end, or before its start, reads as `x`. */
export function sliceBody(body: ObjectBody, start: number, sizeBytes: number): ObjectBody {
  return {
    sizeBytes,
    read(offset, length) {
      const from = start + offset;
      if (from >= 0 && from + length <= body.sizeBytes) return body.read(from, length);
      const bytes = Buffer.alloc(length, 'x');
      const first = Math.max(0, from);
      const last = Math.min(body.sizeBytes, from + length);
      if (last > first) bytes.set(body.read(first, last - first), first - from);
      return bytes;
    },
  };
}

/** The same body with one byte changed. */
export function corruptBody(body: ObjectBody, at: number): ObjectBody {
  return {
    sizeBytes: body.sizeBytes,
    read(offset, length) {
      const bytes = Buffer.from(body.read(offset, length));
      if (at >= offset && at < offset + length) bytes[at - offset] = bytes[at - offset]! ^ 0xff;
      return bytes;
    },
  };
}
