import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { mdsFormat } from '../../runtime-node/formats/mds/mds.js';
import { fixtureFolder, type Indexed, indexAll, MemoryBucket } from '../formats/memory-bucket.js';
import { fuzz } from './mutations.js';

const SEED = 5_550_123;
const FILES = fixtureFolder('d/', 'mds', 'several');
const SAMPLES = 29;

/** What was taken keeps every promise of a row, and no sample that index and shards agree upon is missing. */
function keepsPromises({ rows }: Indexed, bucket: MemoryBucket): void {
  for (const { key, offset, length, fields, objectSizeBytes } of rows) {
    assert.is(objectSizeBytes, bucket.objects.get(key)!.length);
    assert.ok(Number.isSafeInteger(offset) && length >= 0 && offset + length <= objectSizeBytes);
    let at = 0;
    for (const field of fields!) {
      assert.is(field.offset, at);
      at += field.length;
    }
    assert.is(at, length);
  }
  assert.ok(bucket.largestAnswer <= 4 * 2 ** 20);
}

test('mutations of index.json: refused, or all samples of the shards that it still names', async () => {
  const outcome = await fuzz(
    'index files',
    SEED,
    2000,
    FILES['d/index.json']!,
    async (bytes) => {
      const bucket = new MemoryBucket({ ...FILES, 'd/index.json': bytes });
      return { indexed: await indexAll(mdsFormat, bucket), bucket };
    },
    ({ indexed, bucket }) => {
      keepsPromises(indexed, bucket);
      const leftOut = indexed.notes.some((note) => /no index names|names no shards/.test(note));
      assert.ok(indexed.rows.length === SAMPLES || leftOut, `${indexed.rows.length} rows, and nothing said`);
    },
  );
  assert.ok(
    outcome.taken > 50 && outcome.refused.bad_index! > 300,
    JSON.stringify({ seed: SEED, ...outcome }),
  );
});

test('mutations of a shard: refused, or all its samples', async () => {
  const key = 'd/shard.00001.mds';
  // Mostly the head and the first sizes, where it matters.
  const head = FILES[key]!.slice(0, 700);
  const rest = FILES[key]!.slice(700);
  const outcome = await fuzz(
    'MDS shards',
    SEED + 1,
    3000,
    head,
    async (bytes) => {
      // Of the same size, or the index would tell.
      const sameSize = Buffer.alloc(head.length);
      sameSize.set(bytes.subarray(0, head.length));
      const bucket = new MemoryBucket({ ...FILES, [key]: Buffer.concat([sameSize, rest]) });
      return { indexed: await indexAll(mdsFormat, bucket), bucket };
    },
    ({ indexed, bucket }) => {
      keepsPromises(indexed, bucket);
      assert.is(indexed.rows.length, SAMPLES);
    },
  );
  assert.ok(
    outcome.taken > 100 && outcome.refused.bad_shard! > 300,
    JSON.stringify({ seed: SEED + 1, ...outcome }),
  );
});

test.run();
