// How a feed of tar shards asks for its samples: bytes fetched over bytes needed, and requests a sample, for each order of an epoch.
// The store is the scripted one on loopback, which counts what it was asked for and what it sent. Prints one JSON line for each.
//
//     node dist/bench/tar-shape.js [SHARDS] [SAMPLES_PER_SHARD] [SAMPLE_BYTES]

import { openFeed } from '../runtime-node/feed/open.js';
import { indexInMemory } from '../runtime-node/formats/pipeline/in-memory.js';
import type { Manifest } from '../runtime-node/manifest/manifest.js';
import type { Shuffle } from '../runtime-node/policy/job.js';
import { openStore } from '../runtime-node/s3/store.js';
import { tar } from '../test/formats/tar-writer.js';
import { startStore } from '../test/store/index.js';

const [shards = 8, samples = 250, sampleBytes = 100_000] = process.argv.slice(2).map(Number);
const BUCKET = 'data';

const archives = Array.from({ length: shards }, (_, shard): [key: string, archive: Buffer] => {
  const members = Array.from({ length: samples }, (_, i) => {
    // Of different sizes, and half of them with a label beside them.
    const bytes = Math.round(sampleBytes * (0.5 + ((i * 7919) % 1000) / 1000));
    const jpg = { name: `${i}.jpg`, data: new Uint8Array(bytes) };
    return i % 2 === 0 ? [jpg] : [jpg, { name: `${i}.cls`, data: String(i % 10) }];
  });
  return [`${String(shard).padStart(4, '0')}.tar`, tar(members.flat())];
});

/** A store of its own for each run: what an earlier one left on its way would be counted. */
async function openShards() {
  const store = await startStore({ seed: 5 });
  store.createBucket(BUCKET);
  for (const [key, archive] of archives) store.put(BUCKET, key, archive, { etag: `"${archive.length}"` });
  const { accessKeyId, secretAccessKey } = store.credentials;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
  return { store, s3: { endpoint: store.endpoint, region: store.region } };
}

async function index() {
  const { store, s3 } = await openShards();
  const client = await openStore(s3);
  const { manifest } = await indexInMemory(client, { bucket: BUCKET, prefix: '', format: 'tar' });
  await client.close();
  const { gets, bytesSent } = store.counters;
  const stored = archives.reduce((sum, [, archive]) => sum + archive.length, 0);
  print({ what: 'index', requests_per_sample: gets / manifest.rows, share_of_bytes: bytesSent / stored });
  await store.close();
  return manifest;
}

async function feed(manifest: Manifest, shuffle: Shuffle, isHedging: boolean) {
  const { store, s3 } = await openShards();
  const set = isHedging ? {} : { 'hedge.share': 0 };
  const run = await openFeed({
    ...{ manifest, s3, shuffle, set, batchSamples: 64, seed: 1, tail: 'partial' },
  });
  let delivered = 0;
  for await (const batch of run) {
    delivered += batch.length;
    batch.release();
  }
  const { retries, hedges } = run.stats();
  const { gets, bytesSent } = store.counters;
  print({
    ...{ what: 'feed', shuffle, hedging: isHedging, retries, hedges, samples: delivered },
    bytes_fetched_over_needed: bytesSent / manifest.totalLength,
    requests_per_sample: gets / delivered,
  });
  await store.close();
}

function print(document: Record<string, unknown>): void {
  const rounded = Object.entries(document).map(([name, value]) => [
    name,
    typeof value === 'number' ? Number(value.toFixed(4)) : value,
  ]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(rounded))}\n`);
}

const manifest = await index();
for (const shuffle of ['none', 'block', 'sample'] as const) {
  for (const isHedging of [false, true]) await feed(manifest, shuffle, isHedging);
}
