import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { StoreError } from '../../runtime-node/errors.js';
import type { IndexPlan, RangeReader, SampleFormat, SampleRow } from '../../runtime-node/formats/format.js';
import { packageRoot } from '../../runtime-node/package-root.js';
import type { ListedObject } from '../../runtime-node/s3/listing.js';

/** Objects in memory, read by range as a store would serve them; counts what was asked for. */
export class MemoryBucket implements RangeReader {
  readonly objects = new Map<string, Uint8Array>();
  requests = 0;
  /** Bytes that were sent, and the most that one request was answered with. */
  bytes = 0;
  largestAnswer = 0;
  stats: string[] = [];

  constructor(objects: Readonly<Record<string, Uint8Array>> = {}) {
    for (const [key, bytes] of Object.entries(objects)) this.objects.set(key, new Uint8Array(bytes));
  }

  /** Bytewise order of keys. */
  list(prefix = ''): ListedObject[] {
    return [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .sort()
      .map((key) => this.listed(key));
  }

  listed(key: string): ListedObject {
    const sizeBytes = this.objects.get(key)!.length;
    return { key, sizeBytes, etag: `"${key.length}-${sizeBytes}"`, storageClass: null, archived: false };
  }

  async read({ key }: ListedObject, offset: number, length: number): Promise<Uint8Array> {
    const object = this.objects.get(key);
    if (object === undefined) throw notFound(key);
    // A range of no bytes cannot be asked for.
    if (!(Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length > 0)) {
      throw new RangeError(`read of ${length} bytes at ${offset}`);
    }
    const bytes = object.slice(offset, offset + length);
    this.requests++;
    this.bytes += bytes.length;
    this.largestAnswer = Math.max(this.largestAnswer, bytes.length);
    return bytes;
  }

  async stat(key: string): Promise<ListedObject> {
    this.stats.push(key);
    if (!this.objects.has(key)) throw notFound(key);
    return this.listed(key);
  }
}

function notFound(key: string): StoreError {
  return new StoreError('not_found', `${key}: there is no such object`, 'check the key', { key });
}

export function fixtureFile(...path: string[]): Uint8Array {
  return new Uint8Array(readFileSync(join(packageRoot, 'test', 'formats', 'fixtures', ...path)));
}

export function fixtureJson<T>(...path: string[]): T {
  return JSON.parse(Buffer.from(fixtureFile(...path)).toString()) as T;
}

/** All files of a folder of fixtures, by their path below it, with `prefix` before. */
export function fixtureFolder(prefix: string, ...path: string[]): Record<string, Uint8Array> {
  const root = join(packageRoot, 'test', 'formats', 'fixtures', ...path);
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const file = join(entry.parentPath ?? entry.path, entry.name);
      return [prefix + relative(root, file).replaceAll('\\', '/'), new Uint8Array(readFileSync(file))];
    }),
  );
}

export interface Indexed {
  rows: SampleRow[];
  notes: string[];
  plan: IndexPlan;
}

/** A whole index run of a format over a bucket, unit after unit. Notes of units are `what: key`. */
export async function indexAll(format: SampleFormat, bucket: MemoryBucket, prefix = ''): Promise<Indexed> {
  const plan = await format.plan(bucket.list(prefix), prefix, bucket);
  const [rows, notes]: [SampleRow[], string[]] = [[], [...plan.notes]];
  for (const unit of plan.units) {
    for await (const some of unit.rows(bucket, undefined, (what, key) => notes.push(`${what}: ${key}`))) {
      rows.push(...some);
    }
  }
  return { rows, notes, plan };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Bytes of a row's sample, or of one field of it. */
export function bytesOf(
  bucket: MemoryBucket,
  { key, offset }: SampleRow,
  at: number,
  length: number,
): Uint8Array {
  return bucket.objects.get(key)!.slice(offset + at, offset + at + length);
}

/** Code of the error that a promise fails with, its message and mend; fails where it does not fail, or with a defect. */
export async function refusal(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; mend: string }> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'mend' in error) {
      return { code: String(error.code), message: error.message, mend: String(error.mend) };
    }
    throw error;
  }
  throw new Error('it was not refused');
}
