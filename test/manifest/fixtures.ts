import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type DataType,
  Dictionary,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  Null,
  Table,
  tableToIPC,
  Uint32,
  Uint64,
  Utf8,
  Utf8View,
  type Vector,
  vectorFromArray,
} from 'apache-arrow';
import type { Manifest } from '../../runtime-node/manifest/manifest.js';

export interface Row {
  key: string;
  offset: number;
  length: number;
  etag: string | null;
  objectSize: number;
  label?: string | null;
}

/** Nine rows: empty samples, a shared object, keys of one to four bytes a character, null ETags, a size above 2^32. */
export const ROWS: Row[] = [
  { key: 'a', offset: 0, length: 0, etag: null, objectSize: 0, label: 'one' },
  { key: 'b/é.jpg', offset: 0, length: 10, etag: '"e1"', objectSize: 10, label: 'two' },
  { key: 'b/shard.tar', offset: 0, length: 5, etag: '"e2"', objectSize: 30, label: null },
  { key: 'b/shard.tar', offset: 5, length: 5, etag: '"e2"', objectSize: 30, label: 'two' },
  { key: 'b/shard.tar', offset: 30, length: 0, etag: '"e2"', objectSize: 30, label: 'one' },
  {
    key: 'c/a long key that is no inline view.bin',
    offset: 1,
    length: 2,
    etag: null,
    objectSize: 9,
    label: 'one',
  },
  {
    key: 'c/～',
    offset: 0,
    length: 1,
    etag: '"a much longer entity tag than twelve"',
    objectSize: 1,
    label: 'x',
  },
  { key: 'c/😀', offset: 2 ** 33, length: 3, etag: '""', objectSize: 2 ** 40 + 7, label: 'two' },
  {
    key: 'd',
    offset: 0,
    length: 1,
    etag: '"e3"',
    objectSize: 1,
    label: 'a label that is longer than twelve',
  },
];
/** First row of each row's run of one key. */
export const HANDLES = [0, 1, 2, 2, 2, 5, 6, 7, 8];

export const TEXT_TYPES = {
  utf8: () => new Utf8(),
  large_utf8: () => new LargeUtf8(),
  utf8_view: () => new Utf8View(),
  'dictionary of utf8': () => new Dictionary(new Utf8(), new Int32()),
  'dictionary of utf8 by int8': () => new Dictionary(new Utf8(), new Int8()),
};
export const NUMBER_TYPES = {
  uint64: () => new Uint64(),
  int64: () => new Int64(),
  uint32: () => new Uint32(),
  int32: () => new Int32(),
};
export type TextType = keyof typeof TEXT_TYPES;
export type NumberType = keyof typeof NUMBER_TYPES;

export interface Encoding {
  text?: TextType;
  number?: NumberType;
  /** Rows of each record batch. */
  batches?: number[];
  kind?: 'file' | 'stream';
}

export function numbers(values: (number | null)[], type: NumberType = 'uint64'): Vector {
  const isWide = type.endsWith('64');
  const given = values.map((value) => (value === null || !isWide ? value : BigInt(value)));
  return vectorFromArray(given, NUMBER_TYPES[type]() as DataType);
}

export function texts(values: (string | null)[], type: TextType = 'utf8'): Vector {
  return vectorFromArray(values, TEXT_TYPES[type]() as DataType);
}

export function nulls(rows: number): Vector {
  return vectorFromArray(new Array(rows).fill(null), new Null());
}

export function columnsOf(rows: readonly Row[], { text, number }: Encoding = {}): Record<string, Vector> {
  return {
    key: texts(
      rows.map((row) => row.key),
      text,
    ),
    offset: numbers(
      rows.map((row) => row.offset),
      number,
    ),
    length: numbers(
      rows.map((row) => row.length),
      number,
    ),
    etag: texts(
      rows.map((row) => row.etag),
      text,
    ),
    object_size: numbers(
      rows.map((row) => row.objectSize),
      number,
    ),
    label: texts(
      rows.map((row) => row.label ?? null),
      text,
    ),
  };
}

/** The rows as apache-arrow itself would write them. */
export function encode(rows: readonly Row[], encoding: Encoding = {}): Uint8Array {
  const { batches = [rows.length], kind = 'file' } = encoding;
  const whole = new Table(columnsOf(rows, encoding));
  const parts = batches.map((size, i) => {
    const from = batches.slice(0, i).reduce((sum, before) => sum + before, 0);
    // The library loses the views of a slice; its dictionaries, on the other hand, must be one for all batches.
    const isView = encoding.text === 'utf8_view' && batches.length > 1;
    return isView
      ? new Table(columnsOf(rows.slice(from, from + size), encoding))
      : whole.slice(from, from + size);
  });
  const [first, ...others] = parts;
  return tableToIPC(first === undefined ? whole : first.concat(...others), kind);
}

export function ipc(columns: Record<string, Vector>, kind: 'file' | 'stream' = 'file'): Uint8Array {
  return tableToIPC(new Table(columns), kind);
}

/** All that the accessors say. */
export function rowsOf(manifest: Manifest): Row[] {
  return Array.from({ length: manifest.rows }, (_, row) => ({
    key: manifest.key(row),
    offset: manifest.offset(row),
    length: manifest.length(row),
    etag: manifest.etag(row),
    objectSize: manifest.objectSize(row),
    label: manifest.label(row),
  }));
}

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'os2g-manifest-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function withFile<T>(
  bytes: Uint8Array | string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  return inFolder(async (folder) => {
    const path = join(folder, 'm.arrow');
    await writeFile(path, bytes);
    return work(path);
  });
}

/** What was thrown; fails the test where nothing was. */
export async function thrown(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
