import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import type { Core } from '../../runtime-node/core.js';
import type { FailureName } from '../../runtime-node/engine/failure.js';
import type { JobSpec } from '../../runtime-node/policy/job.js';
import { probeCore, type RunReport, runWorld, type World } from '../kit/index.js';

const SEED = Number(process.env.OS2G_TEST_SEED ?? 20261129);
const RUNS = Number(process.env.OS2G_TEST_RUNS ?? 150);
console.log(`seed ${SEED}, ${RUNS} runs (OS2G_TEST_SEED, OS2G_TEST_RUNS)`);

/** One random situation: a job, settings, and a world that does its worst. */
interface Situation {
  job: JobSpec;
  preset: 'sync' | 'readahead' | 'os2g';
  set: Record<string, string | number>;
  worldSeed: number;
  sampleBytes: number[];
  perObject: number;
  gap: number;
  faultShare: number;
  faults: FailureName[];
  latencyNs: number;
  tail: number;
  stepNs: number;
  capPerS: number | null;
  placeNs: number;
  cancelNs: number;
  /** Lower budgets: shares of the first one, by milliseconds. */
  limits: { atMs: number; share: number }[];
}

const RETRYABLE: FailureName[] = [
  'throttled',
  'server',
  'reset',
  'stale',
  'connect',
  'timeout_first_byte',
  'timeout_idle',
  'cancelled',
];

const situations: fc.Arbitrary<Situation> = fc.record({
  job: fc.record({
    samples: fc.integer({ min: 1, max: 60 }),
    batchSamples: fc.integer({ min: 1, max: 9 }),
    epochs: fc.integer({ min: 1, max: 3 }),
    seed: fc.nat(),
    shuffle: fc.constantFrom('none', 'sample', 'block'),
    tail: fc.constantFrom('drop', 'pad', 'partial'),
    memoryBytes: fc.integer({ min: 90_000, max: 300_000 }),
    staged: fc.boolean(),
    worldSize: fc.integer({ min: 4, max: 5 }),
    rank: fc.constantFrom(0, 1),
    consumers: fc.integer({ min: 1, max: 3 }),
  }) as fc.Arbitrary<JobSpec>,
  preset: fc.constantFrom('sync', 'readahead', 'os2g'),
  set: fc.record(
    {
      'split.bytes': fc.constantFrom('4KiB', '64KiB'),
      'hedge.share': fc.constantFrom(0, 0.1, 1),
      'hedge.min_delay': fc.constantFrom('1ms', '10ms'),
      'merge.bytes': fc.constantFrom('0B', '2KiB', '1MiB'),
      'merge.gap': fc.constantFrom('0B', '100B'),
      'layout.align': fc.constantFrom('1B', '64B'),
      'order.block_samples': fc.integer({ min: 1, max: 9 }),
      'order.group_blocks': fc.integer({ min: 1, max: 4 }),
      'retry.attempts': fc.constant(200),
      'retry.budget': fc.constantFrom(0, 0.5, 10),
      'retry.base': fc.constantFrom('1us', '1ms', '100ms'),
      'retry.cap': fc.constantFrom('1ms', '1s'),
      'rate.mode': fc.constantFrom('off', 'adaptive'),
      'window.initial_bytes': fc.constantFrom('1B', '1KiB', '64KiB'),
      'window.samples': fc.integer({ min: 1, max: 30 }),
      'concurrency.max': fc.integer({ min: 1, max: 40 }),
      'staging.share': fc.constantFrom(0, 0.2, 0.5),
    },
    { requiredKeys: ['retry.attempts', 'merge.bytes', 'split.bytes'] },
  ),
  worldSeed: fc.nat(),
  sampleBytes: fc.array(fc.constantFrom(0, 1, 63, 64, 65, 500, 900), { minLength: 1, maxLength: 5 }),
  perObject: fc.integer({ min: 1, max: 6 }),
  gap: fc.constantFrom(0, 0, 50, 200),
  faultShare: fc.constantFrom(0, 0, 0.05, 0.4),
  faults: fc.subarray(RETRYABLE, { minLength: 1 }),
  latencyNs: fc.constantFrom(0, 1e6, 2e7),
  tail: fc.constantFrom(1, 1, 30),
  stepNs: fc.constantFrom(0, 1e6, 5e7),
  capPerS: fc.constantFrom(null, null, 200),
  placeNs: fc.constantFrom(0, 1000, 30e6),
  cancelNs: fc.constantFrom(0, 1e6, 1e8),
  limits: fc.array(
    fc.record({ atMs: fc.integer({ min: 0, max: 500 }), share: fc.constantFrom(0.6, 0.8, 0.9, 1) }),
    { maxLength: 3 },
  ),
});

function worldOf(s: Situation): World {
  const size = (row: number): number => s.sampleBytes[row % s.sampleBytes.length]!;
  return {
    seed: s.worldSeed,
    place: (row) => {
      const object = row - (row % s.perObject);
      let offset = 0;
      for (let r = object; r < row; r++) offset += size(r) + s.gap;
      return { object, offset, length: size(row) };
    },
    firstByteNs: (_, draw) => s.latencyNs * (0.5 + draw()) * (draw() < 0.05 ? s.tail : 1),
    bytesPerS: 50e6,
    fault: (_, draw) => {
      if (draw() >= s.faultShare) return null;
      return { class: s.faults[Math.floor(draw() * s.faults.length)]!, afterNs: s.latencyNs * draw() * 3 };
    },
    requestsPerS: s.capPerS ? () => s.capPerS! : undefined,
    stepNs: s.stepNs,
    placeNs: s.placeNs,
    cancelNs: s.cancelNs,
    limits: s.limits.map(({ atMs, share }) => ({
      atNs: atMs * 1e6,
      bytes: share * (s.job.memoryBytes ?? 0),
    })),
    placeFault: (draw) => draw() < s.faultShare / 4,
  };
}

async function play(s: Situation): Promise<RunReport & { core: Core }> {
  const probe = await probeCore({ job: s.job, preset: s.preset, set: s.set });
  return { ...runWorld(probe, worldOf(s)), core: probe.core };
}

test('exactly once, in order, every byte right, within the budget, over random worlds', async () => {
  await fc.assert(
    fc.asyncProperty(situations, async (s) => {
      const report = await play(s);
      assert.is(report.failed, null);
      assert.ok(report.ended);
      checkOrder(s.job, report, report.core);
      const charged = Object.values(report.stallsNs).reduce((a, b) => a + b, 0);
      assert.is(charged, report.stalledNs, 'every stalled nanosecond is charged to one cause');
    }),
    { seed: SEED, numRuns: RUNS, includeErrorInReport: true },
  );
});

/** Every rank of this core got every one of its batches once, in order, with the samples of its share. */
function checkOrder(job: JobSpec, report: RunReport, core: Core): void {
  const { samples, batchSamples, worldSize = 1, rank = 0, consumers = 1, epochs = 1, tail } = job;
  const globalBatch = batchSamples * worldSize;
  const batches = tail === 'drop' ? Math.floor(samples / globalBatch) : Math.ceil(samples / globalBatch);
  for (let consumer = 0; consumer < consumers; consumer++) {
    const got = report.batches.filter((b) => b.consumer === consumer);
    const wanted: string[] = [];
    for (let epoch = 0; epoch < epochs; epoch++) {
      for (let batch = 0; batch < batches; batch++) {
        const rest = samples - batch * globalBatch;
        const r = rank + consumer;
        const isShort = tail === 'partial' && rest < globalBatch;
        const from = isShort ? Math.floor((rest * r) / worldSize) : r * batchSamples;
        const share = isShort ? Math.floor((rest * (r + 1)) / worldSize) - from : batchSamples;
        const rows = Array.from({ length: share }, (_, i) =>
          core.orderRow(epoch, (batch * globalBatch + from + i) % samples),
        );
        if (share > 0) wanted.push(`${epoch}/${batch}: ${rows}`);
      }
    }
    assert.equal(
      got.map((b) => `${b.epoch}/${b.batch}: ${b.rows}`),
      wanted,
    );
  }
}

test('with skips: every hole is told, named and counted, and all else is as it should be', async () => {
  await fc.assert(
    fc.asyncProperty(situations, async (drawn) => {
      const s: Situation = {
        ...drawn,
        job: { ...drawn.job, onError: 'skip', maxSkips: 1e6 },
        set: { ...drawn.set, 'retry.attempts': 2 },
        faults: ['not_found', 'checksum', ...drawn.faults],
        faultShare: 0.2,
      };
      const report = await play(s);
      assert.is(report.failed, null);
      checkOrder(s.job, report, report.core);
      const holes = report.batches.flatMap((b) =>
        b.skipped.map((row) => `${b.consumer}/${b.epoch}/${b.batch}/${row}`),
      );
      const named = report.skips.map((k) => `${k.consumer}/${k.epoch}/${k.batch}/${k.row}`);
      assert.equal(named.sort(), holes.sort());
      assert.is(report.counter(layout.COUNTER_SKIPPED), holes.length);
      const delivered = report.batches.reduce((sum, b) => sum + b.rows.length, 0);
      const counted = report.counter(layout.COUNTER_SAMPLES) + report.counter(layout.COUNTER_PADDED);
      assert.is(counted, delivered - holes.length);
    }),
    { seed: SEED + 3, numRuns: Math.ceil(RUNS / 2), includeErrorInReport: true },
  );
});

test('equal input gives an equal hash', async () => {
  await fc.assert(
    fc.asyncProperty(situations, async (s) => {
      assert.is((await play(s)).runHash, (await play(s)).runHash);
    }),
    { seed: SEED + 1, numRuns: Math.ceil(RUNS / 5), includeErrorInReport: true },
  );
});

test('no action after STOP, whenever it comes', async () => {
  await fc.assert(
    fc.asyncProperty(situations, fc.integer({ min: 0, max: 300_000_000 }), async (s, stopAtNs) => {
      const probe = await probeCore({ job: s.job, preset: s.preset, set: s.set });
      const report = runWorld(probe, { ...worldOf(s), stopAtNs });
      assert.ok(report.ended || (probe.core.flags & layout.FLAG_STOPPED) !== 0);
    }),
    { seed: SEED + 2, numRuns: Math.ceil(RUNS / 3), includeErrorInReport: true },
  );
});

test.run();
