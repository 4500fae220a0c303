import { createCipheriv, createHash } from 'node:crypto';
import { seededDraws } from '../kit/draws.js';

const MIN_BYTES = 1_000;
const MAX_BYTES = 200_000;

export const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

/** Pseudo-random bytes that differ for each (seed, object): an AES key stream. */
export function seededBytes(seed: number, object: number, sizeBytes: number): Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed);
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(object);
  return createCipheriv('aes-128-ctr', key, iv).update(Buffer.alloc(sizeBytes));
}

export interface TruthOptions {
  readonly seed: number;
  readonly objects: number;
  /** Ends with a slash. */
  readonly prefix: string;
  readonly classes?: number;
  /** Bytes of an object; the default: 1 to 200 KB, as many in each octave (14 KB is the median, 38 KB the mean). */
  readonly sizeBytes?: (fraction: number) => number;
}

/** A data set `prefix/class/name.jpg` of which everything is known: a function of its seed. */
export class Truth {
  /** Bytewise sorted, as a manifest has its rows. */
  readonly keys: readonly string[];
  readonly sizes: readonly number[];
  readonly totalBytes: number;
  readonly #seed: number;
  readonly #sha256 = new Map<string, string>();

  constructor({ seed, objects, prefix, classes = 10, sizeBytes = logUniform }: TruthOptions) {
    const draw = seededDraws(seed);
    const name = (i: number): string =>
      `${prefix}class-${Math.floor(draw() * classes)}/${String(i).padStart(6, '0')}.jpg`;
    this.#seed = seed;
    // ASCII names: JavaScript's own order is the order of the bytes.
    this.keys = Array.from({ length: objects }, (_, i) => name(i)).sort();
    this.sizes = this.keys.map(() => sizeBytes(draw()));
    this.totalBytes = this.sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Body of the object at a row. */
  body(row: number): Buffer {
    return seededBytes(this.#seed, row, this.sizes[row] as number);
  }

  /** All objects; remembers the digest of each that was taken. */
  *objects(): Generator<{ key: string; body: Buffer }> {
    for (const [row, key] of this.keys.entries()) {
      const body = this.body(row);
      this.#sha256.set(key, sha256(body));
      yield { key, body };
    }
  }

  /** The digest of an object of the data set, undefined for a key that is none of it. */
  sha256(key: string): string | undefined {
    if (this.#sha256.size < this.keys.length) for (const _object of this.objects());
    return this.#sha256.get(key);
  }
}

function logUniform(fraction: number): number {
  return Math.floor(MIN_BYTES * (MAX_BYTES / MIN_BYTES) ** fraction);
}
