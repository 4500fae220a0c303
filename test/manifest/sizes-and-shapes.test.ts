import { join } from 'node:path';
import { Field, Float64, List, Uint16, vectorFromArray } from 'apache-arrow';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { readManifest, writeManifest } from '../../runtime-node/manifest/arrow-file.js';
import { parseManifest } from '../../runtime-node/manifest/arrow-table.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import type { Manifest } from '../../runtime-node/manifest/manifest.js';
import { columnsOf, inFolder, ipc, nulls, numbers, ROWS, texts, thrown } from './fixtures.js';

const COLUMNS = {
  widths: [640, null, 0, 2 ** 32 - 1],
  heights: [480, null, 1, 7],
  dtypes: ['<f4', null, '|u1', '<c16'],
  shapes: [[3, 224, 224], null, [], [2 ** 40, 0]],
};

function seen(manifest: Manifest) {
  const rows = Array.from({ length: manifest.rows }, (_, row) => row);
  return {
    widths: rows.map((row) => manifest.width(row)),
    heights: rows.map((row) => manifest.height(row)),
    dtypes: rows.map((row) => manifest.dtype(row)),
    shapes: rows.map((row) => manifest.shape(row)),
  };
}

const KEYS = ['a', 'b', 'c', 'd'];
const LENGTHS = [1, 2, 3, 4];

test('pixels, types and shapes come back from memory and from a file; without them all are null', async () => {
  const manifest = manifestFromColumns({ keys: KEYS, lengths: LENGTHS, ...COLUMNS });
  assert.equal(seen(manifest), COLUMNS);
  await inFolder(async (folder) => {
    const path = join(folder, 'm.arrow');
    await writeManifest(path, manifest);
    assert.equal(seen(await readManifest(path)), COLUMNS);
    await writeManifest(path, manifestFromColumns({ keys: KEYS, lengths: LENGTHS }));
    const none = [null, null, null, null];
    assert.equal(seen(await readManifest(path)), { widths: none, heights: none, dtypes: none, shapes: none });
  });
});

test('as other writers spell them: other integer widths, columns of type null', () => {
  const rows = ROWS.slice(0, 2);
  const shape = vectorFromArray([[3, 4], []], new List(new Field('item', new Uint16())));
  const width = vectorFromArray([5, null], new Uint16());
  const read = parseManifest(
    ipc({ ...columnsOf(rows), width, height: nulls(2), dtype: nulls(2), shape }),
    'm',
  );
  assert.equal(seen(read), {
    widths: [5, null],
    heights: [null, null],
    dtypes: [null, null],
    shapes: [[3, 4], []],
  });
  const without = parseManifest(ipc({ ...columnsOf(rows), shape: nulls(2) }), 'm');
  assert.equal(seen(without).shapes, [null, null]);
});

const listOf = (values: (bigint | null)[][]) =>
  vectorFromArray(values, new List(new Field('item', numbers([1]).type, true)));
const REFUSED: [what: string, columns: () => Parameters<typeof ipc>[0], message: RegExp][] = [
  ['a width as text', () => ({ width: texts(['5', '6']) }), /column width: its type is utf8/],
  ['a negative height', () => ({ height: numbers([1, -1], 'int32') }), /row 1, column height: -1 is no/],
  ['a width beyond 32 bits', () => ({ width: numbers([2 ** 32, 1]) }), /row 0, column width/],
  [
    'a shape of text',
    () => ({ shape: texts(['(3,)', '()']) }),
    /column shape: its type is utf8, wanted list/,
  ],
  ['a shape with a null', () => ({ shape: listOf([[1n], [2n, null]]) }), /row 1, column shape: extent 1/],
  ['a dtype as number', () => ({ dtype: numbers([1, 2]) }), /column dtype: its type is uint64, wanted utf8/],
  [
    'a shape of floats',
    () => ({ shape: vectorFromArray([[1.5], [2]], new List(new Field('item', new Float64()))) }),
    /column shape: its type is list, wanted list of uint64/,
  ],
];
for (const [what, columns, message] of REFUSED) {
  test(`refused: ${what}`, async () => {
    const error = await thrown(() =>
      parseManifest(ipc({ ...columnsOf(ROWS.slice(0, 2)), ...columns() }), 'm'),
    );
    assert.instance(error, ConfigError);
    assert.match((error as ConfigError).message, message);
  });
}

test.run();
