// How a feed of tar shards asks for its samples: bytes fetched over bytes needed, and requests a sample, for each order of an epoch.
// The store is the scripted one on loopback, which counts what it was asked for and what it sent. Prints one JSON line for each.
//
//     node dist/bench/tar-shape.js [SHARDS] [SAMPLES_PER_SHARD] [SAMPLE_BYTES]

import { openFeed } from '../runtime-node/feed/open.js';
import { indexInMemory } from '../runtime-node/formats/pipeline/in-memory.js';
import type { Shuffle } from '../runtime-node/policy/job.js';
import { openStore } from '../runtime-node/s3/store.js';
import { tar } from '../test/formats/tar-writer.js';
import { startStore } from '../test/store/index.js';

const [shards = 8, samples = 250, sampleBytes = 100_000] = process.argv.slice(2).map(Number);
const BUCKET = 'data';
const SHUFFLES: Shuffle[] = ['none', 'block', 'sample'];

const store = await startStore({ seed: 5 });
store.createBucket(BUCKET);
for (let shard = 0; shard < shards; shard++) {
  const members = Array.from({ length: samples }, (_, i) => {
    // Of different sizes, and half of them with a label beside them.
    const bytes = Math.round(sampleBytes * (0.5 + ((i * 7919) % 1000) / 1000));
    const jpg = { name: `${i}.jpg`, data: new Uint8Array(bytes) };
    return i % 2 === 0 ? [jpg] : [jpg, { name: `${i}.cls`, data: String(i % 10) }];
  });
  store.put(BUCKET, `${String(shard).padStart(4, '0')}.tar`, tar(members.flat()));
}
const { accessKeyId, secretAccessKey } = store.credentials;
Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
const s3 = { endpoint: store.endpoint, region: store.region };
const client = await openStore(s3);
const { manifest } = await indexInMemory(client, { bucket: BUCKET, prefix: '' });
const { gets, bytesSent } = store.counters;
const archiveBytes = shards * manifest.objectSize(0);
const index = { requests_per_sample: gets / manifest.rows, share_of_bytes: bytesSent / archiveBytes };
process.stdout.write(`${JSON.stringify({ what: 'index', ...index })}\n`);
await client.close();

for (const [shuffle, hedgeShare] of SHUFFLES.flatMap((name) => [[name, 0] as const, [name, null] as const])) {
  store.resetCounters();
  const set = hedgeShare === null ? {} : { 'hedge.share': hedgeShare };
  const feed = await openFeed({
    ...{ manifest, s3, shuffle, set, batchSamples: 64, seed: 1, tail: 'partial' },
  });
  let delivered = 0;
  for await (const batch of feed) {
    delivered += batch.length;
    batch.release();
  }
  const { retries, hedges } = feed.stats();
  const document = {
    what: 'feed',
    shuffle,
    hedging: hedgeShare === null,
    retries,
    hedges,
    samples: delivered,
    bytes_fetched_over_needed: Number((store.counters.bytesSent / manifest.totalLength).toFixed(4)),
    requests_per_sample: Number((store.counters.gets / delivered).toFixed(4)),
  };
  process.stdout.write(`${JSON.stringify(document)}\n`);
}
await store.close();
