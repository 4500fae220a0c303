import { spawnSync } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AbortedError, ConfigError } from '../../runtime-node/errors.js';
import { readManifest, writeManifest } from '../../runtime-node/manifest/arrow-file.js';
import { parseManifest } from '../../runtime-node/manifest/arrow-table.js';
import type { ColumnManifest } from '../../runtime-node/manifest/column-manifest.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { ManifestDescriber } from '../../runtime-node/manifest/describe.js';
import type { SampleField } from '../../runtime-node/manifest/manifest.js';
import { encode, inFolder, ROWS, type Row, rowsOf, thrown } from './fixtures.js';

const SEED = 20_250_307;

function inMemory(rows: readonly Row[], fields?: (SampleField[] | null)[]): ColumnManifest {
  return manifestFromColumns({
    bucket: 'bucket',
    prefix: 'train/é',
    format: 'objects',
    keys: rows.map((row) => row.key),
    offsets: rows.map((row) => row.offset),
    lengths: rows.map((row) => row.length),
    etags: rows.map((row) => row.etag),
    objectSizes: rows.map((row) => row.objectSize),
    labels: rows.map((row) => row.label ?? null),
    ...(fields === undefined ? {} : { fields }),
  });
}

async function written(manifest: ColumnManifest): Promise<Buffer> {
  return inFolder(async (folder) => {
    await writeManifest(join(folder, 'm.arrow'), manifest);
    assert.equal(await readdir(folder), ['m.arrow']);
    return readFile(join(folder, 'm.arrow'));
  });
}

test('written and read: the same rows, facts and hash; the same bytes whatever the source was', async () => {
  const fromMemory = await written(inMemory(ROWS));
  const read = parseManifest(fromMemory, 'm.arrow');
  assert.equal(rowsOf(read), ROWS);
  assert.equal(read.facts, { bucket: 'bucket', prefix: 'train/é', format: 'objects' });
  assert.is(read.datasetHash, inMemory(ROWS).datasetHash);
  const [plain, foreign] = await Promise.all([
    written(parseManifest(encode(ROWS, { batches: [9] }), 'a')),
    written(
      parseManifest(encode(ROWS, { text: 'dictionary of utf8', batches: [2, 7], kind: 'stream' }), 'b'),
    ),
  ]);
  assert.ok(plain.equals(foreign));
});

test('what a killed writer left beside the target is removed, what others write is not', async () => {
  const gone = spawnSync(process.execPath, ['--eval', '']).pid;
  const stale = `.m.arrow.${gone}.0123abcd.tmp`;
  const kept = [
    `.m.arrow.${process.pid}.0123abcd.tmp`,
    `.other.arrow.${gone}.0123abcd.tmp`,
    `.m.arrow.${gone}.tmp`,
    `m.arrow.${gone}.0123abcd.tmp`,
  ];
  await inFolder(async (folder) => {
    for (const name of [stale, ...kept]) await writeFile(join(folder, name), '');
    await writeManifest(join(folder, 'm.arrow'), inMemory(ROWS));
    assert.equal((await readdir(folder)).sort(), ['m.arrow', ...kept].sort());
  });
});

test('another reader sees the columns of the contract', async () => {
  const table = tableFromIPC(await written(inMemory(ROWS)));
  assert.equal(
    table.schema.fields.map((field) => `${field.name} ${field.type}${field.nullable ? ' or null' : ''}`),
    [
      'key Utf8',
      'offset Uint64',
      'length Uint64',
      'etag Utf8 or null',
      'object_size Uint64',
      'label Utf8 or null',
    ],
  );
  assert.equal(
    [...table.schema.metadata],
    [
      ['os2g.manifest', '1'],
      ['os2g.bucket', 'bucket'],
      ['os2g.prefix', 'train/é'],
      ['os2g.format', 'objects'],
    ],
  );
  assert.equal(
    table.toArray().map((row) => [row.key, Number(row.object_size), row.etag]),
    ROWS.map((row) => [row.key, row.objectSize, row.etag]),
  );
});

test('property: any rows come back, with handles of neighbouring runs', async () => {
  const key = fc.oneof(
    fc.constantFrom('a', 'b', '～', '😀'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  );
  const size = fc.oneof(
    fc.nat(1000),
    fc.maxSafeNat().map((n) => Math.floor(n / 4)),
  );
  const row = fc.record({
    key,
    a: size,
    b: size,
    c: size,
    etag: fc.option(fc.string({ unit: 'grapheme', maxLength: 20 })),
    label: fc.option(fc.string({ unit: 'grapheme', maxLength: 20 })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), async (drawn) => {
      const versions = new Map<string, { etag: string | null; objectSize: number }>();
      const rows: Row[] = drawn.map(({ key: name, a, b, c, etag, label }) => {
        const version = versions.get(name) ?? { etag, objectSize: Math.min(a + b + c, 2 ** 53 - 1) };
        versions.set(name, version);
        const offset = Math.min(a, version.objectSize);
        return {
          key: name,
          ...version,
          offset,
          length: Math.min(b % 1e9, version.objectSize - offset),
          label,
        };
      });
      const read = parseManifest(await written(inMemory(rows)), 'm.arrow');
      assert.equal(rowsOf(read), rows);
      let handle = 0;
      for (const [i, { key: name }] of rows.entries()) {
        if (i > 0 && rows[i - 1]?.key !== name) handle = i;
        assert.is(read.objectHandle(i), handle);
      }
    }),
    { numRuns: 60, seed: SEED },
  );
});

test('fields come back', async () => {
  const fields = ROWS.map((row, i) =>
    i % 3 === 0
      ? null
      : i % 3 === 1
        ? []
        : [
            { name: 'jpg', offset: 0, length: row.length },
            { name: 'é', offset: row.length, length: 0 },
          ],
  );
  const read = parseManifest(await written(inMemory(ROWS, fields)), 'm.arrow');
  assert.equal(
    ROWS.map((_, row) => read.fields(row)),
    fields,
  );
});

test('more rows than a record batch holds', async () => {
  const rows = 65_536 * 2 + 1;
  const manifest = manifestFromColumns({
    keys: Array.from({ length: rows }, (_, i) => `k${Math.floor(i / 2)}`),
    offsets: Array.from({ length: rows }, (_, i) => i % 2),
    lengths: new Uint8Array(rows).fill(1),
    objectSizes: new Uint8Array(rows).fill(2),
  });
  const read = parseManifest(await written(manifest), 'm.arrow');
  assert.is(read.batches.length, 3);
  assert.is(read.datasetHash, manifest.datasetHash);
  for (const row of [0, 1, 65_535, 65_536, 131_071, 131_072]) {
    assert.is(read.key(row), `k${Math.floor(row / 2)}`);
    assert.is(read.objectHandle(row), row - (row % 2));
  }
  assert.is(read.objects, 65_537);
});

test('described', () => {
  const describer = new ManifestDescriber(ROWS.length);
  const [at, rest] = [inMemory(ROWS.slice(0, 4)), inMemory(ROWS.slice(4))];
  for (const { batches } of [at, rest]) for (const batch of batches) describer.add(batch);
  assert.equal(describer.finish(), {
    rows: 9,
    objects: 7,
    totalLength: 27,
    minLength: 0,
    medianLength: 2,
    maxLength: 10,
    labels: 4,
    datasetHash: inMemory(ROWS).datasetHash,
  });
});

test('an aborted write leaves the old file and nothing else', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'm.arrow');
    await writeFile(path, 'old');
    const error = await thrown(() =>
      writeManifest(path, inMemory(ROWS), { signal: AbortSignal.abort('stop') }),
    );
    assert.instance(error, AbortedError);
    assert.equal(await readdir(folder), ['m.arrow']);
    assert.is(await readFile(path, 'utf8'), 'old');
    await writeManifest(path, inMemory(ROWS));
    assert.is((await readManifest(path)).rows, 9);
  });
});

test('a link is written through, a folder and a missing folder are refused', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'm.arrow');
    const link = join(folder, 'link.arrow');
    await writeFile(path, 'old');
    await symlink(path, link);
    await writeManifest(link, inMemory(ROWS));
    assert.is((await readManifest(path)).rows, 9);
    assert.equal((await readdir(folder)).sort(), ['link.arrow', 'm.arrow']);
    // Also where what the link leads to is not there yet.
    const dangling = join(folder, 'dangling.arrow');
    await symlink('later.arrow', dangling);
    await writeManifest(dangling, inMemory(ROWS));
    assert.is((await readManifest(join(folder, 'later.arrow'))).rows, 9);
    assert.equal((await readdir(folder)).sort(), ['dangling.arrow', 'later.arrow', 'link.arrow', 'm.arrow']);
    const circle = join(folder, 'circle.arrow');
    await symlink('circle.arrow', circle);
    for (const bad of [folder, circle, join(folder, 'none', 'm.arrow')]) {
      const error = await thrown(() => writeManifest(bad, inMemory(ROWS)));
      assert.instance(error, ConfigError);
      if (error instanceof ConfigError) assert.is(error.code, 'bad_output');
    }
  });
});

// A limit on the size of files stands for a full disk: the system refuses the write just so, and needs no disk for it.
const WRITER = `
const { writeManifest } = await import(process.argv[1]);
const { manifestFromColumns } = await import(process.argv[2]);
const rows = 200000;
const manifest = manifestFromColumns({
  keys: Array.from({ length: rows }, (_, i) => 'key-' + i), lengths: new Uint8Array(rows) });
try { await writeManifest(process.argv[3], manifest); console.log('written'); }
catch (error) { console.log(error.code + ': ' + error.message); }`;

test('no room: a clear error, the old file stays, no temporary is left', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'm.arrow');
    await writeFile(path, 'old');
    const source = (name: string) =>
      pathToFileURL(join(import.meta.dirname, `../../runtime-node/manifest/${name}`)).href;
    const shell = 'trap "" XFSZ; ulimit -f 1000; exec "$@"';
    const node = [
      process.execPath,
      '--input-type=module',
      '-e',
      WRITER,
      source('arrow-file.js'),
      source('columns.js'),
      path,
    ];
    const result = spawnSync('bash', ['-c', shell, 'bash', ...node], { encoding: 'utf8' });
    assert.match(
      result.stdout,
      /^write_failed: .*m\.arrow: no room for the manifest \(EFBIG\)/,
      result.stderr,
    );
    assert.equal(await readdir(folder), ['m.arrow']);
    assert.is(await readFile(path, 'utf8'), 'old');
  });
});

test.run();
