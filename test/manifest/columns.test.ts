import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { rowsOf, thrown } from './fixtures.js';

test('what is left out takes its default: whole objects, no ETag, no label', () => {
  const manifest = manifestFromColumns({ keys: ['b', 'a'], lengths: [3, 0] });
  assert.equal(rowsOf(manifest), [
    { key: 'b', offset: 0, length: 3, etag: null, objectSize: 3, label: null },
    { key: 'a', offset: 0, length: 0, etag: null, objectSize: 0, label: null },
  ]);
  assert.is(manifest.bucket, null);
});

const HALF = '\ud800';
const COLUMN_REFUSALS: [name: string, make: () => unknown, says: RegExp][] = [
  [
    'lengths of another number',
    () => manifestFromColumns({ keys: ['a'], lengths: [1, 2] }),
    /column lengths: 2 values for 1 keys/,
  ],
  [
    'offsets without sizes',
    () => manifestFromColumns({ keys: ['a'], lengths: [1], offsets: [0] }),
    /objectSizes: it is missing/,
  ],
  ['no rows', () => manifestFromColumns({ keys: [], lengths: [] }), /it has no rows/],
  ['half a character', () => manifestFromColumns({ keys: [HALF], lengths: [1] }), /half a character/],
  ...[Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, 2 ** 53].map(
    (value): [string, () => unknown, RegExp] => [
      `length ${value}`,
      () => manifestFromColumns({ keys: ['a'], lengths: [value] }),
      /row 0, column length: .* is (negative|not a whole number)/,
    ],
  ),
  [
    'a field outside the sample',
    () =>
      manifestFromColumns({ keys: ['a'], lengths: [4], fields: [[{ name: 'jpg', offset: 2, length: 3 }]] }),
    /row 0, column fields: "jpg" at 2, 3 long, is outside the sample's 4 bytes/,
  ],
];
for (const [name, make, says] of COLUMN_REFUSALS) {
  test(`refused in memory: ${name}`, async () => {
    const error = await thrown(make);
    assert.instance(error, ConfigError);
    assert.match(String(error), says);
  });
}

test.run();
