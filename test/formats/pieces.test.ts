// By what a later run knows a piece of work again, and where it must not.
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { IndexUnit, SampleFormat, SampleRow } from '../../runtime-node/formats/format.js';
import { mdsFormat } from '../../runtime-node/formats/mds/mds.js';
import { parquetFormat } from '../../runtime-node/formats/parquet/parquet.js';
import { type IndexedRows, type IndexJob, indexRows } from '../../runtime-node/formats/pipeline/index-run.js';
import { OldManifest } from '../../runtime-node/formats/pipeline/old-manifest.js';
import { namedPieces } from '../../runtime-node/formats/pipeline/pieces.js';
import { readManifest } from '../../runtime-node/manifest/arrow-file.js';
import { objectRow } from '../../runtime-node/manifest/object-rows.js';
import { writeRows } from '../../runtime-node/manifest/write-rows.js';
import type { ListedObject } from '../../runtime-node/s3/listing.js';
import { inFolder } from '../manifest/fixtures.js';
import { fixtureFile, fixtureFolder, MemoryBucket } from './memory-bucket.js';

const OF = { bucket: 'bucket', prefix: '' };

/** Objects whose ETags are as said, and else of key and size. */
function bucketOf(objects: Record<string, Uint8Array>, etags: Record<string, string | null> = {}) {
  const bucket = new MemoryBucket(objects);
  const listed = bucket
    .list()
    .map((object) => (object.key in etags ? { ...object, etag: etags[object.key] ?? null } : object));
  return { bucket, listed };
}

interface Given {
  bucket: MemoryBucket;
  listed: ListedObject[];
}

function run({ bucket, listed }: Given, over: Partial<IndexJob>): Promise<IndexedRows> {
  const lister = {
    async *listObjects() {
      yield listed;
    },
  };
  return indexRows({
    ...{ lister, openReader: async () => bucket, ...OF, format: 'auto', concurrency: 2, output: null },
    ...over,
  });
}

async function write(given: Given, output: string, over: Partial<IndexJob> = {}): Promise<IndexedRows> {
  const rows = await run(given, { output, ...over });
  await writeRows(output, { ...OF, format: rows.format, plannedFrom: rows.plannedFrom }, rows);
  rows.close(true);
  return rows;
}

const MDS = fixtureFolder('', 'mds', 'one');
const SHARDS = Object.keys(MDS).length - 1;
const LIST = { 'list.parquet': fixtureFile('parquet', 'columns', 'key_only.parquet') };

const SITUATIONS: [situation: string, etags: Record<string, string | null>, kept: number][] = [
  ['nothing changed', {}, SHARDS],
  ['a shard changed', { 'shard.00002.mds': '"new"' }, SHARDS - 1],
  ['the index changed, its shards did not', { 'index.json': '"new"' }, 0],
  ['the index has no ETag', { 'index.json': null }, 0],
];
for (const [situation, etags, kept] of SITUATIONS) {
  test(`MDS, ${situation}: ${kept} of ${SHARDS} shards are taken over, by a resumed run and by --update`, async () => {
    await inFolder(async (folder) => {
      const output = join(folder, 'm.arrow');
      const [before, now] = [bucketOf(MDS), bucketOf(MDS, etags)];
      (await run(before, { output })).close(false);
      const resumed = await run(now, { output });
      assert.is(resumed.pieces.fromWorkFile, kept, 'resumed');
      resumed.close(true);

      await write(before, output);
      const old = new OldManifest(await readManifest(output), output, OF);
      const updated = await write(now, output, { old, format: 'mds' });
      assert.is(updated.pieces.fromManifest, kept, 'updated');
      const again = new OldManifest(await readManifest(output), output, OF);
      const next = await write(now, output, { old: again, format: 'mds' });
      assert.is(next.pieces.fromManifest, etags['index.json'] === null ? 0 : SHARDS, 'after that');
    });
  });
}

test('MDS: an index with other columns over the same shards brings other fields', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    await write(bucketOf(MDS), output);
    const renamed = JSON.parse(Buffer.from(MDS['index.json']!).toString()) as {
      shards: { column_names: string[] }[];
    };
    for (const shard of renamed.shards) shard.column_names = shard.column_names.map((name) => `${name}_2`);
    const objects = { ...MDS, 'index.json': Buffer.from(JSON.stringify(renamed)) };
    const old = new OldManifest(await readManifest(output), output, OF);
    await write(bucketOf(objects, { 'index.json': '"new"' }), output, { old, format: 'mds' });
    const manifest = await readManifest(output);
    for (let row = 0; row < manifest.rows; row++)
      assert.ok(manifest.fields(row)!.every(({ name }) => name.endsWith('_2')));
  });
});

test('a Parquet list is read again when an object of the listing changed, and always by --update', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    const keys = await listedKeys();
    const objects = { ...LIST, ...Object.fromEntries(keys.map((key) => [key, Buffer.from('data')])) };
    const before = bucketOf(objects);
    (await run(before, { output, format: 'parquet' })).close(false);
    const same = await run(before, { output, format: 'parquet' });
    assert.is(same.pieces.fromWorkFile, 1);
    same.close(false);
    const now = bucketOf(objects, { [keys[0]!]: '"new"' });
    const changed = await run(now, { output, format: 'parquet' });
    assert.is(changed.pieces.fromWorkFile, 0);
    assert.is([...changed.sorted()].find(({ key }) => key === keys[0])?.etag, '"new"');
    changed.close(true);
    await write(now, output, { format: 'parquet' });
    const old = new OldManifest(await readManifest(output), output, OF);
    const updated = await write(now, output, { old, format: 'parquet' });
    assert.equal([updated.pieces.fromManifest, updated.pieces.read], [0, 1]);
    assert.equal(updated.update, { added: 0, removed: 0, changed: 0, unchanged: keys.length });
  });
});

async function listedKeys(): Promise<string[]> {
  const bucket = new MemoryBucket(LIST);
  const stat = async (key: string): Promise<ListedObject> => ({
    ...{ key, sizeBytes: 4, etag: '"x"', storageClass: null, archived: false },
  });
  const reader = { read: bucket.read.bind(bucket), stat };
  const { units } = await parquetFormat.plan(bucket.list(), '', reader);
  const keys = new Set<string>();
  for (const unit of units)
    for await (const rows of unit.rows(reader)) for (const { key } of rows) keys.add(key);
  return [...keys];
}

/** Two pieces an object: its first half and its second. */
const HALVES: SampleFormat = {
  name: 'npy',
  claims: () => true,
  async plan(objects) {
    const halfOf = (object: ListedObject, second: boolean): IndexUnit => ({
      object,
      async *rows() {
        const half = object.sizeBytes / 2;
        const row: SampleRow = { ...objectRow(object), offset: second ? half : 0, length: half };
        yield [row];
      },
    });
    return { units: objects.flatMap((object) => [halfOf(object, false), halfOf(object, true)]), notes: [] };
  },
};

test('pieces of one object are told apart by their turn: none is lost or doubled', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    const given = bucketOf({ a: new Uint8Array(10), b: new Uint8Array(20) });
    const formats = [HALVES];
    const places = ['a 0 5', 'a 5 5', 'b 0 10', 'b 10 10'];
    const placesOf = (rows: IndexedRows) =>
      [...rows.sorted()].map(({ key, offset, length }) => `${key} ${offset} ${length}`);
    const first = await run(given, { output, formats });
    assert.equal(placesOf(first), places);
    first.close(false);
    const resumed = await run(given, { output, formats });
    assert.equal([placesOf(resumed), resumed.pieces.fromWorkFile], [places, 4]);
    resumed.close(true);
    await write(given, output, { formats });
    const old = new OldManifest(await readManifest(output), output, OF);
    const updated = await run(given, { output: null, formats, old, format: 'npy' });
    assert.equal([placesOf(updated), updated.pieces.read], [places, 4]);
    updated.close(true);
  });
});

test('names of pieces: one for each, none without an ETag', async () => {
  const [a, b] = bucketOf({ a: new Uint8Array(1), b: new Uint8Array(1) }, { b: null }).listed;
  const unit = (object: ListedObject, plannedFrom?: string | null): IndexUnit => ({
    ...{ object, plannedFrom },
    async *rows() {},
  });
  const names = namedPieces([unit(a!), unit(a!), unit(a!, 'x'), unit(a!, null), unit(b!)]).map(
    ({ id }) => id,
  );
  assert.equal(
    names.map((name) => name === null),
    [false, false, false, true, true],
  );
  assert.is(new Set(names.slice(0, 3)).size, 3);
  const { units } = await mdsFormat.plan(bucketOf(MDS).listed, '', new MemoryBucket(MDS));
  assert.is(new Set(namedPieces(units).map(({ id }) => id)).size, SHARDS);
});

test.run();
