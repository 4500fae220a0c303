import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { isKind, probeCore, RequestCap, type RunReport, runWorlds } from '../kit/index.js';
import { Hand, MS } from './hand.js';

// Case 15 of the shared cases: 503 above a rate for some seconds, then healthy, several feeders on one store.

const S = 1e9;
const BATCH = 50;

interface Fault {
  what: string;
  feeders: number;
  fromS: number;
  toS: number;
  perS: number;
  healthyPerS: number;
  /** Time that a trainer computes on a batch. */
  stepMs: number;
}

async function play({ feeders, fromS, toS, perS, healthyPerS, stepMs }: Fault): Promise<RunReport[]> {
  const cap = new RequestCap((now) => (now >= fromS * S && now < toS * S ? perS : healthyPerS));
  const all = Array.from({ length: feeders }, async (_, rank) => ({
    probe: await probeCore({
      job: { samples: 1e6, batchSamples: BATCH, worldSize: feeders, rank, memoryBytes: 256 * 2 ** 20 },
    }),
    world: {
      seed: rank,
      cap,
      checkBytes: false,
      sampleBytes: 110_000,
      bytesPerS: 90e6,
      firstByteNs: (_r: unknown, draw: () => number) =>
        20 * MS * (0.6 + 0.8 * draw()) * (draw() < 0.01 ? 10 : 1),
      stepNs: stepMs * MS,
      stopAtNs: (toS + 6) * S,
    },
  }));
  return runWorlds(await Promise.all(all));
}

/** Samples that all feeders consumed a second, between two times. */
function rate(reports: readonly RunReport[], fromS: number, toS: number): number {
  const batches = reports.flatMap((r) => r.batches).filter((b) => b.atNs >= fromS * S && b.atNs < toS * S);
  return (batches.length * BATCH) / (toS - fromS);
}

const wanted = ({ feeders, stepMs }: Fault): number => (feeders * BATCH * 1000) / stepMs;

const FAULTS: Fault[] = [
  { what: 'a fifth of the rate', feeders: 4, fromS: 4, toS: 14, perS: 400, healthyPerS: 5500, stepMs: 100 },
  { what: 'a fortieth of the rate', feeders: 4, fromS: 4, toS: 14, perS: 50, healthyPerS: 5500, stepMs: 100 },
  { what: 'nothing but 503', feeders: 4, fromS: 4, toS: 14, perS: 0, healthyPerS: 5500, stepMs: 100 },
  {
    what: 'from the first request on',
    feeders: 4,
    fromS: 0,
    toS: 10,
    perS: 400,
    healthyPerS: 5500,
    stepMs: 100,
  },
  { what: 'one feeder', feeders: 1, fromS: 4, toS: 14, perS: 400, healthyPerS: 5500, stepMs: 25 },
  {
    what: 'little to spare when healthy',
    feeders: 4,
    fromS: 4,
    toS: 14,
    perS: 400,
    healthyPerS: 2400,
    stepMs: 100,
  },
  { what: 'twelve feeders', feeders: 12, fromS: 4, toS: 14, perS: 600, healthyPerS: 5500, stepMs: 200 },
];

for (const fault of FAULTS) {
  test(`503 for 10 s: ${fault.what}`, async () => {
    const reports = await play(fault);
    const total = (counter: number): number => reports.reduce((sum, r) => sum + r.counter(counter), 0);
    assert.equal(
      reports.map((r) => r.failed),
      reports.map(() => null),
    );
    // Every request that was neither served nor useful: refused, hedged, or still on its way at the end.
    const useful = total(layout.COUNTER_SAMPLES);
    assert.ok(
      total(layout.COUNTER_REQUESTS) < 1.15 * useful + 500,
      `${total(layout.COUNTER_REQUESTS)} for ${useful}`,
    );
    assert.ok(total(layout.COUNTER_THROTTLES) < 0.05 * useful, `${total(layout.COUNTER_THROTTLES)} refused`);
    // What the store gives is used; and soon after the fault the trainers are fed as before.
    const during = rate(reports, fault.fromS + 1, fault.toS);
    assert.ok(during >= 0.7 * Math.min(fault.perS, wanted(fault)), `${during} a second during the fault`);
    const after = rate(reports, fault.toS + 3, fault.toS + 6);
    assert.ok(
      after >= 0.9 * wanted(fault),
      `${after} of ${wanted(fault)} a second from 3 s after the fault on`,
    );
  });
}

test('a cap that never ends: the rate settles just below it', async () => {
  for (const perS of [100, 1000]) {
    const fault: Fault = { what: '', feeders: 2, fromS: 0, toS: 20, perS, healthyPerS: perS, stepMs: 10 };
    const reports = await play(fault);
    const refused = reports.reduce((sum, r) => sum + r.counter(layout.COUNTER_THROTTLES), 0);
    const requests = reports.reduce((sum, r) => sum + r.counter(layout.COUNTER_REQUESTS), 0);
    assert.ok(refused < 0.1 * requests, `${refused} of ${requests} refused`);
    assert.ok(rate(reports, 5, 20) > 0.8 * perS, `${rate(reports, 5, 20)} of ${perS} a second`);
  }
});

test('a cap that leaves each feeder two or three requests a second: nobody fails, nobody is left behind', async () => {
  for (const [feeders, perS, samples] of [
    [4, 12, 40],
    [16, 40, 60],
    [64, 128, 60],
  ] as const) {
    const cap = new RequestCap(() => perS);
    const worlds = Array.from({ length: feeders }, async (_, rank) => ({
      probe: await probeCore({
        job: { samples: samples * feeders, batchSamples: 10, worldSize: feeders, rank, memoryBytes: 2 ** 26 },
      }),
      world: {
        seed: rank,
        cap,
        checkBytes: false,
        sampleBytes: 100_000,
        firstByteNs: () => 10 * MS,
        stepNs: 10 * MS,
        giveUpNs: 3600 * S,
      },
    }));
    const reports = await runWorlds(await Promise.all(worlds));
    const what = `${feeders} feeders, ${perS} a second`;
    assert.equal(
      reports.map((r) => [r.ended, r.failed]),
      reports.map(() => [true, null]),
      what,
    );
    const ends = reports.map((r) => r.endNs / S);
    const least = (samples * feeders) / perS;
    assert.ok(Math.max(...ends) < 3 * least, `${what}: ${Math.max(...ends)} s, at least ${least} s`);
    const refused = reports.reduce((sum, r) => sum + r.counter(layout.COUNTER_THROTTLES), 0);
    // At the start 64 places of each feeder meet a cap that nobody knows.
    assert.ok(refused < 64 * feeders + 1.5 * samples * feeders, `${what}: ${refused} refused`);
  }
});

// ---- by hand ------------------------------------------------------------------------------------

test('a 503 lowers the rate at once, at most one step for each round trip, and the rate returns', async () => {
  const hand = await Hand.start({
    job: { samples: 20_000, batchSamples: 100 },
    set: { 'hedge.share': 0, 'concurrency.mode': 'fixed', 'concurrency.max': 16 },
  });
  const limit = (): number => hand.counter(layout.COUNTER_RATE_LIMIT);
  // A second of steady answers: 16 each 16 ms.
  for (let i = 0; i < 62; i++) {
    hand.step(i * 16 * MS);
    for (const fetch of hand.open.slice(0, 16)) hand.finish(fetch);
    for (const batch of [...hand.delivered]) hand.consume(batch);
  }
  hand.step(1000 * MS);
  assert.is(limit(), 0, 'no 503, no pacing');
  const [a, b, c] = hand.open;
  hand.fail(a!, 'throttled');
  hand.fail(b!, 'throttled');
  hand.step(1001 * MS);
  const first = limit();
  assert.ok(first > 300 && first < 1000, `${first} a second after a rate of 1,000`);
  hand.fail(c!, 'throttled');
  hand.step(1002 * MS);
  assert.ok(Math.abs(limit() - first) < 10, 'one step for all answers of a round trip');
  const rates = [1100, 1500, 2000, 2500, 8000].map((ms) => {
    hand.run(ms * MS);
    for (const fetch of hand.open) hand.finish(fetch);
    for (const batch of [...hand.delivered]) hand.consume(batch);
    hand.step();
    return limit();
  });
  assert.is(rates.pop(), 0, 'pacing ends');
  for (const [i, r] of rates.entries()) assert.ok(r > (rates[i - 1] ?? first), `${rates}`);
});

test('without pacing, a 503 takes a share off adaptive concurrency', async () => {
  const hand = await Hand.start({
    job: { samples: 1000, batchSamples: 100 },
    set: { 'rate.mode': 'off', 'concurrency.backoff': 0.5, 'concurrency.initial': 16 },
  });
  const limit = (): number => hand.counter(layout.COUNTER_CONCURRENCY_LIMIT);
  hand.step();
  assert.is(hand.seen.filter(isKind('fetch')).length, 16);
  hand.fail(hand.open[0]!, 'throttled');
  hand.step(MS);
  assert.is(limit(), 8);
  hand.fail(hand.open[0]!, 'throttled');
  hand.step(2 * MS);
  assert.is(limit(), 8, 'the same round trip');
  hand.fail(hand.open[0]!, 'throttled');
  hand.step(50 * MS);
  assert.is(limit(), 4);
});

test('first bytes that do not come in time: fewer requests in flight, one step for those that were sent together', async () => {
  const hand = await Hand.start({
    job: { samples: 10_000, batchSamples: 1000, memoryBytes: 2 ** 26 },
    set: { 'hedge.share': 0, 'retry.base': '1ms' },
  });
  const limit = (): number => hand.counter(layout.COUNTER_CONCURRENCY_LIMIT);
  hand.step();
  const all = hand.open;
  assert.is(all.length, 64);
  for (const [i, fetch] of all.slice(0, 10).entries()) {
    hand.nowNs = (i + 1) * S;
    hand.finish(fetch);
    hand.step(hand.nowNs);
  }
  const before = limit();
  // One in thousands hangs; that is no queue.
  hand.nowNs = 15 * S;
  hand.fail(all[10]!, 'timeout_first_byte');
  hand.step(15 * S);
  assert.is(limit(), before);
  for (const fetch of all.slice(11)) hand.fail(fetch, 'timeout_first_byte');
  hand.step(15 * S);
  const after = limit();
  // Ten answers while one waited: five in flight wait half as long.
  assert.ok(after >= 4 && after <= 6, `${after} places`);
  for (const fetch of hand.open.slice(0, 10)) hand.fail(fetch, 'timeout_first_byte');
  hand.step(15.5 * S);
  assert.ok(limit() >= after, `${limit()}: these had been sent before`);
});

test('ranks that share a seed do not wait in step', async () => {
  const waits = async (rank: number): Promise<number> => {
    const hand = await Hand.start({
      job: { samples: 100, batchSamples: 1, worldSize: 2, rank },
      set: { 'concurrency.max': 1 },
    });
    hand.step();
    hand.fail(hand.open[0]!, 'server');
    hand.step();
    return hand.probe.core.deadlineNs;
  };
  assert.is(await waits(0), await waits(0));
  assert.is.not(await waits(0), await waits(1));
});

test.run();
