import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { isKind } from '../kit/index.js';
import { Hand, MS } from './hand.js';

/** The core's tables as they are now; the header, with hash and counters, lies before them. */
function tables(hand: Hand): Buffer {
  const { core } = hand.probe;
  return Buffer.from(Buffer.from(core.u32.buffer, layout.TABLES_OFFSET));
}

function counters(hand: Hand): number[] {
  return [...hand.probe.core.counters].filter((_, i) => i !== layout.COUNTER_EVENTS);
}

/** A run with one attempt ended, one retried, some open, one batch delivered and one consumed. */
async function middle(staged = false): Promise<{ hand: Hand; ended: number; retried: number; open: number }> {
  const hand = await Hand.start({
    job: { samples: 40, batchSamples: 2, shuffle: 'none', staged, memoryBytes: 2 ** 17 },
    preset: 'readahead',
    set: { 'window.samples': 8, 'concurrency.max': 6, 'retry.base': '1ms' },
  });
  hand.step();
  const [a, b, c] = hand.open;
  hand.finish(a!);
  hand.finish(b!);
  hand.fail(c!, 'reset');
  hand.run(5 * MS);
  for (const move of hand.moves) hand.moved(move);
  hand.step();
  hand.consume(hand.delivered[0]!);
  hand.run(6 * MS);
  assert.ok(
    hand.seen.some((s) => s.kind === 'fetch' && s.attempt === 2),
    'one part was tried again',
  );
  return { hand, ended: a!.id, retried: c!.id, open: hand.open.find((f) => f.attempt === 1)!.id };
}

type Push = (hand: Hand, ids: { ended: number; retried: number; open: number }) => void;

const IGNORED: Record<string, Push> = {
  'first byte of an ended attempt': ({ events, nowNs }, { ended }) => events.firstByte(nowNs, ended, 1),
  'end of an ended attempt': ({ events, nowNs }, { ended }) => events.fetched(nowNs, ended, 1, 1000),
  'failure of an ended attempt': ({ events, nowNs }, { ended }) => events.failed(nowNs, ended, 1, 3, 0, 0, 0),
  'end of the attempt before this one': ({ events, nowNs }, { retried }) =>
    events.fetched(nowNs, retried, 1, 1000),
  'failure of the attempt before this one': ({ events, nowNs }, { retried }) =>
    events.failed(nowNs, retried, 1, 1, 503, 0, 0),
  'an attempt that was never sent': ({ events, nowNs }, { open }) => events.fetched(nowNs, open, 7, 1000),
  'attempt 0': ({ events, nowNs }, { open }) => events.fetched(nowNs, open, 0, 1000),
  'a request that never was': ({ events, nowNs }) => events.fetched(nowNs, 16_383, 1, 1000),
  'no request': ({ events, nowNs }) => events.fetched(nowNs, layout.NO_REQUEST, 1, 1000),
  'a move that was never asked for': ({ events, nowNs }, { open }) => events.placed(nowNs, open, 1),
  'a failed move that was never asked for': ({ events, nowNs }, { open }) =>
    events.placeFailed(nowNs, open, 1, 24),
};

const REFUSED: Record<string, Push> = {
  'an unknown kind': ({ probe, nowNs }) => {
    const words = new Uint32Array(layout.RECORD_WORDS).fill(99);
    new Float64Array(words.buffer)[layout.D_TIME_NS] = nowNs;
    probe.core.events.raw(words, 0);
  },
  'a place for a slot that asked for none': ({ events, nowNs }) => events.resolved(nowNs, 100_000, 1, 0, 10),
  'a place for no slot': ({ events, nowNs }) => events.resolved(nowNs, layout.NO_REQUEST, 1, 0, 10),
  'a batch that was not delivered': ({ events, nowNs }) => events.consumed(nowNs, 0, 0, 15),
  'a batch that was consumed before': ({ events, nowNs }) => events.consumed(nowNs, 0, 0, 0),
  'a consumer that is none (consumed)': ({ events, nowNs }) => events.consumed(nowNs, 1, 0, 0),
  'a consumer that is none (waiting)': ({ events, nowNs }) => events.waiting(nowNs, 16),
  'a position without an external order': ({ events, nowNs }) => events.requested(nowNs, 0, 0, 3),
  'a budget of nothing': ({ events, nowNs }) => events.limit(nowNs, 0),
  'a negative budget': ({ events, nowNs }) => events.limit(nowNs, -1),
  'a budget that is no number': ({ events, nowNs }) => events.limit(nowNs, Number.NaN),
};

for (const [kind, table, error] of [
  ['stale', IGNORED, layout.ERROR_NONE],
  ['impossible', REFUSED, layout.ERROR_EVENT],
] as const) {
  for (const staged of [false, true]) {
    test(`${kind} events change nothing but the hash${staged ? ', staged' : ''}`, async () => {
      const { hand, ...ids } = await middle(staged);
      const before = tables(hand);
      const counted = counters(hand);
      for (const [name, push] of Object.entries(table)) {
        const hash = hand.probe.core.runHash;
        push(hand, ids);
        assert.equal(hand.step(), [], name);
        assert.is.not(hand.probe.core.runHash, hash, name);
        assert.is(hand.probe.core.error, error, name);
        assert.ok(tables(hand).equals(before), `${name}: the core remembers it`);
        assert.equal(counters(hand), counted, name);
      }
    });
  }
}

test('values that are no numbers never reach the core’s arithmetic', async () => {
  const strange = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 2 ** 53, 1e300];
  for (const value of strange) {
    const failed = await middle();
    failed.hand.events.failed(failed.hand.nowNs, failed.open, 1, 3, 0, value, value);
    failed.hand.step();
    assert.ok(failed.hand.probe.core.deadlineNs > failed.hand.nowNs);
    assert.ok(failed.hand.probe.core.deadlineNs <= failed.hand.nowNs + 60e9, `retry-after ${value}`);
    const short = await middle();
    short.hand.events.fetched(short.hand.nowNs, short.open, 1, value);
    short.hand.step();
    assert.ok(Number.isFinite(short.hand.counter(layout.COUNTER_BYTES_FETCHED)), `bytes ${value}`);
    for (const [offset, length] of [
      [value, 10],
      [0, value],
      [2 ** 53 - 1, 2 ** 53 - 1],
    ] as const) {
      const hand = await Hand.start({ job: { samples: 4, batchSamples: 2 } });
      const [resolve] = hand.probe.step(0).filter(isKind('resolve'));
      hand.events.resolved(0, resolve!.slot, 1, offset, length);
      hand.step();
      assert.is(hand.probe.core.error, layout.ERROR_EVENT, `offset ${offset}, length ${length}`);
    }
  }
});

test('times of events outside the run are taken as now', async () => {
  for (const at of [Number.NaN, -1, 1e18]) {
    const hand = await Hand.start({ job: { samples: 4, batchSamples: 2 } });
    hand.step(5 * MS);
    const [fetch] = hand.open;
    hand.step(9 * MS);
    hand.events.firstByte(at, fetch!.id, fetch!.attempt);
    hand.step();
    const p50 = hand.counter(layout.COUNTER_LATENCY_P50_NS);
    assert.ok(p50 >= 4 * MS && p50 < 5 * MS, `${at}: ${p50}`);
  }
});

test('a record used again answers to its new name only', async () => {
  const hand = await Hand.start({ job: { samples: 100, batchSamples: 1, shuffle: 'none' }, preset: 'sync' });
  hand.step();
  const old = hand.open[0]!;
  hand.finish(old);
  hand.step();
  for (const batch of [...hand.delivered]) hand.consume(batch);
  hand.step();
  const now = hand.open[0]!;
  assert.is(now.id & 16_383, old.id & 16_383, 'the same record');
  assert.is.not(now.id, old.id);
  hand.events.fetched(hand.nowNs, old.id, old.attempt, 1000);
  assert.equal(hand.step(), []);
  assert.is(hand.counter(layout.COUNTER_IN_FLIGHT), 1);
  assert.is(hand.counter(layout.COUNTER_BYTES_FETCHED), 1000);
});

test('after STOP and after FAIL the core is silent, whatever comes', async () => {
  for (const how of ['stop', 'fail'] as const) {
    const { hand, open } = await middle();
    const [one] = hand.open;
    if (how === 'stop') hand.events.stop(hand.nowNs);
    else hand.fail(one!, 'not_found');
    hand.step();
    assert.is(hand.failed !== null, how === 'fail');
    hand.events.fetched(hand.nowNs, open, 1, 1000);
    hand.events.waiting(hand.nowNs, 0);
    for (const batch of [...hand.delivered]) hand.consume(batch);
    assert.equal(hand.step(hand.nowNs + 1e9), [], how);
    assert.is(hand.probe.core.deadlineNs, Number.POSITIVE_INFINITY, how);
    assert.is(hand.probe.core.more, false);
  }
});

test.run();
