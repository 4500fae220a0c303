import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AbortedError, StoreError } from '../../runtime-node/errors.js';
import { writeManifest } from '../../runtime-node/manifest/arrow-file.js';
import {
  type ListedObject,
  listManifest,
  type ObjectLister,
} from '../../runtime-node/manifest/index-objects.js';
import { inFolder, thrown } from './fixtures.js';

const SEED = 8_191;

function object(key: string, sizeBytes = 1, more: Partial<ListedObject> = {}): ListedObject {
  return { key, sizeBytes, etag: `"${key.length}"`, storageClass: null, archived: false, ...more };
}

function lister(pages: ListedObject[][]): ObjectLister {
  return {
    async *listObjects() {
      yield* pages;
    },
  };
}

function list(keys: string[], prefix = '') {
  return listManifest(lister([keys.map((key) => object(key))]), 'bucket', prefix);
}

async function keysOf(keys: string[], prefix = ''): Promise<string[]> {
  const { manifest } = await list(keys, prefix);
  return Array.from({ length: manifest.rows }, (_, row) => manifest.key(row));
}

const ORDERS: [name: string, listed: string[], sorted: string[]][] = [
  ['already sorted', ['a', 'b', 'c'], ['a', 'b', 'c']],
  ['emoji after U+FF5E, though its UTF-16 comes before', ['😀', '～', 'é', 'z'], ['z', 'é', '～', '😀']],
  ['a prefix of another first', ['ab', 'a', 'a/', 'a b'], ['a', 'a b', 'a/', 'ab']],
  ['upper case first, signs by byte', ['b', 'B', '_', '+', '%', '='], ['%', '+', '=', 'B', '_', 'b']],
];
for (const [name, listed, sorted] of ORDERS) {
  test(`sorted by bytes: ${name}`, async () => {
    assert.equal(await keysOf(listed), sorted);
  });
}

test('property: the order of the listing and of its pages leaves no trace in the file', async () => {
  const key = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    fc.constantFrom('～', '😀', 'a/b', 'a/b/c', 'a//b', '/a', '￿', '\u{10000}'),
  );
  const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 40 });
  await inFolder(async (folder) => {
    const bytesOf = async (pages: ListedObject[][]) => {
      const { manifest } = await listManifest(lister(pages), 'bucket', '');
      const path = join(folder, 'm.arrow');
      await writeManifest(path, manifest);
      return { bytes: await readFile(path), hash: manifest.datasetHash, manifest };
    };
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.infiniteStream(fc.nat(1e9)),
        fc.integer({ min: 1, max: 9 }),
        async (drawn, draws, size) => {
          const objects = drawn.map((name, i) => object(name, i + 1));
          const shuffled = objects
            .map((one) => ({ one, at: draws.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ one }) => one);
          const pages: ListedObject[][] = [];
          for (let i = 0; i < shuffled.length; i += size) pages.push(shuffled.slice(i, i + size), []);
          const first = await bytesOf([objects]);
          const second = await bytesOf(pages);
          assert.ok(first.bytes.equals(second.bytes));
          assert.is(first.hash, second.hash);
          const want = [...drawn].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
          for (const [row, name] of want.entries()) {
            assert.is(second.manifest.key(row), name);
            assert.is(second.manifest.length(row), drawn.indexOf(name) + 1);
            assert.is(second.manifest.objectSize(row), drawn.indexOf(name) + 1);
            assert.is(second.manifest.etag(row), `"${name.length}"`);
            assert.is(second.manifest.objectHandle(row), row);
          }
        },
      ),
      { numRuns: 100, seed: SEED },
    );
  });
});

const LABELS: [key: string, label: string | null][] = [
  ['name.jpg', null],
  ['/name.jpg', null],
  ['train/name.jpg', 'train'],
  ['train/cat/name.jpg', 'cat'],
  ['train/é😀/name.jpg', 'é😀'],
  ['train//name.jpg', null],
];
test('the label is the last folder', async () => {
  for (const [key, label] of LABELS) {
    // Neighbours with folders must not lend theirs.
    const { manifest } = await list(['!/x/!', key, '~/y/~']);
    assert.is(manifest.key(1), key);
    assert.is(manifest.label(1), label, key);
  }
});

test('folder markers are left out and counted; other empty objects are samples', async () => {
  const pages = [
    [object('t/', 0), object('t/a/', 0), object('t/a/x', 0), object('t/b/', 3)],
    [object('t/c/', 0)],
  ];
  const progress: unknown[] = [];
  const { manifest, notes } = await listManifest(lister(pages), 'bucket', 't/', {
    onProgress: (now) => progress.push(now),
  });
  assert.equal([manifest.key(0), manifest.key(1), manifest.rows], ['t/a/x', 't/b/', 2]);
  assert.equal(notes.markers, { count: 3, examples: ['t/', 't/a/', 't/c/'] });
  assert.is(notes.pages, 2);
  assert.equal(progress, [
    { objects: 2, pages: 1 },
    { objects: 2, pages: 2 },
  ]);
  assert.equal(manifest.facts, { bucket: 'bucket', prefix: 't/', format: 'objects' });
});

const PREFIXES: [prefix: string, outside: number, examples: string[]][] = [
  ['train', 3, ['train', 'train.tar', 'train2/1']],
  ['train/', 0, []],
  ['', 0, []],
  ['train.tar', 0, []], // one whole key
];
test('a prefix is a plain string; what is not below it as a folder is counted', async () => {
  for (const [prefix, outside, examples] of PREFIXES) {
    const keys = ['train', 'train.tar', 'train/1', 'train/2', 'train2/1'].filter((key) =>
      key.startsWith(prefix),
    );
    const { manifest, notes } = await list(keys, prefix);
    assert.is(manifest.rows, keys.length);
    assert.equal(notes.outsideFolder, { count: outside, examples }, prefix);
  }
});

test('empty objects stay rows and are counted; folder markers are none of them', async () => {
  const { manifest, notes } = await listManifest(
    lister([[object('t/', 0), object('t/a', 0), object('t/b', 1), object('t/c', 0)]]),
    'bucket',
    't/',
  );
  assert.is(manifest.rows, 3);
  assert.equal(notes.empty, { count: 2, examples: ['t/a', 't/c'] });
});

test('archived objects stay rows, are counted unless they are restored, and three are named', async () => {
  const classes: [storageClass: string | null, archived: boolean][] = [
    ['GLACIER', true],
    ['STANDARD', false],
    ['DEEP_ARCHIVE', true],
    ['GLACIER_IR', false],
    [null, false],
    ['GLACIER', false],
    ['GLACIER', true],
    ['DEEP_ARCHIVE', false],
    ['GLACIER', true],
  ];
  const page = classes.map(([storageClass, archived], i) => object(`k${i}`, 1, { storageClass, archived }));
  const { manifest, notes } = await listManifest(lister([page]), 'bucket', '');
  assert.is(manifest.rows, 9);
  assert.equal(notes.archived, { count: 4, examples: ['k0', 'k2', 'k6'] });
});

const FAILURES: [name: string, pages: ListedObject[][], prefix: string, code: string, says: RegExp][] = [
  ['nothing', [], 'tarin/', 'no_objects', /no objects in bucket bucket under the prefix "tarin\/"$/],
  ['nothing in the bucket', [[]], '', 'no_objects', /no objects in bucket bucket$/],
  ['only markers', [[object('t/', 0)]], 't', 'no_objects', /but 1 folder marker$/],
  ['a key twice', [[object('b'), object('a')], [object('b')]], '', 'bad_listing', /lists "b" twice/],
  ['a key of another prefix', [[object('x/a')]], 't/', 'bad_listing', /lists the key "x\/a" under "t\/"/],
  ['an empty key', [[object('')]], '', 'bad_listing', /lists the key ""/],
  ['half a character', [[object('\udc00')]], '', 'bad_listing', /lists the key/],
  ['a size that is none', [[object('a', -1)]], '', 'bad_listing', /the size -1/],
  ['a size that is no number', [[object('a', Number.NaN)]], '', 'bad_listing', /the size NaN/],
];
for (const [name, pages, prefix, code, says] of FAILURES) {
  test(`refused: ${name}`, async () => {
    const error = await thrown(() => listManifest(lister(pages), 'bucket', prefix));
    assert.instance(error, StoreError);
    if (!(error instanceof StoreError)) return;
    assert.is(error.code, code);
    assert.match(error.message, says);
    assert.is(error.context.bucket, 'bucket');
  });
}

test('an abort ends the listing, also of a store that does not look at the signal', async () => {
  const stop = new AbortController();
  const store = lister([[object('a')], [object('b')], [object('c')]]);
  const seen: number[] = [];
  const error = await thrown(() =>
    listManifest(store, 'bucket', '', {
      signal: stop.signal,
      onProgress: ({ objects }) => {
        seen.push(objects);
        if (objects === 2) stop.abort(new Error('enough'));
      },
    }),
  );
  assert.instance(error, AbortedError);
  assert.equal(seen, [1, 2]);
});

test('a failing listing passes its error on', async () => {
  const failure = new StoreError('listing_failed', 'half way', 'try again');
  const store: ObjectLister = {
    async *listObjects() {
      yield [object('a')];
      throw failure;
    },
  };
  assert.is(await thrown(() => listManifest(store, 'bucket', '')), failure);
});

test.run();
