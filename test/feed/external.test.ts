import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MS, manifestOf, openFake, readAll, rejects, type Seen, see, sizesTo } from './kit.js';

const manifest = manifestOf(sizesTo(30));
const run = { batchSamples: 4, shuffle: 'external' } as const;
const rows = (seen: Seen[]): number[][] => seen.map((batch) => batch.rows);

test('batches are what was asked for, in that order, repeats and all', async () => {
  const fake = await openFake(manifest, { ...run, fate: ({ row }) => ({ latencyNs: (30 - row) * MS }) });
  fake.feed.request([5, 5, 29, 0, 7]);
  fake.feed.request([8], { endBatch: true });
  fake.feed.request([1, 2, 3, 4, 6], { end: true });
  assert.equal(rows(await readAll(fake)), [[5, 5, 29, 0], [7, 8], [1, 2, 3, 4], [6]]);
});

test('a position may come while next() waits for it', async () => {
  const { feed, time } = await openFake(manifest, run);
  const waiting = feed.next();
  feed.request([3, 1, 4, 1]);
  const batch = await time.run(waiting);
  assert.equal(batch && see(batch).rows, [3, 1, 4, 1]);
  const end = feed.next();
  feed.request([], { end: true });
  assert.is(await time.run(end), null);
});

test('the look-ahead is bounded, and free again with delivery', async () => {
  const { feed, time } = await openFake(manifest, { ...run, set: { 'external.lookahead': 10 } });
  assert.is(feed.requestable, 10);
  feed.request([0, 1, 2, 3, 4, 5, 6, 7]);
  assert.is(feed.requestable, 2);
  await rejects((async () => feed.request([8, 9, 10]))(), 'lookahead_full');
  await time.run(feed.next());
  await time.run(feed.next());
  assert.is(feed.requestable, 10);
  await feed.close();
});

test('short batches take the room of whole ones: what does not fit is refused, the feed goes on', async () => {
  const { feed, time } = await openFake(manifest, { ...run, batchSamples: 30_000, memoryBytes: 2 ** 24 });
  for (let batch = 0; batch < 4; batch++) feed.request([batch], { endBatch: true });
  assert.is(feed.requestable, 0);
  await rejects((async () => feed.request([4]))(), 'lookahead_full');
  for (let batch = 0; batch < 20; batch++) {
    const got = await time.run(feed.next());
    assert.equal(got && see(got).rows, [batch]);
    got?.release();
    feed.request([batch + 4], { endBatch: true });
  }
  await feed.close();
});

test('many short batches ahead', async () => {
  const fake = await openFake(manifest, { ...run, memoryBytes: 2 ** 24 });
  let asked = 0;
  while (fake.feed.requestable > 0) fake.feed.request([asked++ % 30], { endBatch: true });
  assert.is(asked, 4096);
  fake.feed.request([], { end: true });
  assert.is((await readAll(fake)).length, asked);
});

const refused: [name: string, rows: unknown[], code: string][] = [
  ['a row beyond the manifest', [30], 'bad_row'],
  ['a negative row', [-1], 'bad_row'],
  ['half a row', [1.5], 'bad_row'],
  ['not a number', [Number.NaN], 'bad_row'],
  ['text', ['1'], 'bad_row'],
];
for (const [name, wanted, code] of refused) {
  test(`refused: ${name}`, async () => {
    const { feed } = await openFake(manifest, run);
    await rejects((async () => feed.request(wanted as number[]))(), code);
    assert.is(feed.requestable > 0, true);
    await feed.close();
  });
}

test('refused: arguments of another kind, by name', async () => {
  const { feed } = await openFake(manifest, run);
  const calls: [rows: unknown, options: unknown, option: string][] = [
    ...[null, undefined, 5, 8n, Symbol('s'), {}, () => {}].map((wrong): [unknown, unknown, string] => [
      wrong,
      {},
      'rows',
    ]),
    ...[null, true, [], 'end'].map((wrong): [unknown, unknown, string] => [[1], wrong, 'options']),
    [[1], { endBatch: 1 }, 'endBatch'],
    [[1], { end: 'yes' }, 'end'],
  ];
  for (const [wanted, options, option] of calls) {
    const call = async (): Promise<void> => feed.request(wanted as number[], options as object);
    const { context, exitCode } = await rejects(call(), 'bad_argument');
    assert.equal([(context as { option: string }).option, exitCode], [option, 2]);
  }
  for (const row of [8n, Symbol('s'), null, {}])
    await rejects((async () => feed.request([row] as unknown as number[]))(), 'bad_row');
  await feed.close();
});

test('refused: after the end, and in an order of our own', async () => {
  const ended = await openFake(manifest, run);
  ended.feed.request([1], { end: true });
  await rejects((async () => ended.feed.request([2]))(), 'order_ended');
  assert.equal(rows(await readAll(ended)), [[1]]);
  const own = await openFake(manifest, { batchSamples: 4 });
  await rejects((async () => own.feed.request([2]))(), 'not_external');
  await own.feed.close();
});

test('resumed: batches go on counting', async () => {
  const first = await openFake(manifest, run);
  first.feed.request([0, 1, 2, 3, 4, 5, 6, 7]);
  await first.time.run(first.feed.next());
  await first.time.run(first.feed.next());
  await first.feed.close();
  const second = await openFake(manifest, { ...run, resume: first.feed.cursor });
  second.feed.request([4, 5, 6, 7], { end: true });
  const seen = await readAll(second);
  assert.equal(
    seen.map(({ epoch, index }) => [epoch, index]),
    [[0, 1]],
  );
});

test.run();
