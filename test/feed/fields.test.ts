// The fields of a sample, as they lie in the batch.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Batch } from '../../runtime-node/feed/batch.js';
import { openFeed } from '../../runtime-node/feed/open.js';
import { ENGINE_UNDER_TEST } from '../engine/engine-kit.js';
import { tar } from '../formats/tar-writer.js';
import { startStore } from '../store/index.js';

const BUCKET = 'data';

async function feedOf(
  keys: Record<string, Buffer>,
  use: (feed: Awaited<ReturnType<typeof openFeed>>) => Promise<void>,
) {
  const store = await startStore({ anonymous: true, seed: 7 });
  store.createBucket(BUCKET);
  for (const [key, bytes] of Object.entries(keys)) store.put(BUCKET, `train/${key}`, bytes);
  const feed = await openFeed({
    ...{ source: `s3://${BUCKET}/train/`, batchSamples: 2, shuffle: 'none', engine: ENGINE_UNDER_TEST },
    s3: { endpoint: store.endpoint, region: 'us-east-1', anonymous: true },
  });
  try {
    await use(feed);
  } finally {
    await feed.close();
    await store.close();
  }
}

const text = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes).toString();

test('of tar shards: each member by its name, as a view of the landing memory', () => {
  const shard = tar([
    { name: 'a.jpg', data: 'picture a' },
    { name: 'a.cls', data: '7' },
    { name: 'b.jpg', data: 'another picture b' },
    { name: 'b.txt', data: '' },
  ]);
  return feedOf({ 'shard.tar': shard }, async (feed) => {
    const batch = (await feed.next()) as Batch;
    const table = [0, 1].map((i) => ['jpg', 'cls', 'txt', 'none'].map((name) => text(batch.field(i, name))));
    assert.equal(table, [
      ['picture a', '7', null, null],
      ['another picture b', null, '', null],
    ]);
    const view = batch.field(0, 'jpg') as Uint8Array;
    assert.is(view.buffer, batch.bytes(0).buffer);
    for (const i of [-1, 2, 0.5]) assert.throws(() => batch.field(i, 'jpg'), /there is no sample/);
    batch.release();
    assert.throws(() => batch.field(0, 'jpg'), /was released/);
  });
});

test('of plain objects: there is none', () =>
  feedOf({ a: Buffer.from('1'), b: Buffer.from('2') }, async (feed) => {
    const batch = (await feed.next()) as Batch;
    assert.is(batch.field(0, 'a'), null);
  }));

test.run();
