import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
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
    memoryBytes: fc.integer({ min: 40_000, max: 200_000 }),
    staged: fc.boolean(),
    worldSize: fc.integer({ min: 3, max: 4 }),
    rank: fc.constantFrom(0, 1),
    consumers: fc.integer({ min: 1, max: 2 }),
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
    placeFault: (draw) => draw() < s.faultShare / 4,
  };
}

async function play(s: Situation): Promise<RunReport> {
  const probe = await probeCore({ job: s.job, preset: s.preset, set: s.set });
  return runWorld(probe, worldOf(s));
}

test('exactly once, in order, every byte right, within the budget, over random worlds', async () => {
  await fc.assert(
    fc.asyncProperty(situations, async (s) => {
      const report = await play(s);
      assert.is(report.failed, null);
      assert.ok(report.ended);
      checkOrder(s.job, report);
      const charged = Object.values(report.stallsNs).reduce((a, b) => a + b, 0);
      assert.is(charged, report.stalledNs, 'every stalled nanosecond is charged to one cause');
    }),
    { seed: SEED, numRuns: RUNS, includeErrorInReport: true },
  );
});

/** Every rank of this core got every one of its batches once, in order, with the samples of its share. */
function checkOrder(job: JobSpec, report: RunReport): void {
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
        const share =
          tail === 'partial' && rest < globalBatch
            ? Math.floor((rest * (r + 1)) / worldSize) - Math.floor((rest * r) / worldSize)
            : batchSamples;
        if (share > 0) wanted.push(`${epoch}/${batch}/${share}`);
      }
    }
    assert.equal(
      got.map((b) => `${b.epoch}/${b.batch}/${b.rows.length}`),
      wanted,
    );
  }
}

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
