import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import type { Batch } from '../../runtime-node/feed/batch.js';
import type { Feed } from '../../runtime-node/feed/feed.js';
import { openFeed } from '../../runtime-node/feed/open.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { type ScriptedStore, type StoreOptions, startStore } from '../store/index.js';

export const BUCKET = 'data';
export const MIB = 2 ** 20;
const SEED = 44;

/** A store with objects `train/000 ...` of 1 to 40,000 bytes. */
export async function withStore(
  objects: number,
  options: StoreOptions,
  use: (store: ScriptedStore) => Promise<void>,
): Promise<void> {
  const store = await startStore({ anonymous: true, seed: SEED, ...options });
  try {
    store.createBucket(BUCKET);
    for (let i = 0; i < objects; i++)
      store.put(BUCKET, keyOf(i), { sizeBytes: 1 + ((i * 7919) % 40_000), seed: i });
    await use(store);
  } finally {
    await store.close();
  }
}

export const keyOf = (i: number): string => `train/${String(i).padStart(3, '0')}`;

export function openGpuFeed(store: ScriptedStore, options: Partial<FeedOptions> = {}): Promise<Feed> {
  const source = options.manifest ? {} : { source: `s3://${BUCKET}/train/` };
  return openFeed({
    s3: { endpoint: store.endpoint, region: 'us-east-1', anonymous: true },
    batchSamples: 8,
    memoryBytes: 8 * MIB,
    engine: 'native',
    landing: 'cuda',
    ...source,
    ...options,
  });
}

/** Every byte of a batch, read back from the GPU, against what the store holds. */
export function checkBatch(store: ScriptedStore, feed: Feed, batch: Batch): void {
  const whole = batch.landing;
  for (let i = 0; i < batch.length; i++) {
    if (batch.skipped(i)) continue;
    const row = batch.row(i);
    const length = feed.manifest.length(row);
    const expected = Buffer.from(
      store.expectedBytes(BUCKET, batch.key(i), feed.manifest.offset(row), length),
    );
    assert.ok(expected.equals(batch.bytes(i)), `bytes of ${batch.key(i)}`);
    const at = batch.offsetInLanding(i);
    assert.ok(expected.equals(whole.subarray(at, at + length)), `${batch.key(i)} in the batch`);
  }
}

/** Reads up to `most` batches, checks their bytes, and closes the feed, also after an error. */
export async function readChecked(
  store: ScriptedStore,
  options: Partial<FeedOptions> = {},
  most = Number.POSITIVE_INFINITY,
): Promise<FeedStats> {
  const feed = await openGpuFeed(store, options);
  try {
    for (let seen = 0; seen < most; seen++) {
      const batch = await feed.next();
      if (batch === null) break;
      checkBatch(store, feed, batch);
      batch.release();
    }
  } finally {
    await feed.close();
  }
  return feed.stats();
}

interface AuditedSample {
  key: string;
  offset: number;
  length: number;
  sha256: string;
}

/** Compares an audit with the store. @returns how many samples it has */
export function checkAudit(store: ScriptedStore, file: string): number {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const samples = lines.flatMap((line) => (JSON.parse(line) as { samples: AuditedSample[] }).samples);
  for (const { key, offset, length, sha256 } of samples) {
    const bytes = store.expectedBytes(BUCKET, key, offset, length);
    assert.is(sha256, createHash('sha256').update(bytes).digest('hex'), key);
  }
  return samples.length;
}
