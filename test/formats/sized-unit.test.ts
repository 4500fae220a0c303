import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { IndexUnit, SampleRow } from '../../runtime-node/formats/format.js';
import { NO_PICTURE, sizedUnit } from '../../runtime-node/formats/jpeg/sized-unit.js';
import { mdsFormat } from '../../runtime-node/formats/mds/mds.js';
import type { SampleField } from '../../runtime-node/manifest/manifest.js';
import { fixtureFile, fixtureFolder, fixtureJson, MemoryBucket } from './memory-bucket.js';

const JPEG = fixtureFile('images', 'baseline.jpg');
const PNG = fixtureFile('images', 'plain.png');
const TEXT = Buffer.from('a caption, longer than the picture is, '.repeat(40));
const [JPEG_SIZE, PNG_SIZE] = [
  [31, 17],
  [19, 23],
];

/** A sample of these parts, 100 bytes into its object; without names a sample without fields. */
function sampleOf(parts: [name: string | null, bytes: Uint8Array][]): {
  bucket: MemoryBucket;
  row: SampleRow;
} {
  const body = Buffer.concat(parts.map(([, bytes]) => bytes));
  const bucket = new MemoryBucket({ 'a.x': Buffer.concat([new Uint8Array(100), body, new Uint8Array(9)]) });
  const fields: SampleField[] = [];
  let at = 0;
  for (const [name, { length }] of parts) {
    if (name !== null) fields.push({ name, offset: at, length });
    at += length;
  }
  const { sizeBytes, etag } = bucket.listed('a.x');
  const place = { key: 'a.x', offset: 100, length: body.length, etag, objectSizeBytes: sizeBytes };
  const none = { label: null, width: null, height: null, dtype: null, shape: null };
  return { bucket, row: { ...place, ...none, fields: fields.length === 0 ? null : fields } };
}

async function sizedRows(bucket: MemoryBucket, rows: SampleRow[]) {
  const unit: IndexUnit = {
    object: bucket.listed(rows[0]!.key),
    async *rows() {
      yield rows;
    },
  };
  const [sized, notes]: [SampleRow[], string[]] = [[], []];
  for await (const some of sizedUnit(unit).rows(bucket, undefined, (what, key) =>
    notes.push(`${what}: ${key}`),
  )) {
    sized.push(...some);
  }
  return { sized, notes };
}

const SITUATIONS: [string, [string | null, Uint8Array][], number[] | null][] = [
  ['a sample without fields', [[null, JPEG]], JPEG_SIZE!],
  [
    'fields as tar members name them',
    [
      ['txt', TEXT],
      ['jpg', JPEG],
    ],
    JPEG_SIZE!,
  ],
  [
    'a field with the ending',
    [
      ['txt', TEXT],
      ['left.PNG', PNG],
      ['seg', JPEG],
    ],
    PNG_SIZE!,
  ],
  [
    'no field that is named so: the largest',
    [
      ['label', PNG.slice(0, 8)],
      ['image', JPEG],
    ],
    JPEG_SIZE!,
  ],
  [
    'no picture',
    [
      ['txt', TEXT],
      ['cls', PNG.slice(0, 4)],
    ],
    null,
  ],
  [
    'a field named as a picture, and none',
    [
      ['jpg', TEXT],
      ['image', JPEG],
    ],
    null,
  ],
  [
    'a picture that is empty',
    [
      ['jpg', new Uint8Array(0)],
      ['cls', TEXT],
    ],
    null,
  ],
];

for (const [situation, parts, size] of SITUATIONS) {
  test(`${situation}: ${size === null ? 'null, and noted' : size.join(' x ')}`, async () => {
    const { bucket, row } = sampleOf(parts);
    const { sized, notes } = await sizedRows(bucket, [row]);
    const [width, height] = size ?? [null, null];
    assert.equal(sized, [{ ...row, width, height }]);
    assert.equal(notes, size === null ? [`${NO_PICTURE}: a.x`] : []);
  });
}

test('sizes that a row has already: kept, without a request', async () => {
  const { bucket, row } = sampleOf([[null, JPEG]]);
  const { sized } = await sizedRows(bucket, [{ ...row, width: 1, height: 2 }]);
  assert.equal([sized[0]!.width, sized[0]!.height, bucket.requests], [1, 2, 0]);
});

test('MDS samples with a picture column: sizes as Streaming decodes them, in their order', async () => {
  const bucket = new MemoryBucket(fixtureFolder('', 'mds', 'one'));
  const { units } = await mdsFormat.plan(bucket.list(), '', bucket);
  const sizes: unknown[] = [];
  for (const unit of units) {
    for await (const rows of sizedUnit(unit).rows(bucket)) {
      for (const { width, height } of rows) sizes.push([width, height]);
    }
  }
  assert.equal(sizes, fixtureJson<Record<string, unknown>>('mds', 'truth.json').one_image_sizes);
});

test.run();
