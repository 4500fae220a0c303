import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { Core, corePath } from '../../runtime-node/core.js';
import type { JobSpec } from '../../runtime-node/policy/job.js';
import { isKind, probeCore, runWorld } from '../kit/index.js';
import { Hand, MS, objectsOf } from './hand.js';

test('the release build imports nothing, and its memory cannot grow', async () => {
  const module = new WebAssembly.Module(new Uint8Array(readFileSync(corePath('release'))));
  assert.equal(WebAssembly.Module.imports(module), []);
  const { memory } = new WebAssembly.Instance(module).exports as { memory: WebAssembly.Memory };
  assert.throws(() => memory.grow(1), RangeError);
});

// ---- memory and the data set --------------------------------------------------------------------

const BIG = 1e9;

async function firstSecond(job: Partial<JobSpec> & { samples: number }): Promise<Record<string, number>> {
  const probe = await probeCore({ job: { batchSamples: 16, memoryBytes: 2 ** 20, ...job } });
  const report = runWorld(probe, {
    seed: 1,
    firstByteNs: () => 10 * MS,
    sampleBytes: 1000,
    stepNs: 20 * MS,
    stopAtNs: 1e9,
  });
  return {
    memoryBytes: probe.core.u32.buffer.byteLength,
    peakBytes: report.counter(layout.COUNTER_MEMORY_PEAK_BYTES),
    windowBytes: report.counter(layout.COUNTER_WINDOW_BYTES),
    mostInFlight: report.mostInFlight,
    requests: report.counter(layout.COUNTER_REQUESTS),
    steps: report.steps,
  };
}

test('memory and work do not grow with the data set: 10^3 and 10^9 samples', async () => {
  for (const shuffle of ['none', 'sample', 'block'] as const) {
    const small = await firstSecond({ samples: 1000, shuffle, epochs: 1000 });
    assert.equal(await firstSecond({ samples: BIG, shuffle, epochs: 1000 }), small, shuffle);
    assert.equal(
      await firstSecond({ samples: BIG, shuffle, epochs: 1000, startEpoch: 2, startBatch: 5e7 }),
      small,
      'resumed',
    );
  }
});

test('a resume at any place of 10^9 samples begins there at once', async () => {
  for (const startBatch of [0, 1, 12_345_678, BIG / 2 - 1]) {
    const job = { samples: BIG, batchSamples: 2, startEpoch: 3, epochs: 5, startBatch };
    const hand = await Hand.start({ job, preset: 'sync' });
    const actions = [...hand.step(), ...hand.seen];
    assert.is(hand.open.length, 1);
    assert.is(hand.open[0]!.row, hand.probe.core.orderRow(3, 2 * startBatch));
    assert.ok(actions.length < 4);
  }
});

// ---- rings --------------------------------------------------------------------------------------

test('a full event ring is taken in one step; one record more is an error, not a loss', async () => {
  const hand = await Hand.start({ job: { samples: 100, batchSamples: 10 } });
  const { core } = hand.probe;
  hand.step();
  for (let i = 0; i < layout.EVENT_RING_RECORDS; i++) core.events.firstByte(0, 1, 1);
  assert.is(core.events.free, 0);
  core.step(0);
  assert.is(core.events.free, layout.EVENT_RING_RECORDS);
  assert.is(core.error, 0);
  for (let i = 0; i <= layout.EVENT_RING_RECORDS; i++) core.events.firstByte(0, 1, 1);
  core.step(0);
  assert.is(core.error, layout.ERROR_CAPACITY);
});

test('batches larger than the action ring: told in pieces, nothing between', async () => {
  const samples = 3 * layout.ACTION_RING_RECORDS;
  const hand = await Hand.start(
    { job: { samples, batchSamples: samples / 2, shuffle: 'none', memoryBytes: 2 ** 24 } },
    objectsOf(10),
  );
  const { core } = hand.probe;
  core.step(0);
  assert.ok(core.more);
  assert.is(core.deadlineNs, 0, 'it wants to go on at once');
  hand.step();
  hand.settle();
  for (const batch of [...hand.delivered]) hand.consume(batch);
  hand.settle();
  const at = hand.seen.map((a, i) => (a.kind === 'deliver' ? i : -1)).filter((i) => i >= 0);
  assert.is(at.length, 2);
  for (const start of at) {
    const told = hand.seen.slice(start + 1, start + 1 + samples / 2);
    assert.ok(told.every((a, i) => a.kind === 'sample' && a.index === i));
  }
  assert.is(new Set(hand.seen.filter(isKind('sample')).map((s) => s.row)).size, samples);
});

test('a hole is told before its batch, a failure after the batch that is half told, when the ring is full', async () => {
  await halfTold(1000, ['deliver', 'skip', 'deliver', 'end']);
  await halfTold(5, ['deliver', 'fail']);
});

/** A batch fills the action ring; meanwhile a part of the next one is lost. */
async function halfTold(maxSkips: number, wanted: string[]): Promise<void> {
  const samples = layout.ACTION_RING_RECORDS + 100;
  const hand = await Hand.start(
    {
      job: {
        samples: 2 * samples,
        batchSamples: samples,
        shuffle: 'none',
        onError: 'skip',
        maxSkips,
        memoryBytes: 2 ** 22,
      },
      set: {
        'concurrency.max': 16_384,
        'concurrency.mode': 'fixed',
        'merge.bytes': '1MiB',
        'split.bytes': '4KiB',
      },
    },
    (row) => ({ object: row < samples ? 0 : samples, offset: (row % samples) * 10, length: 10 }),
  );
  hand.step();
  const [lost, ...others] = hand.open.filter((f) => f.row >= samples);
  const first = hand.open.filter((f) => f.row < samples);
  assert.ok(lost && first.length > 1);
  for (const fetch of others) hand.finish(fetch);
  for (const fetch of first) hand.finish(fetch);
  const { core } = hand.probe;
  core.step(0);
  assert.ok(core.more, 'the first batch filled the ring');
  hand.fail(lost, 'not_found');
  hand.step();
  const told = hand.seen.filter((a) => a.kind !== 'fetch').map((a) => a.kind);
  assert.is(told.indexOf('sample'), 1);
  assert.is(told.indexOf(wanted[1] as 'skip'), samples + 1, 'nothing between a batch and its samples');
  const kinds = told.filter((kind, i) => kind !== 'sample' && kind !== told[i - 1]);
  assert.equal(kinds, wanted);
}

// ---- capacities ---------------------------------------------------------------------------------

test('no table is ever over-filled', async () => {
  const wide = { 'concurrency.max': 16_384, 'concurrency.mode': 'fixed', 'merge.bytes': '0B' };
  const table = [
    { what: 'requests', samples: 40_000, batchSamples: 1000, requests: layout.MAX_REQUESTS },
    { what: 'batches', samples: 40_000, batchSamples: 1, requests: layout.MAX_BATCHES },
    { what: 'samples', samples: 400_000, batchSamples: 65_536, requests: layout.MAX_REQUESTS },
    {
      what: 'batches of 16 consumers',
      samples: 100_000,
      batchSamples: 1,
      consumers: 16,
      requests: layout.MAX_BATCHES,
    },
  ];
  for (const { what, samples, batchSamples, requests, consumers = 1 } of table) {
    const job = {
      samples,
      batchSamples,
      consumers,
      worldSize: consumers,
      shuffle: 'none' as const,
      memoryBytes: 2 ** 26,
    };
    const hand = await Hand.start({ job, set: wide }, objectsOf(10));
    hand.step();
    assert.is(hand.open.length, requests, what);
    for (let i = 0; i < 3; i++) {
      hand.settle();
      for (const batch of [...hand.delivered]) hand.consume(batch);
      hand.step();
      assert.ok(hand.open.length <= layout.MAX_REQUESTS, what);
    }
    assert.is(hand.probe.core.error, 0, what);
  }
});

test('a batch larger than the budget: FAIL names what it needs, what there is, and its largest sample', async () => {
  for (const staged of [false, true]) {
    const hand = await Hand.start(
      {
        job: { samples: 8, batchSamples: 8, memoryBytes: 65_536, staged, shuffle: 'none' },
        set: { 'hedge.share': 0 },
      },
      (row) => ({ object: row, offset: 0, length: row === 5 ? 20_000 : 10_000 }),
    );
    hand.step();
    const { landingBytes } = hand.probe.core;
    assert.is(hand.failed?.code, layout.ERROR_BATCH_TOO_LARGE);
    assert.is(hand.failed?.row, 5);
    assert.ok(hand.failed!.needed >= 90_000);
    assert.is(hand.failed?.limit, landingBytes);
    assert.equal(hand.open, []);
  }
});

test('one object larger than the staging it passes through goes in parts', async () => {
  const probe = await probeCore({ job: { samples: 3, batchSamples: 1, memoryBytes: 400_000, staged: true } });
  const report = runWorld(probe, { seed: 1, firstByteNs: () => MS, stepNs: MS, sampleBytes: 290_000 });
  assert.ok(report.ended);
  assert.ok(report.counter(layout.COUNTER_REQUESTS) > 3 * 8);
});

// ---- time ---------------------------------------------------------------------------------------

test('time never goes back', async () => {
  for (const nowNs of [5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -1]) {
    const hand = await Hand.start({ job: { samples: 8, batchSamples: 2 } });
    hand.step(10);
    hand.probe.core.step(nowNs);
    assert.is(hand.probe.core.error, layout.ERROR_CLOCK, `${nowNs}`);
  }
});

test('step before init is an error', async () => {
  const core = await Core.load();
  assert.is(core.step(0), 0);
  assert.is(core.error, layout.ERROR_NOT_READY);
});

test('a deadline is never in the past, and nothing is due at the instant of the last step', async () => {
  const hand = await Hand.start({
    job: { samples: 400, batchSamples: 4, memoryBytes: 2 ** 20 },
    set: { 'retry.base': '1ms', 'retry.attempts': 1000 },
  });
  hand.step();
  for (let i = 0; i < 400; i++) {
    const { deadlineNs } = hand.probe.core;
    assert.ok(deadlineNs > hand.nowNs, `deadline ${deadlineNs} at ${hand.nowNs}`);
    const fetch = hand.open[i % Math.max(1, hand.open.length)];
    if (fetch && i % 3 === 0) hand.finish(fetch);
    else if (fetch) hand.fail(fetch, i % 5 === 0 ? 'throttled' : 'reset');
    hand.step(Math.min(deadlineNs, hand.nowNs + 0.3 * MS));
  }
});

test.run();
