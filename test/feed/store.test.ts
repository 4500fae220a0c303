import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openFeed } from '../../runtime-node/feed/open.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { writeManifest } from '../../runtime-node/manifest/arrow-file.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { type ScriptedStore, type StoreOptions, startStore } from '../store/index.js';
import { inFolder, rejects } from './kit.js';

const BUCKET = 'data';
const SEED = 26;

/** A store with objects `train/0 ...` of 1 to 9,000 bytes. */
async function withStore(
  objects: number,
  options: StoreOptions,
  use: (store: ScriptedStore) => Promise<void>,
): Promise<void> {
  const store = await startStore({ anonymous: true, seed: SEED, ...options });
  try {
    store.createBucket(BUCKET);
    for (let i = 0; i < objects; i++)
      store.put(BUCKET, `train/${i}`, { sizeBytes: 1 + ((i * 7919) % 9000), seed: i });
    await use(store);
    await until(() => store.openSockets === 0, 'all sockets closed');
  } finally {
    await store.close();
  }
}

/** What the other end of a socket sees comes a little later. */
async function until(condition: () => boolean, what: string): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    assert.ok(turns < 2000, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function optionsFor(store: ScriptedStore, options: Partial<FeedOptions> = {}): FeedOptions {
  const source = options.manifest ? {} : { source: `s3://${BUCKET}/train/` };
  return {
    s3: { endpoint: store.endpoint, region: 'us-east-1', anonymous: true },
    batchSamples: 8,
    ...source,
    ...options,
  };
}

/** Reads everything, checking each byte against what the store holds. */
async function readAll(store: ScriptedStore, options: Partial<FeedOptions> = {}): Promise<FeedStats> {
  const feed = await openFeed(optionsFor(store, options));
  for await (const batch of feed) {
    for (let i = 0; i < batch.length; i++) {
      if (batch.skipped(i)) continue;
      const bytes = batch.bytes(i);
      const row = batch.row(i);
      const offset = feed.manifest.offset(row);
      const expected = store.expectedBytes(BUCKET, batch.key(i), offset, bytes.length);
      assert.ok(Buffer.from(expected).equals(bytes), `bytes of ${batch.key(i)}`);
      assert.is(bytes.length, feed.manifest.length(row));
    }
  }
  return feed.stats();
}

test('a listed source, every policy: all bytes, no socket left', () =>
  withStore(100, {}, async (store) => {
    for (const policy of ['sync', 'readahead', 'os2g']) {
      const stats = await readAll(store, { policy, epochs: 2, tail: 'partial' });
      assert.equal([stats.samples, stats.batches, stats.list_requests], [200, 26, 1]);
      assert.is(stats.requests - stats.hedges - stats.retries, 200);
    }
  }));

test('samples inside one object: neighbours are merged, and empty ones need no request', () =>
  withStore(1, {}, async (store) => {
    const sizeBytes = 100_000;
    const { etag } = store.put(BUCKET, 'shard', { sizeBytes, seed: 5 });
    const lengths = Array.from({ length: 100 }, (_, i) => (i % 10 === 0 ? 0 : 900));
    const offsets = lengths.map((_, i) => i * 1000);
    offsets[0] = sizeBytes; // an empty range that starts at the end
    const keys = lengths.map(() => 'shard');
    const manifest = manifestFromColumns({
      keys,
      offsets,
      lengths,
      etags: keys.map(() => etag),
      objectSizes: keys.map(() => sizeBytes),
    });
    const merged = await readAll(store, { manifest, bucket: BUCKET, shuffle: 'none', batchSamples: 50 });
    assert.is(merged.samples, 100);
    assert.ok(merged.requests - merged.hedges <= 10, `${merged.requests} requests`);
    const single = await readAll(store, {
      manifest,
      bucket: BUCKET,
      set: { 'merge.bytes': '0B' },
      batchSamples: 50,
    });
    assert.is(single.requests - single.hedges, 90);
  }));

test('a manifest file: the data set that a listing finds, and no listing', () =>
  withStore(30, {}, (store) =>
    inFolder(async (folder) => {
      const path = join(folder, 'train.arrow');
      const objects = [...Array(30).keys()]
        .map((i) => store.put(BUCKET, `train/${i}`, { sizeBytes: i, seed: i }))
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      const columns = {
        keys: objects.map(({ key }) => key),
        lengths: objects.map(({ sizeBytes }) => sizeBytes),
        etags: objects.map(({ etag }) => etag),
        bucket: BUCKET,
      };
      await writeManifest(path, manifestFromColumns(columns));
      const stats = await readAll(store, { manifest: path });
      assert.equal([stats.samples, stats.list_requests], [24, 0]);
      const listed = await readAll(store);
      assert.is(listed.cursor.dataset_hash, stats.cursor.dataset_hash);
    }),
  ));

test('a private bucket, asked without credentials: what to leave out', () =>
  withStore(2, { anonymous: false }, async (store) => {
    const manifest = manifestFromColumns({ keys: ['train/0', 'train/1'], lengths: [1, 7920] });
    const feed = await openFeed(optionsFor(store, { manifest, bucket: BUCKET, batchSamples: 1 }));
    const error = await rejects(feed.next(), 'forbidden');
    assert.match(String(error.mend), /^leave s3\.anonymous out and give credentials/);
    await feed.close();
  }));

test('503 above a rate: no failure, and few requests more than needed', () =>
  withStore(304, { requestRate: { requestsPerS: 150, burst: 4 } }, async (store) => {
    const run = { rank: 0, worldSize: 2, memoryBytes: 2 ** 22 };
    const results = await Promise.all([readAll(store, run), readAll(store, { ...run, rank: 1 })]);
    const useful = results.reduce((sum, stats) => sum + stats.samples, 0);
    const sent = results.reduce((sum, stats) => sum + stats.requests, 0);
    assert.is(useful, 304);
    assert.ok(store.counters.throttled > 0, 'the cap was not reached');
    assert.ok(sent <= useful * 3, `${sent} requests for ${useful} samples`);
    assert.ok(results.some((stats) => stats.stall_s.throttle > 0));
  }));

test('bodies that are cut, late or wrong: retried, and right in the end', () =>
  withStore(60, {}, async (store) => {
    store.faults.add({
      match: { operation: 'get', every: 5 },
      times: 6,
      fault: { kind: 'cut', afterBodyShare: 0.5, how: 'rst' },
    });
    store.faults.add({
      match: { operation: 'get', every: 7 },
      times: 4,
      fault: { kind: 'wrong-length', bodyDelta: 10 },
    });
    store.faults.add({ match: { operation: 'get', every: 9 }, times: 3, fault: { kind: 'silence' } });
    const stats = await readAll(store, {
      set: { 'limits.first_byte': '200ms', 'limits.idle': '200ms', 'retry.base': '1ms' },
    });
    assert.is(stats.samples, 56);
    // A hedge may come before the retry of what it stands in for.
    const again = stats.retries + stats.hedges;
    assert.ok(again >= 8, `${again} requests sent again`);
  }));

test('connections that the store closes while the trainer computes: the epoch completes', () =>
  withStore(40, { idleCloseMs: 20 }, async (store) => {
    const feed = await openFeed(optionsFor(store, { set: { 'window.samples': 8 } }));
    let samples = 0;
    for await (const batch of feed) {
      samples += batch.length;
      await until(() => store.openSockets === 0, 'the store closed its idle connections');
    }
    assert.is(samples, 40);
  }));

test('an object replaced after the listing: both ETags named; size alone takes it', () =>
  withStore(20, {}, async (store) => {
    const open = (options: Partial<FeedOptions>): Promise<Awaited<ReturnType<typeof openFeed>>> =>
      openFeed(optionsFor(store, { batchSamples: 20, shuffle: 'none', policy: 'sync', ...options }));
    for (const verify of ['etag', 'size'] as const) {
      const etags = [store.put(BUCKET, 'train/7', { sizeBytes: 500, seed: 100 }).etag];
      const feed = await open({
        verify,
        onListed: () => void etags.push(store.put(BUCKET, 'train/7', { sizeBytes: 500, seed: 200 }).etag),
      });
      if (verify === 'size') {
        assert.is((await feed.next())?.length, 20);
      } else {
        const error = await rejects(feed.next(), 'changed');
        const context = error.context as Record<string, unknown>;
        assert.is(context.key, 'train/7');
        for (const part of ['train/7', ...etags]) assert.ok(error.message.includes(part), error.message);
      }
      await feed.close();
    }
  }));

test('a missing object: fail names it, skip leaves it out', () =>
  withStore(16, {}, async (store) => {
    const gone = (): void => void store.delete(BUCKET, 'train/3');
    const feed = await openFeed(optionsFor(store, { onListed: gone }));
    const all = async (): Promise<void> => {
      while (await feed.next());
    };
    const error = await rejects(all(), 'not_found');
    const context = error.context as Record<string, unknown>;
    assert.equal(
      [context.key, context.bucket, context.status, context.s3Code],
      ['train/3', BUCKET, 404, 'NoSuchKey'],
    );
    assert.ok(context.requestId);
    await feed.close();
    store.put(BUCKET, 'train/3', { sizeBytes: 10, seed: 3 });
    const stats = await readAll(store, { onListed: gone, onError: 'skip', maxSkips: 1 });
    assert.is(stats.samples, 15);
    assert.equal(
      stats.skipped.map(({ key, code }) => [key, code]),
      [['train/3', 'not_found']],
    );
  }));

test('abort while the store is silent: next() rejects, no socket left', () =>
  withStore(40, {}, async (store) => {
    store.faults.add({ match: { operation: 'get' }, fault: { kind: 'silence', afterBodyBytes: 0 } });
    const controller = new AbortController();
    const feed = await openFeed(optionsFor(store, { signal: controller.signal }));
    const waiting = rejects(feed.next(), 'aborted');
    await until(() => store.openSockets > 0, 'a socket opened');
    controller.abort();
    await waiting;
    await feed.close();
  }));

test('abort while the listing runs', () =>
  withStore(40, { pageSize: 5 }, async (store) => {
    const controller = new AbortController();
    await rejects(
      openFeed(optionsFor(store, { signal: controller.signal, onListed: () => controller.abort() })),
      'aborted',
    );
  }));

test('a manifest without its bucket, and a bucket that is not there', () =>
  withStore(3, {}, async (store) => {
    const manifest = manifestFromColumns({ keys: ['train/0'], lengths: [1] });
    const error = await rejects(openFeed(optionsFor(store, { manifest, batchSamples: 1 })), 'bad_option');
    assert.is((error.context as { option: string }).option, 'bucket');
    const feed = await openFeed(optionsFor(store, { manifest, batchSamples: 1, bucket: 'nowhere' }));
    const missing = await rejects(feed.next(), 'not_found');
    assert.is((missing.context as { s3Code: string }).s3Code, 'NoSuchBucket');
    await feed.close();
  }));

const QUARTERS = 20_000;

for (const verify of ['etag', 'size'] as const) {
  for (const inManifest of [true, false]) {
    for (const nth of [2, 3, 4, 5]) {
      const what = `verify ${verify}, ETag ${inManifest ? 'in the manifest' : 'unknown'}, before GET ${nth}`;
      test(`8: an object replaced while its parts are under way is never mixed: ${what}`, async () => {
        // A latency, so that all parts are sent before the first is answered.
        await withStore(0, { latency: { kind: 'constant', value: 5 } }, async (store) => {
          const { etag } = store.put(BUCKET, 'k', Buffer.alloc(QUARTERS, 'A'));
          const body = Buffer.alloc(QUARTERS, 'B');
          const fault = { kind: 'replace', when: 'before', body } as const;
          store.faults.add({ match: { operation: 'get', nth }, times: 1, fault });
          const manifest = manifestFromColumns({
            keys: ['k'],
            lengths: [QUARTERS],
            offsets: [0],
            objectSizes: [QUARTERS],
            etags: [inManifest ? etag : null],
          });
          const feed = await openFeed(
            optionsFor(store, {
              manifest,
              bucket: BUCKET,
              batchSamples: 1,
              verify,
              set: { 'split.bytes': '4KiB' },
            }),
          );
          const error = await rejects(feed.next(), 'changed');
          assert.match(error.message, /"[0-9a-f]{32}".*"[0-9a-f]{32}"/, 'both ETags are named');
          await feed.close();
        });
      });
    }
  }
}

test.run();
