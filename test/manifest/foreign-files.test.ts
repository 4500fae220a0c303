import { Field, Int32, Int64, List, Struct, Utf8, vectorFromArray } from 'apache-arrow';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readManifest } from '../../runtime-node/manifest/arrow-file.js';
import { parseManifest } from '../../runtime-node/manifest/arrow-table.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import {
  columnsOf,
  encode,
  HANDLES,
  ipc,
  NUMBER_TYPES,
  type NumberType,
  nulls,
  numbers,
  ROWS,
  type Row,
  rowsOf,
  TEXT_TYPES,
  type TextType,
  withFile,
} from './fixtures.js';

const SMALL: Row[] = ROWS.map((row) => ({
  ...row,
  offset: Math.min(row.offset, 100),
  objectSize: Math.min(row.objectSize, 200),
}));
const BATCHES: number[][] = [[9], [3, 3, 3], [4, 4, 1], [1, 5, 3], [2, 0, 7]];

function hashOf(rows: readonly Row[]): string {
  return manifestFromColumns({
    keys: rows.map((row) => row.key),
    offsets: rows.map((row) => row.offset),
    lengths: rows.map((row) => row.length),
    etags: rows.map((row) => row.etag),
    objectSizes: rows.map((row) => row.objectSize),
  }).datasetHash;
}

for (const kind of ['file', 'stream'] as const) {
  for (const text of Object.keys(TEXT_TYPES) as TextType[]) {
    for (const number of Object.keys(NUMBER_TYPES) as NumberType[]) {
      test(`${kind}, ${text}, ${number}: the same rows, handles and hash however it is batched`, () => {
        const rows = number.endsWith('64') ? ROWS : SMALL;
        for (const batches of BATCHES) {
          const manifest = parseManifest(encode(rows, { text, number, batches, kind }), 'm.arrow');
          assert.equal(rowsOf(manifest), rows, `batches ${batches}`);
          assert.equal(
            rows.map((_, row) => manifest.objectHandle(row)),
            HANDLES,
          );
          assert.is(manifest.datasetHash, hashOf(rows));
          assert.is(manifest.totalLength, 27);
          assert.is(manifest.maxLength, 10);
          assert.is(manifest.objects, 7);
        }
      });
    }
  }
}

test('columns that a manifest does not know are stepped over, wherever they stand', () => {
  const known = columnsOf(ROWS);
  const extra = {
    width: numbers(
      ROWS.map((_, i) => i),
      'int32',
    ),
    height: numbers(
      ROWS.map(() => null),
      'uint64',
    ),
    split: columnsOf(ROWS, { text: 'dictionary of utf8' }).key,
    views: columnsOf(ROWS, { text: 'utf8_view' }).key,
    nothing: nulls(ROWS.length),
    boxes: vectorFromArray(
      ROWS.map((_, i) => ({ left: i, names: [`n${i}`, 'm'] })),
      new Struct<{ left: Int32; names: List<Utf8> }>([
        new Field('left', new Int32()),
        new Field('names', new List(new Field('item', new Utf8()))),
      ]),
    ),
  };
  for (const columns of [
    { ...extra, ...known },
    { ...known, ...extra },
  ]) {
    const manifest = parseManifest(ipc(columns as Record<string, ReturnType<typeof nulls>>), 'm.arrow');
    assert.equal(rowsOf(manifest), ROWS);
  }
});

test('ETags all null, as a column of type null; labels as numbers', () => {
  const rows = ROWS.map((row, i) => ({ ...row, etag: null, label: i === 1 ? null : String(i * 3 - 4) }));
  const label = vectorFromArray(
    rows.map((row) => (row.label === null ? null : BigInt(row.label))),
    new Int64(),
  );
  const manifest = parseManifest(ipc({ ...columnsOf(rows), etag: nulls(rows.length), label }), 'm.arrow');
  assert.equal(rowsOf(manifest), rows);
  assert.is(manifest.bucket, null);
});

test('without label and fields, both are null', () => {
  const { label: _, ...columns } = columnsOf(ROWS);
  const manifest = parseManifest(ipc(columns), 'm.arrow');
  assert.is(manifest.label(3), null);
  assert.is(manifest.fields(3), null);
});

test('a row that is none throws', () => {
  const manifest = parseManifest(encode(ROWS), 'm.arrow');
  for (const row of [-1, 9, 0.5, Number.NaN]) assert.throws(() => manifest.key(row), RangeError);
});

test('from a file on disk', async () => {
  await withFile(encode(ROWS, { batches: [4, 5] }), async (path) => {
    assert.equal(rowsOf(await readManifest(path)), ROWS);
  });
});

test('a file in memory that does not start at a multiple of 8 bytes', () => {
  const bytes = encode(ROWS);
  const shifted = new Uint8Array(bytes.length + 3);
  shifted.set(bytes, 3);
  assert.equal(rowsOf(parseManifest(shifted.subarray(3), 'm.arrow')), ROWS);
});

// The value was computed from the documented encoding with Python's hashlib and struct.
test('the hash of a known manifest stays', () => {
  const known = manifestFromColumns({
    keys: ['a', 'é'],
    lengths: [1, 2 ** 33],
    etags: ['"x"', null],
  });
  assert.is(known.datasetHash, '34316c573f76f3f97245852094af3e72651e1f8b9e50dde1d94be9a0b3840f8c');
});

test.run();
