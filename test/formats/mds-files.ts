import { MemoryBucket } from './memory-bucket.js';

/** Columns of a made data set: bytes of each value, or null for a variable one. */
export type Columns = Record<string, number | null>;

/** A shard as MDSWriter lays it out: count, offsets, the configuration's text, then of each sample sizes and data. */
export function shardBytes(columns: Columns, samples: readonly Uint8Array[][]): Uint8Array {
  const config = Buffer.from('{"format":"mds"}');
  const variable = Object.values(columns).map((size) => size === null);
  const bodies = samples.map((values) => {
    const sizes = Buffer.alloc(4 * variable.filter(Boolean).length);
    values.filter((_, i) => variable[i]).forEach(({ length }, i) => void sizes.writeUInt32LE(length, 4 * i));
    return Buffer.concat([sizes, ...values]);
  });
  const head = Buffer.alloc(4 * (samples.length + 2));
  head.writeUInt32LE(samples.length, 0);
  let at = head.length + config.length;
  bodies.forEach(({ length }, i) => {
    head.writeUInt32LE(at, 4 * (i + 1));
    at += length;
  });
  head.writeUInt32LE(at, 4 * (samples.length + 1));
  return Buffer.concat([head, config, ...bodies]);
}

/** What an index says of a shard; `changes` replaces fields. */
export function shardEntry(
  basename: string,
  columns: Columns,
  samples: number,
  bytes: number,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    column_encodings: Object.keys(columns).map(() => 'bytes'),
    column_names: Object.keys(columns),
    column_sizes: Object.values(columns),
    compression: null,
    format: 'mds',
    hashes: [],
    raw_data: { basename, bytes, hashes: {} },
    samples,
    size_limit: 67108864,
    version: 2,
    zip_data: null,
    ...changes,
  };
}

export function indexBytes(shards: readonly unknown[], version = 2): Uint8Array {
  return Buffer.from(JSON.stringify({ shards, version }));
}

/** Samples whose columns have these lengths, filled with their number. */
export function samplesOf(count: number, ...lengths: number[]): Uint8Array[][] {
  return Array.from({ length: count }, (_, n) => lengths.map((length) => new Uint8Array(length).fill(n)));
}

/** A bucket with one shard and its index, in `d/`. */
export function oneShard(
  columns: Columns,
  samples: readonly Uint8Array[][],
  changes?: Record<string, unknown>,
): MemoryBucket {
  const shard = shardBytes(columns, samples);
  const entry = shardEntry('shard.00000.mds', columns, samples.length, shard.length, changes);
  return new MemoryBucket({ 'd/index.json': indexBytes([entry]), 'd/shard.00000.mds': shard });
}
