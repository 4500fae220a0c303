import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { FAILURE_CLASSES, type FailureName } from '../../runtime-node/engine/failure.js';
import { isKind } from '../kit/index.js';
import { Hand, MS, objectsOf } from './hand.js';

const NAMES = Object.keys(FAILURE_CLASSES) as FailureName[];

/** One sample at a time; `job` and `set` as given. */
function single(set: Record<string, string | number> = {}, seed = 1): Promise<Hand> {
  return Hand.start({ job: { samples: 4, batchSamples: 1, seed }, preset: 'sync', set });
}

/** Fails the open attempt and waits for the next one; how long that was, or null: the run failed. */
function failOnce(hand: Hand, name: FailureName, retryAfterNs = 0): number | null {
  const failedNs = hand.nowNs;
  hand.fail(hand.open[0]!, name, retryAfterNs);
  hand.step();
  if (hand.failed) return null;
  if (hand.open.length === 0) hand.step(hand.probe.core.deadlineNs);
  assert.is(hand.open.length, 1);
  return hand.nowNs - failedNs;
}

test('backoff doubles, with jitter of a half, up to the cap', async () => {
  const hand = await single({ 'retry.base': '100ms', 'retry.cap': '1s' });
  hand.step();
  for (const wanted of [100, 200, 400, 800, 1000, 1000, 1000]) {
    const waited = failOnce(hand, 'reset')! / MS;
    assert.ok(waited >= wanted / 2 && waited <= wanted + 0.001, `${waited} ms, at most ${wanted}`);
  }
});

test('jitter comes from the seed', async () => {
  const waits = async (seed: number): Promise<(number | null)[]> => {
    const hand = await single({}, seed);
    hand.step();
    return [1, 2, 3, 4].map(() => failOnce(hand, 'server'));
  };
  assert.equal(await waits(1), await waits(1));
  assert.not.equal(await waits(1), await waits(2));
});

test('retry-after: never before it, never shorter than the backoff, never more than a minute', async () => {
  for (const [afterMs, least, most] of [
    [0, 50, 100],
    [10, 50, 100],
    [700, 700, 700],
    [59_000, 59_000, 59_000],
    [3_600_000, 60_000, 60_000],
  ] as const) {
    const hand = await single({ 'retry.base': '100ms' });
    hand.step();
    const waited = failOnce(hand, 'throttled', afterMs * MS)! / MS;
    assert.ok(waited >= least && waited <= most + 0.001, `retry-after ${afterMs} ms: ${waited} ms`);
  }
});

const FINAL: FailureName[] = [
  'not_found',
  'forbidden',
  'changed',
  'moved',
  'archived',
  'refused',
  'tls',
  'internal',
];
const WRONG_BODY: FailureName[] = ['short', 'long', 'range', 'checksum', 'expired'];

for (const name of NAMES) {
  const wanted = FINAL.includes(name) ? 1 : WRONG_BODY.includes(name) ? 4 : 7;
  test(`${name}: ${wanted === 1 ? 'final' : `${wanted} of 7 attempts`}`, async () => {
    const hand = await single({ 'retry.attempts': 7 });
    hand.step();
    const row = hand.open[0]!.row;
    let attempts = 1;
    // A stale connection is replayed once for nothing.
    while (failOnce(hand, name) !== null) attempts++;
    assert.is(attempts, name === 'stale' ? wanted + 1 : wanted);
    assert.equal(hand.failed, {
      kind: 'fail',
      consumer: 0,
      id: hand.failed?.id,
      code: layout.ERROR_FETCH,
      class: name === 'cancelled' ? layout.CLASS_RESET : FAILURE_CLASSES[name],
      row,
      needed: 0,
      limit: 0,
    });
  });
}

/** Two requests at a time; the first is refused again and again, up to `most` times, and the others as told. */
async function refuse(most: number, others: 'served' | 'refused', set: Record<string, string | number> = {}) {
  const hand = await Hand.start(
    {
      job: { samples: 100_000, batchSamples: 1, shuffle: 'none' },
      preset: 'readahead',
      set: { 'concurrency.max': 2, ...set },
    },
    objectsOf(1),
  );
  hand.step();
  let refusals = 0;
  for (let steps = 0; refusals < most && !hand.failed && steps < 100_000; steps++) {
    for (const fetch of hand.open) {
      if (fetch.row !== 0 && others === 'served') hand.finish(fetch);
      else hand.fail(fetch, 'throttled');
      if (fetch.row === 0) refusals++;
    }
    hand.step(Math.max(hand.nowNs + MS, Math.min(hand.probe.core.deadlineNs, hand.nowNs + 100 * MS)));
  }
  return { hand, refusals };
}

test('503: a store that serves nobody ends the run, an unlucky request does not', async () => {
  const set = { 'retry.attempts': 5, 'retry.cap': '200ms' };
  const dead = await refuse(1000, 'refused', set);
  assert.is(dead.hand.failed?.class, layout.CLASS_THROTTLED);
  assert.is(dead.refusals, 5);
  const unlucky = await refuse(20, 'served', set);
  assert.is(unlucky.hand.failed, null);
  assert.is(unlucky.refusals, 20);
  unlucky.hand.finish(unlucky.hand.open.find((f) => f.row === 0) ?? unlucky.hand.open[0]!);
  unlucky.hand.step();
  // And yet it has a bound: ten times the attempts.
  const never = await refuse(1000, 'served', { ...set, 'window.samples': 100_000, 'window.bytes': '1GiB' });
  assert.is(never.hand.failed?.row, 0);
  assert.is(never.refusals, 50);
});

test('a body of another length than asked is short, whatever the host thinks', async () => {
  const hand = await single({ 'retry.attempts': 7 });
  hand.step();
  for (const bytes of [999, 1001, 0]) {
    hand.finish(hand.open[0]!, bytes);
    hand.step();
    assert.equal(hand.delivered, [], `${bytes}`);
    hand.step(hand.probe.core.deadlineNs);
  }
  hand.finish(hand.open[0]!, 0);
  hand.step();
  assert.is(hand.failed?.class, layout.CLASS_SHORT);
});

test('a stale connection: replayed at once, once, without counting', async () => {
  const hand = await single({ 'retry.attempts': 2, 'retry.budget': 0 });
  hand.step();
  assert.is(failOnce(hand, 'stale'), 0, 'at once');
  assert.ok(failOnce(hand, 'stale')! > 0, 'the second time it waits as any other');
  hand.finish(hand.open[0]!);
  hand.step();
  assert.is(hand.delivered.length, 1);
  assert.is(hand.counter(layout.COUNTER_THROTTLES), 0);
});

test('the budget delays retries, and never fails them', async () => {
  const samples = 1000;
  const hand = await Hand.start({
    job: { samples, batchSamples: 1000, memoryBytes: 2 ** 22 },
    set: {
      'retry.budget': 0,
      'concurrency.mode': 'fixed',
      'concurrency.max': 1000,
      'hedge.share': 0,
      'retry.cap': '100ms',
      'retry.attempts': 1000,
    },
  });
  hand.step();
  assert.is(hand.open.length, samples);
  // Everything fails for three seconds: at first there are 256 tokens, then a trickle.
  for (const fetch of hand.open) hand.fail(fetch, 'connect');
  for (let ms = 0; ms < 3000; ms += 10) {
    hand.run(ms * MS);
    for (const fetch of hand.open) hand.fail(fetch, 'connect');
  }
  const spent = hand.counter(layout.COUNTER_RETRIES);
  assert.ok(spent >= 256 && spent <= 256 + 31, `${spent} retries`);
  assert.is(hand.failed, null);
  // The store is well again: what waited goes out as fast as it answers, not at the trickle's pace.
  for (let ms = 3000; ms < 6000 && hand.delivered.length === 0; ms += 10) {
    for (const fetch of hand.open) hand.finish(fetch);
    hand.run(ms * MS);
  }
  assert.is(hand.delivered.length, 1);
  assert.is(hand.seen.filter(isKind('fail')).length, 0);
});

test('retries that are due go before new parts', async () => {
  const hand = await Hand.start(
    {
      job: { samples: 40, batchSamples: 10, shuffle: 'none' },
      preset: 'readahead',
      set: { 'concurrency.max': 2, 'retry.base': '1ms' },
    },
    objectsOf(100),
  );
  hand.step();
  hand.fail(hand.open[0]!, 'reset');
  hand.step();
  assert.equal(
    hand.open.map((f) => f.row),
    [1, 2],
    'its place is not kept free',
  );
  hand.step(5 * MS);
  hand.finish(hand.open[0]!);
  hand.step();
  assert.equal(
    hand.open.map((f) => [f.row, f.attempt]),
    [
      [2, 1],
      [0, 2],
    ],
  );
});

test('the first cause stays', async () => {
  const hand = await Hand.start({ job: { samples: 8, batchSamples: 4 }, preset: 'readahead' });
  hand.step();
  const [a, b] = hand.open;
  hand.fail(a!, 'not_found');
  hand.fail(b!, 'forbidden');
  hand.step();
  assert.is(hand.failed?.class, layout.CLASS_NOT_FOUND);
  assert.is(hand.failed?.row, a!.row);
  assert.is(hand.seen.filter(isKind('fail')).length, 1);
});

test.run();
