import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { isKind } from '../kit/index.js';
import { Hand, MS, objectsOf } from './hand.js';

const told = (hand: Hand): string[] =>
  hand.seen.filter(isKind('deliver')).map((d) => `${d.consumer}:${d.epoch}/${d.batch}`);

test('delivered in order and once, in whatever order the requests end', async () => {
  const hand = await Hand.start({ job: { samples: 12, batchSamples: 2, epochs: 2 }, preset: 'readahead' });
  hand.step();
  for (let i = 0; i < 40 && !hand.ended; i++) {
    for (const fetch of hand.open.reverse()) {
      hand.finish(fetch);
      hand.step();
    }
    for (const batch of [...hand.delivered].reverse()) hand.consume(batch);
    hand.step();
  }
  assert.equal(
    told(hand),
    [0, 1].flatMap((e) => [0, 1, 2, 3, 4, 5].map((b) => `0:${e}/${b}`)),
  );
  assert.equal(hand.seen.at(-1), { kind: 'end', consumer: 0, batches: 12 });
});

test('the earliest batch of any consumer is asked for first; equals go by rank', async () => {
  const hand = await Hand.start(
    {
      job: { samples: 48, batchSamples: 2, worldSize: 2, consumers: 2, shuffle: 'none' },
      preset: 'readahead',
      set: { 'concurrency.max': 2, 'window.samples': 4 },
    },
    objectsOf(100),
  );
  const asked = (): string[] => hand.seen.filter(isKind('fetch')).map((f) => `${f.consumer}:${f.row}`);
  hand.step();
  while (hand.open.length > 0) {
    hand.finish(hand.open[0]!);
    hand.step();
  }
  assert.equal(asked(), ['0:0', '0:1', '1:2', '1:3', '0:4', '0:5', '1:6', '1:7']);
  // Rank 1 runs ahead by two batches; then rank 0 asks for its third: that is earlier than rank 1's fifth.
  hand.seen = [];
  for (const batch of hand.delivered.filter((d) => d.consumer === 1)) hand.consume(batch);
  hand.step();
  hand.settle();
  for (const batch of [...hand.delivered]) hand.consume(batch);
  hand.step();
  hand.settle();
  assert.equal(asked().slice(0, 8), ['1:10', '1:11', '1:14', '1:15', '0:8', '0:9', '0:12', '0:13']);
});

test('a consumer without a share of the last batch ends before the others', async () => {
  const hand = await Hand.start({
    job: { samples: 5, batchSamples: 1, worldSize: 4, consumers: 4, tail: 'partial', shuffle: 'none' },
  });
  hand.step();
  hand.settle();
  const ends = hand.seen.filter(isKind('end'));
  assert.equal(ends.map((e) => [e.consumer, e.batches]).sort(), [
    [0, 1],
    [1, 1],
    [2, 1],
    [3, 2],
  ]);
  assert.ok(hand.ended);
});

test('an epoch without a whole batch ends at once under drop', async () => {
  const hand = await Hand.start({ job: { samples: 5, batchSamples: 8, epochs: 3 } });
  assert.equal(hand.step(), [{ kind: 'end', consumer: 0, batches: 0 }]);
});

// ---- window -------------------------------------------------------------------------------------

test('how far a fixed window runs ahead; one batch is always allowed', async () => {
  for (const [set, batches] of [
    [{ 'window.samples': 1 }, 1],
    [{ 'window.samples': 8 }, 2],
    [{ 'window.samples': 11 }, 2],
    [{ 'window.bytes': '1B' }, 1],
    [{ 'window.bytes': '12KiB' }, 3],
    [{}, 14], // the budget: 60,000 bytes of 4 KiB batches
  ] as [Record<string, string | number>, number][]) {
    const hand = await Hand.start(
      {
        job: { samples: 400, batchSamples: 4, memoryBytes: 60_000, shuffle: 'none' },
        preset: 'readahead',
        set: { 'concurrency.max': 1000, ...set },
      },
      objectsOf(1024),
    );
    hand.step();
    assert.is(hand.open.length, batches * 4, JSON.stringify(set));
    hand.settle();
    hand.consume(hand.delivered[0]!);
    hand.step();
    assert.is(hand.open.length, 4, 'one batch consumed, one more begun');
  }
});

test('an adaptive window starts at a quarter of landing memory, doubles at a stall, and shrinks with the budget', async () => {
  const hand = await Hand.start(
    {
      job: { samples: 4000, batchSamples: 4, memoryBytes: 2 ** 20 },
      set: { 'window.initial_bytes': '16KiB', 'hedge.share': 0 },
    },
    objectsOf(1024),
  );
  const window = (): number => hand.counter(layout.COUNTER_WINDOW_BYTES) / 1024;
  hand.step();
  assert.is(window(), 256);
  hand.events.waiting(hand.nowNs, 0);
  hand.step(MS);
  assert.is(window(), 256, 'the wait for the first batch says nothing about the window');
  for (const kib of [512, 1024, 1024]) {
    hand.settle();
    for (const batch of [...hand.delivered]) hand.consume(batch);
    hand.events.waiting(hand.nowNs, 0);
    hand.step(hand.nowNs + MS);
    hand.events.waiting(hand.nowNs, 0);
    hand.step();
    assert.is(window(), kib, 'one doubling for each wait');
  }
  hand.events.limit(hand.nowNs, 2 ** 18);
  hand.step();
  assert.is(window(), 256);
});

test('window.initial_bytes is where the window starts if that is more than a quarter', async () => {
  const hand = await Hand.start(
    {
      job: { samples: 4000, batchSamples: 4, memoryBytes: 2 ** 20 },
      set: { 'window.initial_bytes': '600KiB', 'hedge.share': 0 },
    },
    objectsOf(1024),
  );
  hand.step();
  assert.is(hand.counter(layout.COUNTER_WINDOW_BYTES) / 1024, 600);
});

// ---- holes --------------------------------------------------------------------------------------

const SKIPPING = {
  samples: 8,
  batchSamples: 8,
  shuffle: 'none' as const,
  onError: 'skip' as const,
  maxSkips: 2,
};

test('skip: a hole is named before its batch, marked in it, and counted', async () => {
  const hand = await Hand.start({ job: SKIPPING });
  hand.step();
  const lost = hand.open[3]!;
  hand.fail(lost, 'not_found');
  hand.settle();
  const skip = hand.seen.find(isKind('skip'))!;
  assert.equal(skip, {
    kind: 'skip',
    consumer: 0,
    id: lost.id,
    class: layout.CLASS_NOT_FOUND,
    epoch: 0,
    batch: 0,
    row: 3,
    index: 3,
  });
  assert.ok(hand.seen.indexOf(skip) < hand.seen.findIndex((a) => a.kind === 'deliver'));
  assert.equal(
    hand.seen.filter(isKind('sample')).map((s) => s.skipped),
    [false, false, false, true, false, false, false, false],
  );
  assert.is(hand.delivered[0]!.bytes, 7000);
  assert.is(hand.delivered[0]!.samples, 8);
  assert.is(hand.counter(layout.COUNTER_SAMPLES), 7);
  assert.is(hand.counter(layout.COUNTER_SKIPPED), 1);
  assert.ok(hand.ended);
});

test('skip: what is retried is retried first; one more than max-skips ends the run', async () => {
  const hand = await Hand.start({ job: SKIPPING, set: { 'retry.attempts': 2, 'retry.base': '1ms' } });
  hand.step();
  const all = hand.open;
  for (const fetch of all.slice(0, 3)) hand.fail(fetch, 'reset');
  hand.step();
  assert.equal(hand.seen.filter(isKind('skip')), []);
  hand.run(10 * MS);
  const again = hand.open.filter((f) => f.attempt === 2);
  for (const fetch of again.slice(0, 2)) hand.fail(fetch, 'reset');
  hand.step();
  assert.is(hand.seen.filter(isKind('skip')).length, 2);
  assert.is(hand.failed, null);
  hand.fail(again[2]!, 'reset');
  hand.step();
  assert.is(hand.failed!.code, layout.ERROR_TOO_MANY_SKIPS);
});

test('skip: two lost parts of one sample are one hole; a lost part of a merged range takes only its samples', async () => {
  const parts = await Hand.start(
    { job: { ...SKIPPING, samples: 1, batchSamples: 1 }, set: { 'split.bytes': '4KiB' } },
    objectsOf(10_000),
  );
  parts.step();
  for (const fetch of parts.open.slice(0, 2)) parts.fail(fetch, 'not_found');
  parts.settle();
  assert.is(parts.seen.filter(isKind('skip')).length, 1);
  assert.is(parts.counter(layout.COUNTER_SKIPPED), 1);
  assert.ok(parts.ended);

  const merged = await Hand.start(
    {
      job: { ...SKIPPING, maxSkips: 8 },
      set: { 'split.bytes': '4KiB', 'merge.bytes': '1MiB', 'merge.gap': '0B' },
    },
    (row) => ({ object: 0, offset: row * 2000, length: 2000 }),
  );
  merged.step();
  const second = merged.open.find((f) => f.offset === 4096)!;
  merged.fail(second, 'checksum');
  for (let i = 0; i < 3; i++) {
    merged.run(merged.nowNs + 10e9);
    const again = merged.open.find((f) => f.offset === 4096);
    if (again) merged.fail(again, 'checksum');
  }
  merged.settle();
  // Bytes 4,096 to 8,192: the rows 2 to 4.
  assert.equal(
    merged.seen.filter(isKind('skip')).map((s) => s.row),
    [2, 3, 4],
  );
});

test('skip: the pads of a lost sample are holes too, and do not count against the limit', async () => {
  for (const maxSkips of [0, 1]) {
    const hand = await Hand.start({ job: { ...SKIPPING, samples: 3, tail: 'pad', maxSkips } });
    hand.step();
    const lost = hand.open.filter((fetch) => fetch.row === 1);
    assert.is(lost.length, 3, 'the sample and two pads of it');
    for (const fetch of lost) hand.fail(fetch, 'not_found');
    hand.settle();
    if (maxSkips === 0) {
      assert.is(hand.failed?.code, layout.ERROR_TOO_MANY_SKIPS);
      continue;
    }
    assert.is(hand.failed, null);
    assert.equal(
      hand.seen.filter(isKind('skip')).map(({ row, index }) => [row, index]),
      [
        [1, 1],
        [1, 4],
        [1, 7],
      ],
    );
    assert.is(hand.counter(layout.COUNTER_SKIPPED), 3);
    assert.ok(hand.ended);
  }
});

test('a transfer that fails is done again from staging; for good, it ends the run or makes a hole', async () => {
  for (const onError of ['fail', 'skip'] as const) {
    const hand = await Hand.start({
      job: { ...SKIPPING, onError, staged: true },
      set: { 'retry.attempts': 3 },
    });
    hand.step();
    hand.finish(hand.open[0]!);
    hand.step();
    for (let i = 0; i < 3; i++) {
      assert.is(hand.moves.length, 1);
      hand.moveFailed(hand.moves[0]!);
      hand.step();
    }
    assert.is(hand.counter(layout.COUNTER_REQUESTS), 8, 'the bytes are not fetched again');
    if (onError === 'fail') assert.is(hand.failed?.code, layout.ERROR_PLACE);
    else assert.is(hand.seen.filter(isKind('skip'))[0]?.class, layout.CLASS_TRANSFER);
  }
});

test.run();
