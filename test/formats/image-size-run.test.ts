// Index runs that read sizes of pictures, over objects in memory.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Os2gError } from '../../runtime-node/errors.js';
import { NO_PICTURE } from '../../runtime-node/formats/jpeg/sized-unit.js';
import { type IndexJob, indexRows, workFileOf } from '../../runtime-node/formats/pipeline/index-run.js';
import { OldManifest } from '../../runtime-node/formats/pipeline/old-manifest.js';
import { readManifest } from '../../runtime-node/manifest/arrow-file.js';
import { writeRows } from '../../runtime-node/manifest/write-rows.js';
import { inFolder, thrown } from '../manifest/fixtures.js';
import { fixtureFile } from './memory-bucket.js';
import { MemoryStore } from './memory-store.js';
import { tar } from './tar-writer.js';

const OF = { bucket: 'bucket', prefix: '' };
const JPEG = Buffer.from(fixtureFile('images', 'baseline.jpg'));
const PNG = Buffer.from(fixtureFile('images', 'plain.png'));
const TEXT = Buffer.from('a caption, longer than any picture here, '.repeat(60));
const [JPEG_SIZE, PNG_SIZE, NONE] = ['31x17', '19x23', 'nullxnull'];

const PICTURES: Record<string, Uint8Array> = {
  'cats/a.jpg': JPEG,
  'cats/b.png': PNG,
  'dogs/cut.jpg': JPEG.subarray(0, 40),
  'dogs/empty.jpg': new Uint8Array(0),
  'dogs/text.jpg': TEXT,
};
const SIZES = [JPEG_SIZE, PNG_SIZE, NONE, NONE, NONE];

const storeOf = (objects: Record<string, Uint8Array>) => new MemoryStore(new Map(Object.entries(objects)));

function job(store: MemoryStore, over: Partial<IndexJob> = {}): IndexJob {
  const listed = store.listed();
  return {
    lister: {
      async *listObjects() {
        yield listed;
      },
    },
    openReader: async () => store,
    ...{ ...OF, format: 'auto', concurrency: 3, output: null, imageSize: true },
    ...over,
  };
}

async function indexed(store: MemoryStore, over: Partial<IndexJob> = {}) {
  const rows = await indexRows(job(store, over));
  const sorted = [...rows.sorted()];
  rows.close(true);
  return { ...rows, sorted, sizes: sorted.map(({ width, height }) => `${width}x${height}`) };
}

/** Indexes into the file, by the old one where there is one. */
async function written(output: string, store: MemoryStore, over: Partial<IndexJob> = {}) {
  const old = existsSync(output) ? new OldManifest(await readManifest(output), output, OF) : null;
  const rows = await indexRows(job(store, { output, old, format: 'objects', ...over }));
  const { format, plannedFrom } = rows;
  await writeRows(output, { ...OF, format, plannedFrom }, rows);
  rows.close(true);
  const manifest = await readManifest(output);
  const sizes = Array.from({ length: manifest.rows }, (_, i) => `${manifest.width(i)}x${manifest.height(i)}`);
  return { ...rows, manifest, sizes };
}

test('plain objects: each is looked into by 1 KiB or less, what is no picture is null, counted and named', async () => {
  const store = storeOf(PICTURES);
  const { sorted, sizes, format, optional, notes, pictures, pieces } = await indexed(store, {
    concurrency: 1,
  });
  assert.equal(sizes, SIZES);
  assert.equal(
    sorted.map(({ label, offset, length }) => [label, offset, length]),
    Object.entries(PICTURES).map(([key, bytes]) => [key.split('/')[0], 0, bytes.length]),
  );
  assert.equal([format, optional, pieces.read], ['objects', ['label', 'width', 'height'], 5]);
  assert.equal(pictures, { sized: 2, without: 3 });
  assert.equal(notes, [`${NO_PICTURE}: 3 (dogs/cut.jpg, dogs/empty.jpg, dogs/text.jpg)`]);
  assert.ok(store.ranges.every(([, , length]) => length <= 1024));
  assert.is(store.requests, 4, 'an empty object is not asked for');
});

test('without the option nothing is read of plain objects', async () => {
  const store = storeOf(PICTURES);
  const { sorted, pictures } = await indexed(store, { imageSize: false });
  assert.equal([sorted.length, store.requests, pictures], [5, 0, null]);
});

test('tar: the size is that of the picture among the fields, wherever it stands', async () => {
  const members = [
    { name: '0.txt', data: TEXT },
    { name: '0.jpg', data: JPEG },
    { name: '1.png', data: PNG },
    { name: '1.cls', data: Buffer.from('7') },
    { name: '2.txt', data: TEXT },
  ];
  const { sizes, notes, pictures } = await indexed(storeOf({ 's.tar': tar(members) }));
  assert.equal(sizes, [JPEG_SIZE, PNG_SIZE, NONE]);
  assert.equal([notes, pictures], [[`${NO_PICTURE}: 1 (s.tar)`], { sized: 2, without: 1 }]);
});

test('.npy: refused, before anything is read', async () => {
  const store = storeOf({ 'a.npy': TEXT });
  const error = (await thrown(() => indexRows(job(store)))) as Os2gError;
  assert.equal([error.code, error.context.option, store.requests], ['bad_option', 'image-size', 0]);
});

test('order, number at one time and spilling leave no trace', async () => {
  await inFolder(async (folder) => {
    const want = (await indexed(storeOf(PICTURES), { concurrency: 1 })).sorted;
    const output = join(folder, 'm.arrow');
    const other = { output, concurrency: 5, limits: { rows: 2, bytes: 2 ** 20 } };
    const turned = storeOf(Object.fromEntries(Object.entries(PICTURES).reverse()));
    assert.equal((await indexed(turned, other)).sorted, want);
  });
});

test('a run that was ended goes on with the sizes that it had; a run without them does not take those', async () => {
  for (const imageSize of [true, false]) {
    await inFolder(async (folder) => {
      const output = join(folder, 'm.arrow');
      const shards = { 'a.tar': tar([{ name: '0.jpg', data: JPEG }]), 'b.tar': Buffer.alloc(2048, 1) };
      const error = (await thrown(() =>
        indexRows(job(storeOf(shards), { output, concurrency: 1 })),
      )) as Os2gError;
      assert.is(error.code, 'bad_shard');
      assert.ok(existsSync(workFileOf(output)));
      const mended = storeOf({ ...shards, 'b.tar': tar([{ name: '0.png', data: PNG }]) });
      const again = await indexed(mended, { output, imageSize });
      assert.is(again.pieces.fromWorkFile, imageSize ? 1 : 0);
      assert.equal(again.sizes, imageSize ? [JPEG_SIZE, PNG_SIZE] : [NONE, NONE]);
    });
  }
});

test('plain objects: after an end in the middle only what was not read is, and what changed since', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    const keys = Array.from({ length: 300 }, (_, i) => `p/${String(i).padStart(3, '0')}.jpg`);
    const objects = Object.fromEntries(keys.map((key, i) => [key, i % 10 === 3 ? TEXT : JPEG]));
    const broken = storeOf(objects);
    const read = broken.read.bind(broken);
    broken.read = (object, ...range) => {
      if (object.key === keys[290]) throw new Error('the store went away');
      return read(object, ...range);
    };
    const limits = { rows: 20, bytes: 2 ** 20 };
    const error = await thrown(() => indexRows(job(broken, { output, concurrency: 2, limits })));
    assert.match(String(error), /the store went away/);

    const now = storeOf({ ...objects, [keys[0]!]: PNG, 'p/zzz.jpg': JPEG });
    const again = await indexed(now, { output, limits });
    const asked = new Set(now.ranges.map(([key]) => key));
    assert.ok(again.pieces.fromWorkFile >= 190 && again.pieces.fromWorkFile < 290, 'whole pieces are kept');
    assert.is(asked.size, again.pieces.read);
    assert.is(again.pieces.read + again.pieces.fromWorkFile, 301);
    assert.ok([keys[0]!, keys[290]!, 'p/zzz.jpg'].every((key) => asked.has(key)));
    const anew = await indexed(storeOf({ ...objects, [keys[0]!]: PNG, 'p/zzz.jpg': JPEG }), {
      concurrency: 1,
    });
    assert.equal([again.sorted, again.pictures], [anew.sorted, anew.pictures]);
    assert.match(again.notes.join(), /are null: 30 \(/);
    assert.match(anew.notes.join(), /are null: 30 \(/);
    assert.not(existsSync(workFileOf(output)));
  });
});

test('a listing that names a key twice: refused, however far apart', async () => {
  const store = storeOf(PICTURES);
  const listed = store.listed();
  const lister = {
    async *listObjects() {
      yield listed;
      yield listed.slice(0, 1);
    },
  };
  const error = (await thrown(() => indexRows({ ...job(store), lister }))) as Os2gError;
  assert.is(error.code, 'bad_listing');
});

test('update: sizes come to rows that had none, and stay; own labels, too; without the option that is said', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    await written(output, storeOf(PICTURES), { imageSize: false });
    const manifest = await readManifest(output);
    const mine = Array.from({ length: manifest.rows }, (_, row) => ({
      ...{ key: manifest.key(row), offset: 0, length: manifest.length(row), etag: manifest.etag(row) },
      ...{ objectSizeBytes: manifest.objectSize(row), label: 'mine', fields: null },
      ...{ width: null, height: null, dtype: null, shape: null },
    }));
    await writeRows(output, manifest.facts, { rows: mine.length, optional: ['label'], sorted: () => mine });

    const first = await written(output, storeOf(PICTURES));
    assert.equal(first.sizes, SIZES);
    assert.equal(first.update, { added: 0, removed: 0, changed: 0, unchanged: 5 });
    assert.ok(mine.every((_, row) => first.manifest.label(row) === 'mine'));

    const store = storeOf({ ...PICTURES, 'new.png': PNG });
    const second = await written(output, store);
    assert.equal(second.sizes, [...SIZES, PNG_SIZE]);
    assert.equal(
      store.ranges.map(([key]) => key).sort(),
      ['dogs/cut.jpg', 'dogs/text.jpg', 'new.png'],
      'only what has no size, and what is new',
    );

    const third = await written(output, storeOf({ ...PICTURES, 'z.png': PNG }), { imageSize: false });
    assert.equal(third.sizes, [...SIZES, NONE]);
    assert.match(third.notes.join(), /the old manifest has sizes of pictures: .*--image-size/);
  });
});

test.run();
