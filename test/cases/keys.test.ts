import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { assertFails, assertWhole, BUCKET, situation } from './kit.js';

situation(1, 'keys that are easy to encode wrongly', 'test/s3/keys.test.ts', {}, async ({ store, feed }) => {
  const keys = [
    ...[
      'a=b',
      'a+b',
      'a%b',
      'a%20b',
      'a b',
      'a^b',
      'a#b',
      'a?b',
      'a&b',
      "a'()!*b",
      '\u00e9',
      'e\u0301',
      '😀',
      'x/ö/1.jpg',
    ],
  ];
  for (const [seed, key] of keys.entries()) store.put(BUCKET, key, { sizeBytes: 100 + seed, seed });
  assertWhole(await feed(), keys);
});

situation(
  2,
  'keys that a tidying server would fold',
  'test/s3/keys.test.ts, test/manifest/refusals.test.ts',
  {},
  async ({ store, feed }) => {
    const keys = ['/a', 'a//b', 'a/../b', 'a/./b', 'b', 'a/b', 'a'];
    for (const [seed, key] of keys.entries()) store.put(BUCKET, key, { sizeBytes: 100, seed });
    assertWhole(await feed(), keys);
    // Without an ETag nothing would tell whose bytes came.
    for (const key of ['a/../b', 'a//b']) {
      const manifest = manifestFromColumns({ keys: [key], lengths: [100] });
      assertFails(await feed({ manifest, batchSamples: 1 }), 'refused', /cannot be addressed/, key);
    }
    assert.throws(() => manifestFromColumns({ keys: [''], lengths: [1] }), /key/);
  },
);

situation(
  3,
  'a page of 1,000 keys full of XML entities',
  'test/s3/listing.test.ts',
  {},
  async ({ store, feed }) => {
    const keys = Array.from({ length: 1000 }, (_, i) => `a&b<c>"${i}"`);
    for (const [seed, key] of keys.entries()) store.put(BUCKET, key, { sizeBytes: 3, seed });
    assertWhole(await feed({ batchSamples: 500 }), keys);
    assert.is(store.requests().filter(({ operation }) => operation === 'list').length, 1);
  },
);

situation(4, '2,501 keys over three pages', 'test/s3/listing.test.ts', {}, async ({ store, feed }) => {
  const keys = Array.from({ length: 2501 }, (_, i) => `k/${i}`);
  for (const key of keys) store.put(BUCKET, key, { sizeBytes: 0, seed: 1 });
  assertWhole(await feed({ batchSamples: 500 }), keys);
  assert.is(store.requests().filter(({ operation }) => operation === 'list').length, 3);
});

for (const [how, whole] of [
  ['no-token', false],
  ['same-token', false],
  ['empty-page', true],
  ['unordered', true],
] as const) {
  situation(
    4,
    `a listing with ${how}`,
    'test/s3/listing.test.ts',
    { pageSize: 10 },
    async ({ store, feed }) => {
      const keys = Array.from({ length: 25 }, (_, i) => `k/${i}`);
      for (const [seed, key] of keys.entries()) store.put(BUCKET, key, { sizeBytes: 10, seed });
      const times = how === 'same-token' ? 10 : 1;
      store.faults.add({
        match: { operation: 'list', afterRequests: 1 },
        times,
        fault: { kind: 'listing', how },
      });
      const outcome = await feed();
      if (whole) assertWhole(outcome, keys);
      else assertFails(outcome, 'listing_broken', /s3:\/\/data/);
    },
  );
}

situation(
  5,
  'what a prefix matches',
  'test/s3/listing.test.ts, test/manifest/listing.test.ts',
  {},
  async ({ store, feed }) => {
    for (const key of ['train', 'train/1', 'train2/1']) store.put(BUCKET, key, { sizeBytes: 10, seed: 1 });
    const rows: [prefix: string, keys: string[]][] = [
      ['train', ['train', 'train/1', 'train2/1']],
      ['train/', ['train/1']],
      ['train2', ['train2/1']],
    ];
    for (const [prefix, keys] of rows) assertWhole(await feed({ source: `s3://${BUCKET}/${prefix}` }), keys);
    assertFails(await feed({ source: `s3://${BUCKET}/trains` }), 'no_objects', /trains/);
  },
);

situation(
  6,
  'folder markers, and an object beside its folder',
  'test/manifest/listing.test.ts',
  {},
  async ({ store, feed }) => {
    for (const key of ['train/', 'out', 'out/x']) {
      store.put(BUCKET, key, { sizeBytes: key === 'train/' ? 0 : 10, seed: 1 });
    }
    assertWhole(await feed(), ['out', 'out/x']);
  },
);

situation(
  7,
  'empty samples and samples of one byte, anywhere',
  'test/engine/scripted.test.ts, test/feed/store.test.ts',
  {},
  async ({ store, feed }) => {
    const { etag } = store.put(BUCKET, 'shard', { sizeBytes: 50, seed: 3 });
    const ranges = [
      [0, 0],
      [0, 1],
      [10, 0],
      [10, 30],
      [49, 1],
      [50, 0],
    ] as const;
    const manifest = manifestFromColumns({
      keys: ranges.map(() => 'shard'),
      offsets: ranges.map(([offset]) => offset),
      lengths: ranges.map(([, length]) => length),
      objectSizes: ranges.map(() => 50),
      etags: ranges.map(() => etag),
    });
    for (const batchSamples of [1, 6]) {
      assertWhole(
        await feed({ manifest, batchSamples }),
        ranges.map(() => 'shard'),
      );
    }
    assert.is(store.counters.statuses[416], undefined);
    // Objects of no bytes: first, in the middle, last.
    const sizes = [0, 1, 0, 5, 0];
    for (const [n, sizeBytes] of sizes.entries()) store.put(BUCKET, `e/${n}`, { sizeBytes, seed: n });
    assertWhole(
      await feed({ source: `s3://${BUCKET}/e/` }),
      sizes.map((_, n) => `e/${n}`),
    );
  },
);

test.run();
