import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Batch } from '../../runtime-node/feed/batch.js';
import { MS, manifestOf, openFake, rejects, see, sizesTo } from './kit.js';

const manifest = manifestOf(sizesTo(24));
const run = { batchSamples: 4, shuffle: 'none' } as const;

const isBadArgument = (error: { code: string }): boolean => error.code === 'bad_argument';

test('for await: every batch, then closed', async () => {
  const { feed, time, engine } = await openFake(manifest, run);
  const loop = async (): Promise<number[]> => {
    const indices: number[] = [];
    for await (const batch of feed) indices.push(see(batch).index);
    return indices;
  };
  assert.equal(await time.run(loop()), [0, 1, 2, 3, 4, 5]);
  assert.ok(engine.closed);
  assert.equal([feed.cursor.epoch, feed.cursor.batch], [1, 0]);
  assert.is(await feed.next(), null, 'the end stays the end');
});

test('break: closed, and what was not released is not consumed', async () => {
  for (const released of [false, true]) {
    const { feed, time, engine } = await openFake(manifest, run);
    const loop = async (): Promise<void> => {
      for await (const batch of feed) {
        if (batch.index !== 2) continue;
        if (released) batch.release();
        break;
      }
    };
    await time.run(loop());
    assert.ok(engine.closed);
    assert.is(time.pending, 0);
    assert.is(feed.cursor.batch, released ? 3 : 2);
    await rejects(feed.next(), 'feed_closed');
  }
});

test('a throw in the loop: the original error, and closed', async () => {
  const { feed, time, engine } = await openFake(manifest, run);
  const thrown = new Error('decode');
  const loop = async (): Promise<void> => {
    for await (const batch of feed) if (batch.index === 1) throw thrown;
  };
  assert.is(
    await time.run(
      loop().then(
        () => null,
        (error: unknown) => error,
      ),
    ),
    thrown,
  );
  assert.ok(engine.closed);
});

test('a released batch throws on every access; so does the one before the last step', async () => {
  const { feed, time } = await openFake(manifest, run);
  const uses: ((batch: Batch) => unknown)[] = [
    (batch) => batch.bytes(0),
    (batch) => batch.row(0),
    (batch) => batch.key(0),
    (batch) => batch.label(0),
    (batch) => batch.fields(0),
    (batch) => batch.pad(0),
    (batch) => batch.skipped(0),
    (batch) => batch.offsetInLanding(0),
    (batch) => batch.landing,
  ];
  const first = (await time.run(feed.next())) as Batch;
  for (const use of uses) use(first);
  assert.is(first.released, false);
  first.release();
  first.release();
  const second = (await time.run(feed.next())) as Batch;
  await time.run(feed.next());
  for (const batch of [first, second]) {
    assert.is(batch.released, true);
    for (const use of uses)
      assert.throws(
        () => use(batch),
        (error: { code: string }) => error.code === 'batch_released',
      );
  }
  await feed.close();
});

test('views are zero copy: they lie in the landing view of the batch', async () => {
  const { feed, time } = await openFake(manifest, run);
  const batch = (await time.run(feed.next())) as Batch;
  for (let i = 0; i < batch.length; i++) {
    const bytes = batch.bytes(i);
    assert.is(bytes.buffer, batch.landing.buffer);
    assert.is(bytes.byteOffset, batch.landing.byteOffset + batch.offsetInLanding(i));
  }
  assert.is(batch.sizeBytes, 1 + 2 + 3 + 4);
  for (const i of [-1, 4, 64, 0.5, Number.NaN]) assert.throws(() => batch.bytes(i), isBadArgument);
  await feed.close();
});

test('a second next() while one waits is refused; the first one still gets its batch', async () => {
  const { feed, time } = await openFake(manifest, run);
  const first = feed.next();
  await rejects(feed.next(), 'next_pending');
  assert.is((await time.run(first))?.index, 0);
  assert.is((await time.run(feed.next()))?.index, 1);
  await feed.close();
});

test('close() while next() waits ends the wait', async () => {
  const { feed } = await openFake(manifest, { ...run, fate: () => ({ latencyNs: 0, fails: 'hang' }) });
  const waiting = rejects(feed.next(), 'feed_closed');
  await feed.close();
  await waiting;
  assert.is(feed.close(), feed.close());
});

test('a slow consumer: the window fills, and waiting is charged to nobody', async () => {
  const { feed, time, engine } = await openFake(manifest, run);
  await time.run(feed.next());
  await time.pass(1000 * MS);
  assert.is(engine.requests.length >= 24 / 4, true);
  assert.is(feed.snapshot().readyBatches, 6, 'the one in use counts');
  const before = feed.stats().stall_s;
  await time.run(feed.next());
  assert.equal(feed.stats().stall_s, before);
  await feed.close();
});

test('stalls add up to the time waited; the busy share is of all the time since the first next()', async () => {
  const { feed, time } = await openFake(manifest, { ...run, policy: 'sync' });
  let waitedNs = 0;
  const loop = async (): Promise<void> => {
    for (;;) {
      const from = time.nowNs();
      const batch = await feed.next();
      waitedNs += time.nowNs() - from;
      if (!batch) return;
      await time.pass(7 * MS);
      // 2 ms of it were the loop's own.
      feed.busy(5 * MS);
      batch.release();
    }
  };
  await time.run(loop());
  const stats = feed.stats();
  const stalledS = Object.values(stats.stall_s).reduce((a, b) => a + b);
  assert.ok(Math.abs(stalledS - waitedNs / 1e9) < 1e-9, `${stalledS} s charged, ${waitedNs} ns waited`);
  assert.ok(stats.stall_s.store > 0 && stats.stall_s.start > 0);
  assert.ok(Math.abs((stats.gpu_busy_share ?? 0) - 0.03 / (6 * 0.007 + stalledS)) < 1e-9);
  for (const bad of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => feed.busy(bad), isBadArgument);
});

test('the budget holds at every moment', async () => {
  const sizes = Array.from({ length: 200 }, (_, row) => ((row * 7919) % 1500) + 1);
  const memoryBytes = 16_384;
  const { feed, time } = await openFake(manifestOf(sizes), {
    batchSamples: 4,
    memoryBytes,
    fate: ({ row }) => ({ latencyNs: (row % 13) * MS + 1 }),
  });
  const loop = async (): Promise<void> => {
    for await (const batch of feed) {
      see(batch);
      assert.ok(feed.snapshot().memoryBytes <= memoryBytes);
    }
  };
  await time.run(loop());
  const stats = feed.stats();
  assert.ok(stats.memory_peak_bytes <= memoryBytes && stats.memory_peak_bytes > 0);
  assert.is(
    stats.bytes,
    sizes.reduce((a, b) => a + b),
  );
});

test.run();
