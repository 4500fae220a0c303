import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SampleRow } from '../../runtime-node/formats/format.js';
import { decodeRow, RowEncoder } from '../../runtime-node/manifest/row-record.js';
import { RowSorter } from '../../runtime-node/manifest/row-sorter.js';
import { inFolder } from './fixtures.js';

const SEED = 40_961;

const text = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'a/', '～', '😀', 'é'),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
);
const size = fc.oneof(fc.nat(3), fc.maxSafeNat());
const PLAIN = { noNullPrototype: true };
export const anyRow: fc.Arbitrary<SampleRow> = fc.record(
  {
    key: text,
    offset: size,
    length: size,
    objectSizeBytes: size,
    etag: fc.option(text),
    label: fc.option(text),
    dtype: fc.option(text),
    width: fc.option(fc.nat(2 ** 32 - 1)),
    height: fc.option(fc.nat(2 ** 32 - 1)),
    shape: fc.option(fc.array(size, { maxLength: 4 })),
    fields: fc.option(
      fc.array(fc.record({ name: text, offset: size, length: size }, PLAIN), { maxLength: 4 }),
    ),
  },
  PLAIN,
);

const byKeyAndPlace = (a: SampleRow, b: SampleRow): number =>
  Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)) || a.offset - b.offset || a.length - b.length;

test('property: a row comes back from its record', () => {
  const encoder = new RowEncoder();
  fc.assert(
    fc.property(anyRow, (row) => assert.equal(decodeRow(encoder.encode(row), 0), row)),
    { numRuns: 500, seed: SEED },
  );
});

test('property: the same order as a sort in memory, whatever is spilled when, and whatever the order was', async () => {
  await inFolder(async (folder) => {
    const limits = fc.record({
      rows: fc.integer({ min: 1, max: 12 }),
      bytes: fc.integer({ min: 1, max: 4000 }),
    });
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 60 }), limits, (rows, limit) => {
        const inMemory = new RowSorter(null);
        const spilled = new RowSorter(join(folder, 'm.arrow'), limit);
        for (const row of rows) inMemory.add(row);
        for (const row of rows.toReversed()) spilled.add(row);
        assert.equal(readdirSync(folder), [], 'the file has no name');
        const sorted = [...spilled.sorted()];
        assert.equal(sorted, [...inMemory.sorted()]);
        assert.equal(sorted.map(placeOf), [...rows].sort(byKeyAndPlace).map(placeOf));
        assert.equal([spilled.rows, spilled.optional], [rows.length, inMemory.optional]);
        spilled.close();
      }),
      { numRuns: 120, seed: SEED },
    );
  });
});

const placeOf = ({ key, offset, length }: SampleRow) => [key, offset, length];

test('a record longer than a block, beside short ones, in memory and spilled', async () => {
  const fields = Array.from({ length: 120_000 }, (_, i) => ({ name: `field-${i}`, offset: i, length: 1 }));
  const row = (key: string, long: boolean): SampleRow => ({
    ...{ key, offset: 0, length: 1, objectSizeBytes: 1, etag: null, label: null, dtype: null },
    ...{ width: null, height: null, shape: null, fields: long ? fields : null },
  });
  await inFolder(async (folder) => {
    for (const beside of [null, join(folder, 'm.arrow')]) {
      const sorter = new RowSorter(beside, { rows: 3, bytes: 2 ** 30 });
      const keys = ['d', 'b', 'e', 'a', 'c'];
      for (const key of keys) sorter.add(row(key, key === 'b' || key === 'a'));
      const sorted = [...sorter.sorted()];
      assert.equal(
        sorted.map(({ key, fields }) => [key, fields?.length ?? 0]),
        [...keys].sort().map((key) => [key, key === 'b' || key === 'a' ? fields.length : 0]),
      );
      sorter.close();
    }
  });
});

test('columns in which no row has a value are not named', () => {
  const sorter = new RowSorter(null);
  const row = { key: 'a', offset: 0, length: 0, objectSizeBytes: 0, etag: null, label: null, dtype: null };
  sorter.add({ ...row, width: 0, height: null, shape: [], fields: null });
  assert.equal(sorter.optional, ['width', 'shape']);
});

test.run();
