import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import type { JobSpec } from '../../runtime-node/policy/job.js';
import { type ActionOf, isKind, type SamplePlace } from '../kit/index.js';
import { Hand, MS, objectsOf } from './hand.js';

const LEARNT = 40;

interface Options {
  job?: Partial<JobSpec>;
  set?: Record<string, string | number>;
  place?: (row: number) => SamplePlace;
}

/** A run of 60 requests at once that has seen 40 first bytes after 10 ms; the others are still silent. */
async function learnt({ job = {}, set = {}, place = objectsOf(1000) }: Options = {}): Promise<Hand> {
  const hand = await Hand.start(
    {
      job: { samples: 120, batchSamples: 60, shuffle: 'none', memoryBytes: 2 ** 18, ...job },
      set: {
        'concurrency.mode': 'fixed',
        'concurrency.max': 100,
        'window.samples': 60,
        'window.mode': 'fixed',
        'hedge.share': 1,
        'hedge.min_delay': '20ms',
        'staging.share': 0.25,
        'merge.bytes': '0B',
        ...set,
      },
    },
    place,
  );
  hand.step();
  hand.step(10 * MS);
  for (const fetch of hand.open.slice(0, LEARNT)) {
    hand.first(fetch);
    hand.finish(fetch);
  }
  hand.step();
  for (const move of hand.moves) hand.moved(move);
  hand.step();
  return hand;
}

const hedgesOf = (hand: Hand): ActionOf<'fetch'>[] => hand.open.filter((f) => f.hedge);

/** A run in which the first silent part has a hedge; `main` and `hedge` are its two attempts. */
async function hedged(
  options: Options = {},
): Promise<{ hand: Hand; main: ActionOf<'fetch'>; hedge: ActionOf<'fetch'> }> {
  const hand = await learnt(options);
  hand.run(25 * MS);
  const hedge = hedgesOf(hand)[0]!;
  const main = hand.open.find((f) => f.id === hedge.id && !f.hedge)!;
  for (const other of hand.open.filter((f) => f.id !== hedge.id && !f.hedge)) hand.finish(other);
  hand.step();
  for (const other of hand.open.filter((f) => f.id !== hedge.id)) hand.fail(other, 'cancelled');
  hand.step();
  for (const move of hand.moves) hand.moved(move);
  hand.step();
  hand.seen = [];
  return { hand, main, hedge };
}

const kinds = (hand: Hand): string[] => hand.seen.filter((a) => a.kind !== 'sample').map((a) => a.kind);

test('the slow tail gets second requests, into staging, the oldest first, only after the delay', async () => {
  const hand = await learnt();
  assert.is(hand.probe.core.deadlineNs, 20 * MS);
  hand.step(19 * MS);
  assert.equal(hedgesOf(hand), []);
  hand.step(20 * MS);
  assert.equal(
    hedgesOf(hand).map((f) => f.row),
    Array.from({ length: 20 }, (_, i) => LEARNT + i),
    'the budget of 60 requests pays for all of them',
  );
  for (const hedge of hedgesOf(hand)) {
    const main = hand.open.find((f) => f.id === hedge.id && !f.hedge)!;
    assert.ok(hedge.staged && !main.staged);
    assert.equal(
      [hedge.row, hedge.offset, hedge.length, hedge.attempt],
      [main.row, main.offset, main.length, 2],
    );
  }
});

test('the delay is the quantile of first bytes where that is longer than hedge.min_delay', async () => {
  const hand = await learnt({ set: { 'hedge.min_delay': '1ms', 'hedge.quantile': 0.95 } });
  assert.ok(
    hand.probe.core.deadlineNs >= 10 * MS && hand.probe.core.deadlineNs <= 11.5 * MS,
    'as the buckets are wide',
  );
  hand.run(12 * MS);
  assert.ok(hedgesOf(hand).length > 0);
});

test('nothing is hedged before enough is known, nor with a share of 0, nor without staging', async () => {
  for (const name of ['hedge.share', 'staging.share']) {
    const hand = await learnt({ set: { [name]: 0 } });
    hand.run(1e10);
    assert.equal(hedgesOf(hand), [], name);
  }
  const hand = await Hand.start({ job: { samples: 60, batchSamples: 60 }, set: { 'hedge.share': 1 } });
  hand.step();
  for (const fetch of hand.open.slice(0, 8)) hand.finish(fetch);
  hand.run(1e10);
  assert.equal(hedgesOf(hand), []);
});

test('hedges stay within their share of requests', async () => {
  for (const [share, most] of [
    // 60 requests earn their share; four more are kept from the start for requests that hang.
    [0.02, 4 + 1],
    [0.06, 4 + 3],
    [0.11, 4 + 6],
    [1, 20], // all that are silent
  ] as const) {
    const hand = await learnt({ set: { 'hedge.share': share } });
    hand.run(1e10);
    assert.is(hand.counter(layout.COUNTER_HEDGES), most, `share ${share}`);
  }
});

test('while requests are paced, a hedge takes a token, and only one that is left over', async () => {
  // Nothing waits for the pace: the slow ones are hedged, one for each token.
  const spare = await learnt();
  spare.fail(spare.open[0]!, 'throttled');
  spare.step(20 * MS);
  const perS = spare.counter(layout.COUNTER_RATE_LIMIT);
  assert.ok(perS > 0 && hedgesOf(spare).length <= 1, `${perS} a second, ${hedgesOf(spare).length} hedges`);
  spare.run(100 * MS);
  const hedges = hedgesOf(spare).length;
  assert.ok(hedges >= 1 && hedges <= 1 + 0.1 * perS, `${hedges} hedges at ${perS} a second`);
  // Parts wait for the pace: they come first, and there is no token for a hedge.
  const busy = await learnt({
    job: { samples: 4000, memoryBytes: 2 ** 22 },
    set: { 'window.samples': 4000, 'concurrency.max': 60 },
  });
  const [refused, ...others] = busy.open.slice(20);
  busy.fail(refused!, 'throttled');
  for (const fetch of others) busy.finish(fetch);
  busy.run(100 * MS);
  assert.ok(busy.open.length < 60, 'there are places');
  assert.ok(busy.counter(layout.COUNTER_RATE_LIMIT) > 0);
  assert.equal(hedgesOf(busy), []);
});

test('no hedge beyond the concurrency limit', async () => {
  const full = await learnt({ set: { 'concurrency.max': 60, 'window.samples': 1000 } });
  full.run(25 * MS);
  assert.is(full.open.length, 60);
  assert.equal(hedgesOf(full), []);
});

test('a hedge is refused when staging is full', async () => {
  const hand = await learnt({ set: { 'staging.share': 0.0156 } }); // 4 KiB of 256: three parts of 1,024 bytes
  hand.run(25 * MS);
  const fit = Math.floor(hand.probe.core.stagingBytes / 1024);
  assert.is(hedgesOf(hand).length, fit);
  assert.ok(fit > 0 && fit < 16);
  hand.fail(hedgesOf(hand)[0]!, 'reset');
  hand.run(26 * MS);
  assert.is(hedgesOf(hand).length, fit, 'and goes out when there is room');
});

test('a part too large for staging does not stand in the way of the others', async () => {
  const hand = await learnt({
    job: { memoryBytes: 2 ** 20 },
    set: { 'staging.share': 0.0156 },
    place: (row) => ({ object: row, offset: 0, length: row === LEARNT ? 100_000 : 1000 }),
  });
  hand.run(25 * MS);
  assert.ok(hedgesOf(hand).some((f) => f.row === LEARNT + 1));
  assert.not(hedgesOf(hand).some((f) => f.row === LEARNT));
});

test('a hedge that wins: the main attempt is cancelled, and PLACE comes only after its end', async () => {
  for (const ends of ['cancelled', 'reset', 'timeout_idle'] as const) {
    const { hand, main, hedge } = await hedged();
    hand.finish(hedge);
    hand.step();
    assert.equal(hand.seen, [{ kind: 'cancel', consumer: 0, id: main.id, attempt: main.attempt }]);
    hand.step(40 * MS);
    assert.is(hand.moves.length, 0, 'the main attempt may still write');
    hand.fail(main, ends);
    hand.step();
    assert.is(hand.moves[0]?.from, hedge.target);
    assert.is(hand.moves[0]?.target, main.target);
    assert.equal(hand.delivered, []);
    hand.moved(hand.moves[0]!);
    hand.step();
    assert.equal(kinds(hand).slice(0, 3), ['cancel', 'place', 'deliver'], ends);
    assert.is(hand.counter(layout.COUNTER_HEDGE_WINS), 1);
    assert.is(hand.counter(layout.COUNTER_RETRIES), 0);
  }
});

test('a main attempt that is done before its cancel arrives needs no PLACE', async () => {
  const { hand, main, hedge } = await hedged();
  hand.finish(hedge);
  hand.step();
  hand.finish(main);
  hand.step();
  assert.equal(kinds(hand).slice(0, 2), ['cancel', 'deliver']);
});

test('a main attempt that wins: delivered at once, and staging is given back only after the hedge’s end', async () => {
  const { hand, main, hedge } = await hedged();
  const before = hand.counter(layout.COUNTER_MEMORY_BYTES);
  hand.finish(main);
  hand.step();
  assert.equal(kinds(hand).slice(0, 2), ['cancel', 'deliver']);
  assert.is(hand.counter(layout.COUNTER_MEMORY_BYTES), before);
  hand.fail(hedge, 'cancelled');
  hand.step();
  assert.is(hand.counter(layout.COUNTER_MEMORY_BYTES), before - 1024);
  assert.is(hand.counter(layout.COUNTER_IN_FLIGHT), 0);
});

test('one attempt that fails leaves it to the other; both: one retry, and no second hedge', async () => {
  const lone = await hedged();
  lone.hand.fail(lone.hedge, 'reset');
  lone.hand.run(lone.hand.nowNs + 1e9);
  assert.equal(lone.hand.seen, [], 'the main attempt goes on');
  lone.hand.finish(lone.main);
  lone.hand.step();
  assert.is(lone.hand.delivered.length, 1);

  const rest = await hedged();
  rest.hand.fail(rest.main, 'server');
  rest.hand.run(rest.hand.nowNs + 1e9);
  assert.equal(rest.hand.seen, [], 'the hedge goes on');
  rest.hand.finish(rest.hedge);
  rest.hand.step();
  assert.is(rest.hand.moves.length, 1);

  const both = await hedged();
  both.hand.fail(both.main, 'server');
  both.hand.fail(both.hedge, 'reset');
  both.hand.run(both.hand.nowNs + 10e9);
  const again = both.hand.seen.filter(isKind('fetch'));
  assert.equal(
    again.map((f) => [f.attempt, f.hedge]),
    [[3, false]],
  );
  assert.is(both.hand.counter(layout.COUNTER_RETRIES), 1);
});

test('staged: a hedge that wins is placed at once, from its own segment', async () => {
  const { hand, main, hedge } = await hedged({ job: { staged: true } });
  assert.ok(main.staged);
  hand.finish(hedge);
  hand.step();
  assert.equal(kinds(hand), ['cancel', 'place']);
  assert.is(hand.moves[0]?.from, hedge.target);
  hand.moved(hand.moves[0]!);
  hand.step();
  assert.is(hand.delivered.length, 1);
  const before = hand.counter(layout.COUNTER_MEMORY_BYTES);
  hand.finish(main);
  hand.step();
  assert.is(hand.counter(layout.COUNTER_MEMORY_BYTES), before - 2 * 1024);
});

test.run();
