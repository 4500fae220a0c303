import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { isKind, probeCore, runWorld } from '../kit/index.js';
import { Hand, MS, objectsOf } from './hand.js';

// Situations in which a run could stop for ever, or one rank starve another.

test('a lower budget leaves room for staging and landing both', async () => {
  for (const share of [0.1, 0.3, 0.5, 0.75, 0.9]) {
    const memoryBytes = 200_000;
    const probe = await probeCore({ job: { samples: 400, batchSamples: 4, memoryBytes, staged: true } });
    const report = runWorld(probe, {
      seed: 1,
      firstByteNs: () => 5 * MS,
      stepNs: MS,
      limits: [{ atNs: 7 * MS, bytes: memoryBytes * share }],
    });
    assert.ok(report.ended, `${share}`);
  }
});

/** Consumer 0 never consumes; consumer 1 takes whatever it is given. Batches that consumer 1 got. */
function starve(hand: Hand): number {
  let got = 0;
  for (;;) {
    hand.step();
    hand.settle();
    const mine = hand.delivered.filter((d) => d.consumer === 1);
    if (mine.length === 0) return got;
    got += mine.length;
    for (const batch of mine) hand.consume(batch);
  }
}

test('what one consumer holds starves no other', async () => {
  const job = { samples: 20_000, worldSize: 2, consumers: 2, shuffle: 'none' as const };
  const table = [
    { what: 'landing memory', batchSamples: 4, sampleBytes: 1000, memoryBytes: 100_000 },
    {
      what: 'landing memory after a lower budget',
      batchSamples: 4,
      sampleBytes: 1000,
      memoryBytes: 100_000,
      limit: 20_000,
    },
    { what: 'records of batches', batchSamples: 1, sampleBytes: 10 },
    { what: 'sample slots', batchSamples: 100, sampleBytes: 1 },
  ];
  for (const { what, batchSamples, sampleBytes, memoryBytes, limit } of table) {
    const hand = await Hand.start({ job: { ...job, batchSamples, memoryBytes } }, objectsOf(sampleBytes));
    if (limit) hand.events.limit(0, limit);
    assert.is(starve(hand), job.samples / 2 / batchSamples, what);
  }
});

test('a lower budget while one rank holds it all: the other still gets its batch', async () => {
  const hand = await Hand.start({
    job: { samples: 1000, batchSamples: 4, worldSize: 2, consumers: 2, memoryBytes: 100_000 },
  });
  hand.step();
  hand.settle();
  hand.events.limit(hand.nowNs, 24_000);
  // Rank 1 has used up what it was given before; rank 0 waits at a barrier for it.
  for (const batch of hand.delivered.filter((d) => d.consumer === 1)) hand.consume(batch);
  hand.step();
  hand.settle();
  assert.is(hand.delivered.filter((d) => d.consumer === 1).length, 1);
});

test('staging is not lost while every part record is in use', async () => {
  const hand = await Hand.start(
    {
      job: { samples: 60_000, batchSamples: 500, staged: true, shuffle: 'none', memoryBytes: 2 ** 26 },
      set: { 'retry.attempts': 1000, 'concurrency.max': 4096, 'concurrency.mode': 'fixed' },
    },
    objectsOf(64),
  );
  hand.step();
  // An outage: everything fails at once, until all parts wait for a retry.
  for (let i = 0; i < 6; i++) {
    for (const fetch of [...hand.open]) hand.fail(fetch, 'connect');
    hand.step(hand.nowNs + 1);
  }
  for (let i = 0; i < 40 && hand.delivered.length === 0; i++) {
    hand.run(hand.nowNs + 600e9);
    hand.settle();
  }
  assert.ok(hand.delivered.length > 0);
});

test('due retries of one rank never leave another rank with a batch that is gone', async () => {
  const hand = await Hand.start(
    {
      job: { samples: 80, batchSamples: 1, worldSize: 2, consumers: 2, shuffle: 'none' },
      preset: 'readahead',
      set: {
        'window.samples': 8,
        'concurrency.max': 4,
        'retry.attempts': 1000,
        'retry.budget': 10,
        'retry.base': '1us',
        'retry.cap': '1us',
      },
    },
    objectsOf(100),
  );
  hand.step();
  // Rank 1 gets its window; every request of rank 0 fails until the retry budget is used up.
  const tries = (): number => hand.counter(layout.COUNTER_RETRIES);
  for (let before = -1; before < tries() || hand.open.length > 0; ) {
    before = tries();
    for (const fetch of [...hand.open]) fetch.consumer === 1 ? hand.finish(fetch) : hand.fail(fetch, 'reset');
    hand.step(hand.nowNs + 2000);
  }
  assert.is(hand.delivered.length, 8);
  // Its next request earns budget for many retries, which take all other places and every one that frees.
  for (const batch of [...hand.delivered]) hand.consume(batch);
  hand.step();
  const next = hand.open.find((f) => f.consumer === 1)!;
  assert.is(hand.open.length, 4);
  hand.finish(next);
  hand.step();
  assert.is(hand.delivered.length, 1);
  hand.consume(hand.delivered[0]!);
  hand.step();
  for (let i = 0; i < 100 && !hand.ended; i++) {
    hand.settle();
    for (const batch of [...hand.delivered]) hand.consume(batch);
    hand.step(hand.nowNs + 100 * MS);
  }
  assert.ok(hand.ended);
  assert.is(new Set(hand.seen.filter(isKind('sample')).map((s) => s.row)).size, 80);
});

test('FAIL is told also when nobody had read the ring', async () => {
  const hand = await Hand.start({ job: { samples: 9000, batchSamples: 4096, shuffle: 'external' } });
  hand.events.requested(0, 0, layout.REQUESTED_CLOSES_BATCH, 0);
  hand.step();
  const { core } = hand.probe;
  for (let i = 0; i < 2 * 4096; i++) {
    if (core.events.free === 0) core.step(0);
    core.events.requested(0, 0, 0, i);
  }
  core.step(0);
  hand.fail(hand.open[0]!, 'not_found');
  core.step(0);
  assert.ok(core.more);
  hand.step();
  assert.is(hand.failed?.class, layout.CLASS_NOT_FOUND);
});

test.run();
