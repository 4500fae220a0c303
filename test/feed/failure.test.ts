import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Core } from '../../runtime-node/core.js';
import type { FeedLogger } from '../../runtime-node/feed/options.js';
import type { FakeRequest, Fate } from './fake-engine.js';
import { MS, manifestOf, openFake, readAll, rejects, see, sizesTo } from './kit.js';

const manifest = manifestOf(sizesTo(24));
const run = { batchSamples: 4, shuffle: 'none', tail: 'partial' } as const;
const only =
  (row: number, fate: Partial<Fate>) =>
  (request: FakeRequest): Fate => ({ latencyNs: 10 * MS, ...(request.row === row ? fate : {}) });

const final: [fails: NonNullable<Fate['fails']>, status: number][] = [
  ['not_found', 404],
  ['forbidden', 403],
  ['changed', 412],
  ['archived', 403],
];
for (const [fails, status] of final) {
  test(`${fails}: batches before it come, then the cause, at every call`, async () => {
    const fake = await openFake(manifest, { ...run, policy: 'readahead', fate: only(9, { fails, status }) });
    const { feed, time, engine } = fake;
    const first = await time.run(feed.next());
    assert.is(first?.index, 0);
    const rest = async (): Promise<void> => {
      while (await feed.next());
    };
    const error = await time.run(rejects(rest(), fails));
    const context = error.context as Record<string, unknown>;
    assert.equal([context.key, context.row, context.attempts, context.status], ['data/00009', 9, 1, status]);
    assert.match(error.message, /data\/00009.*1 attempt\)/);
    assert.is(error.name, 'StoreError');
    for (let i = 0; i < 2; i++) assert.is(await time.run(rejects(feed.next(), fails)), error);
    assert.ok(engine.closed);
    assert.is(feed.cursor.batch, 2);
    await feed.close();
    assert.is(time.pending, 0);
  });
}

test('what passes is retried, and the attempts are counted', async () => {
  const flaky = await openFake(manifest, {
    ...run,
    fate: ({ row, attempt }) =>
      row % 3 === 0 && attempt < 3 ? { latencyNs: MS, fails: 'server', status: 500 } : { latencyNs: MS },
  });
  await readAll(flaky);
  assert.is(flaky.feed.stats().retries, 16);
  const dead = await openFake(manifest, {
    ...run,
    set: { 'retry.attempts': 4 },
    fate: only(5, { fails: 'reset' }),
  });
  const error = await dead.time.run(
    rejects(
      (async () => {
        while (await dead.feed.next());
      })(),
      'reset',
    ),
  );
  assert.is((error.context as { attempts: number }).attempts, 4);
});

test('skip: holes are marked, counted and named', async () => {
  const warnings: object[] = [];
  const logger: FeedLogger = { debug() {}, info() {}, warn: (fields) => warnings.push(fields) };
  const lost = new Set([0, 6, 23]);
  const fake = await openFake(manifest, {
    ...run,
    onError: 'skip',
    maxSkips: 3,
    logger,
    fate: ({ row }) => ({ latencyNs: MS, ...(lost.has(row) ? { fails: 'not_found', status: 404 } : {}) }),
  });
  const seen = await readAll(fake);
  assert.equal(
    seen.flatMap((batch) => batch.skipped),
    [...lost],
  );
  const stats = fake.feed.stats();
  assert.is(stats.samples, 21);
  assert.equal(
    stats.skipped,
    [...lost].map((row) => ({
      index: row,
      key: manifest.key(row),
      code: 'not_found',
      reason: 'made to fail: not_found',
    })),
  );
  assert.is(warnings.length, 3);
});

test('skip: the bytes of a hole are refused', async () => {
  const { feed, time } = await openFake(manifest, {
    ...run,
    onError: 'skip',
    maxSkips: 1,
    fate: only(2, { fails: 'not_found' }),
  });
  const batch = await time.run(feed.next());
  assert.throws(
    () => batch?.bytes(2),
    (error: { code: string }) => error.code === 'sample_skipped',
  );
  assert.throws(
    () => batch?.field(2, 'jpg'),
    (error: { code: string }) => error.code === 'sample_skipped',
  );
  assert.is(batch?.bytes(1).length, 2);
  await feed.close();
});

test('skip: above the limit the feed ends, with the last failure as the cause', async () => {
  const { feed, time } = await openFake(manifest, {
    ...run,
    onError: 'skip',
    maxSkips: 2,
    fate: ({ row }) => ({ latencyNs: MS, ...(row % 4 === 0 ? { fails: 'not_found' } : {}) }),
  });
  const all = async (): Promise<void> => {
    for (let batch = await feed.next(); batch; batch = await feed.next()) see(batch);
  };
  const error = await time.run(rejects(all(), 'too_many_skips'));
  assert.is((error.cause as { code: string }).code, 'not_found');
  assert.is((error.context as { option: string }).option, 'maxSkips');
  assert.match(error.message, /more than 2 samples failed: maxSkips is 2, for all epochs/);
  assert.match(String(error.mend), /^raise maxSkips; or: index the data set again; check/);
});

test('skip: without a limit there is one that can be used, and it counts over all epochs', async () => {
  const lost = new Set([1, 2, 3, 4, 5]);
  const skipping = (epochs: number): ReturnType<typeof openFake> =>
    openFake(manifest, {
      ...run,
      epochs,
      onError: 'skip',
      fate: ({ row }) => ({ latencyNs: MS, ...(lost.has(row) ? { fails: 'not_found' } : {}) }),
    });
  const most = await skipping(20);
  await readAll(most);
  assert.is(most.feed.stats().skipped.length, 100);
  const error = await rejects(readAll(await skipping(21)), 'too_many_skips');
  assert.match(error.message, /more than 100 samples/);
});

test('a batch that cannot fit is refused with both sizes', async () => {
  const { feed, time } = await openFake(manifestOf([3000, 3000, 3000, 1, 1, 1]), {
    batchSamples: 3,
    memoryBytes: 8192,
    shuffle: 'none',
  });
  const error = await time.run(rejects(feed.next(), 'batch_too_large'));
  assert.match(error.message, /a batch of 9024 B does not fit into 7680 B of landing memory/);
  assert.match(error.message, /which is 0\.9375 of the memory budget of 8 KiB/);
  assert.match(String(error.mend), /raise memoryBytes to 10240 or more, or lower batchSamples/);
  await feed.close();
});

test('a trap in the core: next() rejects with it, close() still works', async () => {
  const { step } = Core.prototype;
  let steps = 0;
  const trap = new WebAssembly.RuntimeError('unreachable');
  Core.prototype.step = function (this: Core, nowNs: number): number {
    if (steps++ > 12) throw trap;
    return step.call(this, nowNs);
  };
  try {
    const { feed, time, engine } = await openFake(manifest, {
      ...run,
      fate: ({ row }) => ({ latencyNs: (row + 1) * MS }),
    });
    const all = async (): Promise<void> => {
      for (let batch = await feed.next(); batch; batch = await feed.next()) see(batch);
    };
    const error = await time.run(rejects(all(), 'core_trap'));
    assert.is(error.cause, trap);
    await rejects(feed.next(), 'core_trap');
    assert.ok(engine.closed);
    await feed.close();
    assert.is(time.pending, 0);
  } finally {
    Core.prototype.step = step;
  }
});

test('an engine that throws, and a clock that runs backwards: the cause, not a hang', async () => {
  const cause = new Error('no engine');
  const broken = await openFake(manifest, {
    ...run,
    fate: ({ row }) => {
      if (row === 7) throw cause;
      return { latencyNs: MS };
    },
  }).then(async ({ feed, time }) => {
    const all = async (): Promise<void> => {
      while (await feed.next());
    };
    return time.run(rejects(all(), 'internal'));
  });
  assert.is(broken.cause, cause);
  const { time, ...parts } = await openFake(manifest, run);
  time.nowNs = () => -1;
  await time.run(rejects(parts.feed.next(), 'internal'));
  await parts.feed.close();
});

test('abort: next() rejects though the store hangs, and nothing is left', async () => {
  const controller = new AbortController();
  const { feed, time, engine } = await openFake(manifest, {
    ...run,
    signal: controller.signal,
    fate: ({ row }) => ({ latencyNs: MS, ...(row >= 4 ? { fails: 'hang' } : {}) }),
  });
  const first = await time.run(feed.next());
  first?.release();
  const waiting = feed.next();
  controller.abort(new Error('enough'));
  const error = await rejects(waiting, 'aborted');
  assert.is((error.cause as Error).message, 'enough');
  assert.ok(engine.closed && engine.sockets === 0);
  await rejects(feed.next(), 'aborted');
  await feed.close();
  assert.is(time.pending, 0);
  assert.is(feed.cursor.batch, 1);
  await rejects(openFake(manifest, { ...run, signal: controller.signal }), 'aborted');
});

test.run();
