// Damaged manifests: refused with the file's name, or exactly the rows that pyarrow reads. Never fewer, never others.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { writeManifest } from '../../runtime-node/manifest/arrow-file.js';
import { parseManifest } from '../../runtime-node/manifest/arrow-table.js';
import type { ColumnManifest } from '../../runtime-node/manifest/column-manifest.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { encode, inFolder, ROWS, rowsOf } from '../manifest/fixtures.js';
import { fuzz } from './mutations.js';
import { OtherReader, otherReaderMissing } from './other-reader.js';

const SEED = Number(process.env.OS2G_FUZZ_SEED ?? 616_161);

/** What pyarrow makes of a file: the columns key, offset, length, etag, object_size, label, where there are such. */
interface OtherTable {
  rows: number;
  columns: ((string | number | null)[] | null)[];
}

/** As `os2g index` writes it, with every column that it knows. */
async function ours(): Promise<Uint8Array> {
  const manifest = manifestFromColumns({
    keys: ROWS.map(({ key }) => key),
    offsets: ROWS.map(({ offset }) => offset),
    lengths: ROWS.map(({ length }) => length),
    etags: ROWS.map(({ etag }) => etag),
    objectSizes: ROWS.map(({ objectSize }) => objectSize),
    labels: ROWS.map(({ label }) => label ?? null),
    fields: ROWS.map(({ length }, i) => (i % 3 === 0 ? null : [{ name: 'jpg', offset: 0, length }])),
    widths: ROWS.map((_, i) => (i % 2 === 0 ? null : 640 + i)),
    heights: ROWS.map((_, i) => (i % 2 === 0 ? null : 480 + i)),
    dtypes: ROWS.map((_, i) => (i % 4 === 0 ? '<f4' : null)),
    shapes: ROWS.map((_, i) => (i % 4 === 0 ? [i, 3] : null)),
    bucket: 'data',
    prefix: 'train/',
    format: 'tar',
  });
  return inFolder(async (folder) => {
    await writeManifest(join(folder, 'm.arrow'), manifest);
    return new Uint8Array(await readFile(join(folder, 'm.arrow')));
  });
}

const KINDS: [name: string, whole: Uint8Array][] = [
  ['as index writes it', await ours()],
  ['in two batches', encode(ROWS, { batches: [4, 5] })],
  ['a stream of three batches', encode(ROWS, { kind: 'stream', batches: [3, 3, 3] })],
  ['with dictionaries', encode(ROWS, { text: 'dictionary of utf8' })],
  ['large text, signed numbers', encode(ROWS, { kind: 'stream', text: 'large_utf8', number: 'int64' })],
  ['text views', encode(ROWS, { text: 'utf8_view' })],
];

/** Rows as pyarrow would give them, column by column. */
function columnsOf(manifest: ColumnManifest): (string | number | null)[][] {
  const rows = rowsOf(manifest);
  return [
    rows.map(({ key }) => key),
    rows.map(({ offset }) => offset),
    rows.map(({ length }) => length),
    rows.map(({ etag }) => etag),
    rows.map(({ objectSize }) => objectSize),
    rows.map(({ label }) => label ?? null),
  ];
}

async function open(bytes: Uint8Array): Promise<ColumnManifest> {
  try {
    return parseManifest(bytes, 'm.arrow');
  } catch (error) {
    if (error instanceof ConfigError) assert.match(error.message, /^m\.arrow/);
    throw error;
  }
}

KINDS.forEach(([name, whole], n) => {
  const seed = SEED + n;
  test(`damaged manifests, ${name} (seed ${seed}): refused, or the rows that pyarrow reads`, async () => {
    if (otherReaderMissing !== null) return console.log(`skipped: ${otherReaderMissing}`);
    const reader = new OtherReader<OtherTable>('manifest');
    let agreed = 0;
    const check = async (manifest: ColumnManifest, bytes: Uint8Array): Promise<void> => {
      const other = await reader.read(bytes);
      const columns = columnsOf(manifest);
      assert.ok(manifest.rows === ROWS.length, `${manifest.rows} rows; pyarrow: ${other?.rows}`);
      if (other === null) return;
      agreed++;
      for (const [i, column] of other.columns.entries()) {
        // Left out are columns that pyarrow does not find by that name: label, etag.
        if (column === null) assert.ok((columns[i] ?? []).every((value) => value === null));
        else assert.equal(columns[i], column);
      }
    };
    try {
      await check(await open(whole), whole);
      assert.is(agreed, 1, 'as it is, both read it');
      const outcome = await fuzz('manifests', seed, 300, whole, open, check);
      assert.ok(outcome.taken > 5 && agreed > outcome.taken / 2, JSON.stringify({ agreed, ...outcome }));
      assert.ok((outcome.refused.bad_manifest ?? 0) > 50, JSON.stringify(outcome));
    } finally {
      reader.close();
    }
  });
});

test.run();
