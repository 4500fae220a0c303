import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import type { JobSpec } from '../../runtime-node/policy/job.js';
import { type Draw, isKind, probeCore, runWorld, STALL_NAMES, type World } from '../kit/index.js';
import { Hand, MS } from './hand.js';

type Cause = (typeof STALL_NAMES)[number];

interface Case {
  cause: Cause;
  what: string;
  job?: Partial<JobSpec>;
  preset?: string;
  set?: Record<string, string | number>;
  world?: Partial<World>;
}

const QUICK = (_: unknown, draw: Draw): number => MS * (1 + draw());

// Each world deserves one cause above all others; the start is short in all of them but the first.
const CASES: Case[] = [
  {
    cause: 'start',
    what: 'one batch, and nothing else',
    job: { samples: 8 },
    world: { firstByteNs: () => 100 * MS },
  },
  {
    cause: 'store',
    what: 'a far store, one request at a time',
    preset: 'sync',
    world: { firstByteNs: () => 30 * MS },
  },
  {
    cause: 'store',
    what: 'failed requests that wait for their retry',
    preset: 'readahead',
    set: { 'window.samples': 8, 'concurrency.max': 64, 'retry.attempts': 50 },
    world: { fault: (_, draw) => (draw() < 0.2 ? { class: 'server', afterNs: MS } : null) },
  },
  {
    cause: 'throttle',
    what: '503 above a small rate',
    world: { firstByteNs: QUICK, requestsPerS: () => 100 },
  },
  {
    cause: 'throttle',
    what: '503 without pacing',
    preset: 'readahead',
    world: { firstByteNs: QUICK, requestsPerS: () => 100 },
  },
  {
    cause: 'network',
    what: 'thin connections',
    preset: 'sync',
    world: { firstByteNs: () => MS, bytesPerS: 1e5 },
  },
  {
    cause: 'transfer',
    what: 'slow moves from staging',
    job: { staged: true },
    preset: 'sync',
    world: { firstByteNs: () => MS, placeNs: 80 * MS },
  },
];

for (const { cause, what, job = {}, preset = 'os2g', set = {}, world = {} } of CASES) {
  test(`${cause}: ${what}`, async () => {
    const probe = await probeCore({
      job: { samples: 400, batchSamples: 8, memoryBytes: 2 ** 20, ...job },
      preset,
      set,
    });
    const report = runWorld(probe, { seed: 3, firstByteNs: QUICK, stepNs: MS, ...world });
    const all = STALL_NAMES.reduce((sum, name) => sum + report.stallsNs[name], 0);
    assert.is(all, report.stalledNs, 'every stalled nanosecond has one cause');
    assert.ok(report.stallsNs[cause] > 0.8 * all, JSON.stringify(report.stallsNs));
  });
}

// ---- causes that lie with the host: by hand -------------------------------------------------------

/** Milliseconds that each cause was charged with. */
function charged(hand: Hand): Partial<Record<Cause, number>> {
  const entries = STALL_NAMES.map(
    (name, i) => [name, hand.counter(layout.COUNTER_STALL_NS + i) / MS] as const,
  );
  return Object.fromEntries(entries.filter(([, ms]) => ms > 0));
}

/** A run whose first batch was delivered and whose second is not: whatever stalls it now is not the start. */
async function underWay(job: Partial<JobSpec> = {}): Promise<Hand> {
  const hand = await Hand.start({
    job: { samples: 40, batchSamples: 2, memoryBytes: 4096, ...job },
    preset: 'sync',
  });
  if (job.shuffle === 'external') for (const row of [1, 2]) hand.events.requested(0, 0, 0, row);
  hand.step();
  hand.settle();
  assert.is(hand.delivered.length, 1);
  return hand;
}

test('memory: the next batch has no room because the trainer holds on to the last one', async () => {
  const hand = await underWay();
  hand.events.waiting(hand.nowNs, 0);
  hand.step();
  hand.step(70 * MS);
  hand.consume(hand.delivered[0]!);
  hand.step();
  hand.step(80 * MS);
  assert.equal(charged(hand), { memory: 70, store: 10 });
});

test('client_cpu: the host does not say where the samples are', async () => {
  const hand = await underWay();
  hand.consume(hand.delivered[0]!);
  // The second batch is fetched; the RESOLVE actions of the third stay unanswered.
  for (let got = 0; got < 2; got++) {
    const [fetch] = hand.probe.step(0).filter(isKind('fetch'));
    hand.events.fetched(0, fetch!.id, fetch!.attempt, fetch!.length);
  }
  const [batch] = hand.probe.step(0).filter(isKind('deliver'));
  hand.events.consumed(0, 0, 0, batch!.batch);
  hand.events.waiting(0, 0);
  hand.probe.step(0);
  hand.probe.step(50 * MS);
  assert.equal(charged(hand), { client_cpu: 50 });
});

test('host_work: nobody says which samples come next', async () => {
  const hand = await underWay({ shuffle: 'external' });
  hand.consume(hand.delivered[0]!);
  hand.events.waiting(0, 0);
  hand.step();
  hand.step(40 * MS);
  hand.events.requested(hand.nowNs, 0, 0, 3); // half a batch
  hand.step();
  hand.step(60 * MS);
  hand.events.requested(hand.nowNs, 0, 0, 4);
  hand.step();
  hand.step(65 * MS);
  assert.equal(charged(hand), { host_work: 60, store: 5 });
});

test('the cause changes while a consumer waits: each span goes to its own', async () => {
  const hand = await underWay();
  hand.consume(hand.delivered[0]!);
  hand.events.waiting(0, 0);
  hand.step();
  hand.step(10 * MS);
  hand.first(hand.open[0]!);
  hand.step();
  hand.step(25 * MS);
  hand.finish(hand.open[0]!);
  hand.step();
  hand.step(30 * MS);
  hand.fail(hand.open[0]!, 'throttled', 50 * MS);
  hand.step();
  hand.step(80 * MS);
  const ms = charged(hand);
  assert.equal(ms, { store: 15, network: 15, throttle: 50 });
});

test('nobody waits, nothing is charged; two that wait are charged twice', async () => {
  const hand = await Hand.start({ job: { samples: 40, batchSamples: 2, worldSize: 2, consumers: 2 } });
  hand.step();
  hand.step(10 * MS);
  assert.equal(charged(hand), {});
  hand.events.waiting(hand.nowNs, 0);
  hand.events.waiting(hand.nowNs, 1);
  hand.step();
  hand.step(20 * MS);
  assert.equal(charged(hand), { start: 20 });
});

test.run();
