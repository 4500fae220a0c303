import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parquetFormat } from '../../runtime-node/formats/parquet/parquet.js';
import { fixtureFile, indexAll, MemoryBucket } from '../formats/memory-bucket.js';
import { fuzz } from './mutations.js';

const SEED = 909_090;
const ROWS = 75;

/** Files whose pages differ in version, encoding and compression. */
const FILES = [
  'snappy',
  'none',
  'plain',
  'version2',
  'plain_version2',
  'delta',
  'gzip',
  'doubles',
  'small_pages',
];

async function indexed(bytes: Uint8Array) {
  return indexAll(parquetFormat, new MemoryBucket({ 'l/a.parquet': bytes }), 'l/');
}

function keepsPromises({ rows }: Awaited<ReturnType<typeof indexed>>): void {
  for (const { key, offset, length, objectSizeBytes, width, height } of rows) {
    assert.ok(key.length > 0 && !key.includes('\ufffd'));
    for (const number of [offset, length, objectSizeBytes, width ?? 0, height ?? 0]) {
      assert.ok(Number.isSafeInteger(number) && number >= 0);
    }
    assert.ok(offset + length <= objectSizeBytes);
  }
  assert.is(rows.length, ROWS);
}

FILES.forEach((name, n) => {
  const whole = fixtureFile('parquet', 'read', `${name}.parquet`);
  const footerBytes = new DataView(whole.buffer).getUint32(whole.length - 8, true) + 8;
  const parts: [string, number, number][] = [
    ['pages', 4, whole.length - footerBytes],
    ['footer', whole.length - footerBytes, whole.length - 8],
  ];
  parts.forEach(([part, from, to], m) => {
    test(`mutations of the ${part} of ${name}.parquet: refused, or all rows, each of which can be`, async () => {
      const seed = SEED + 2 * n + m;
      const outcome = await fuzz(
        'Parquet files',
        seed,
        400,
        whole.slice(from, to),
        (bytes) => {
          const tail = whole.slice(to);
          if (part === 'footer') new DataView(tail.buffer).setUint32(0, bytes.length, true);
          // Pages keep their size, since offsets in the footer are of the file.
          const piece =
            part === 'footer'
              ? bytes
              : Buffer.concat([bytes, new Uint8Array(to - from)]).subarray(0, to - from);
          return indexed(Buffer.concat([whole.slice(0, from), piece, tail]));
        },
        keepsPromises,
      );
      assert.ok(outcome.refused.bad_shard! > 50, JSON.stringify({ seed, ...outcome }));
    });
  });
});

test.run();
