// How a feed asks a store for the samples of tar shards, by the store's own count; bench/tar-shape.ts measures the same at length.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openFeed } from '../../runtime-node/feed/open.js';
import { startStore } from '../store/index.js';
import { tar } from './tar-writer.js';

const SHARDS = 4;
const SAMPLES = 100;
const SAMPLE_BYTES = 100_000;

const SHAPES: [shuffle: 'none' | 'block' | 'sample', mostBytes: number, mostRequests: number][] = [
  ['none', 1.02, 0.2],
  ['block', 1.05, 1],
  ['sample', 1.02, 1],
];
for (const [shuffle, mostBytes, mostRequests] of SHAPES) {
  test(`shuffle ${shuffle}: at most ${mostBytes} bytes for a byte, ${mostRequests} requests for a sample`, async () => {
    const store = await startStore({ seed: 5 });
    try {
      store.createBucket('data');
      for (let shard = 0; shard < SHARDS; shard++) {
        const members = Array.from({ length: SAMPLES }, (_, i) => ({
          name: `${i}.jpg`,
          data: new Uint8Array(SAMPLE_BYTES + i),
        }));
        store.put('data', `${shard}.tar`, tar(members));
      }
      const { accessKeyId, secretAccessKey } = store.credentials;
      Object.assign(process.env, { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey });
      const feed = await openFeed({
        ...{ source: 's3://data/', s3: { endpoint: store.endpoint, region: store.region } },
        // A hedge depends on how busy the machine is: what is counted here is how ranges are split and merged.
        ...{ shuffle, batchSamples: 32, seed: 1, tail: 'partial', set: { 'hedge.share': 0 } },
      });
      const isRead = (range: string | null): boolean => lengthOf(range) >= SAMPLE_BYTES;
      let needed = 0;
      for await (const batch of feed) {
        needed += batch.sizeBytes;
        batch.release();
      }
      assert.is(feed.stats().samples, SHARDS * SAMPLES);
      const reads = store.requests().filter(({ operation, range }) => operation === 'get' && isRead(range));
      const fetched = reads.reduce((sum, { range }) => sum + lengthOf(range), 0);
      assert.ok(fetched >= needed, 'each byte was read');
      assert.ok(fetched / needed <= mostBytes, `${fetched / needed} bytes for a byte`);
      const requests = reads.length / (SHARDS * SAMPLES);
      assert.ok(requests <= mostRequests, `${requests} requests for a sample`);
    } finally {
      await store.close();
    }
  });
}

/** Of `bytes=FROM-TO`; 0 where there is none. */
function lengthOf(range: string | null): number {
  const found = /^bytes=(\d+)-(\d+)$/.exec(range ?? '');
  return found === null ? 0 : Number(found[2]) - Number(found[1]) + 1;
}

test.run();
