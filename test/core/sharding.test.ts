import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { TAILS } from '../../runtime-node/policy/job.js';
import { probeCore, runWorld } from '../kit/index.js';
import { MS } from './hand.js';
import { globalBatches, sharesOf, stepsOf } from './ranks.js';

const SHAPES = [
  {
    what: '1 shard for 4 ranks',
    samples: 12,
    worldSize: 4,
    batchSamples: 2,
    set: { 'order.block_samples': 12 },
  },
  { what: '5 samples for 2 ranks', samples: 5, worldSize: 2, batchSamples: 2 },
  { what: '5 samples for 2 ranks, a batch larger than the data', samples: 5, worldSize: 2, batchSamples: 4 },
  { what: '10 samples, 4 ranks, batch 3', samples: 10, worldSize: 4, batchSamples: 3 },
  { what: '1 sample for 3 ranks', samples: 1, worldSize: 3, batchSamples: 1 },
  { what: '24 samples, 4 ranks, batch 3: whole batches only', samples: 24, worldSize: 4, batchSamples: 3 },
  { what: '25 samples, 4 ranks, batch 3: one over', samples: 25, worldSize: 4, batchSamples: 3 },
  { what: '23 samples, 4 ranks, batch 3: one short', samples: 23, worldSize: 4, batchSamples: 3 },
];

for (const { what, samples, worldSize, batchSamples, set = {} } of SHAPES) {
  for (const shuffle of ['none', 'sample', 'block'] as const) {
    for (const tail of TAILS) {
      test(`${what}: ${shuffle}, ${tail}`, async () => {
        const job = { samples, worldSize, batchSamples, shuffle, tail, epochs: 2, seed: 5 };
        const shares = await sharesOf(job, { set });
        const globalBatch = worldSize * batchSamples;
        const whole = Math.floor(samples / globalBatch);
        const rest = samples % globalBatch;
        for (const epoch of [0, 1]) {
          const mine = shares.filter((s) => s.epoch === epoch);
          const steps = stepsOf(mine, worldSize, epoch);
          const rows = mine.flatMap((s) => s.rows.slice(0, s.rows.length - s.pads));
          const pads = mine.reduce((sum, s) => sum + s.pads, 0);
          assert.is(new Set(rows).size, rows.length, 'no row twice');
          if (tail === 'drop') {
            assert.equal(steps, Array(worldSize).fill(whole));
            assert.is(rows.length, whole * globalBatch);
            assert.is(pads, 0);
          } else if (tail === 'pad') {
            assert.equal(steps, Array(worldSize).fill(whole + (rest > 0 ? 1 : 0)));
            assert.is(rows.length, samples);
            assert.is(pads, rest > 0 ? globalBatch - rest : 0);
            assert.ok(mine.every((s) => s.rows.length === batchSamples));
          } else {
            assert.is(rows.length, samples);
            assert.is(pads, 0);
            const last = mine.filter((s) => s.batch === whole).map((s) => s.rows.length);
            while (last.length < worldSize) last.push(0);
            assert.ok(Math.max(...last) - Math.min(...last) <= 1, 'the rest is shared evenly');
            assert.ok(
              mine.every((s) => s.rows.length > 0),
              'nobody gets an empty batch',
            );
          }
        }
        assert.equal(await sharesOf(job, { set, together: true }).then(globalBatches), globalBatches(shares));
      });
    }
  }
}

test('pads are marked, and counted apart from samples', async () => {
  const probe = await probeCore({
    job: { samples: 10, worldSize: 4, consumers: 4, batchSamples: 3, tail: 'pad' },
  });
  const report = runWorld(probe, { seed: 1, firstByteNs: () => MS, stepNs: MS });
  assert.is(report.counter(layout.COUNTER_SAMPLES), 10);
  assert.is(report.counter(layout.COUNTER_PADDED), 2);
  assert.equal(report.batches.map((b) => b.pads).sort(), [0, 0, 0, 2]);
});

test('the union of ranks for world sizes 1, 2, 3, 4, 8 is the same global batches', async () => {
  const globalBatch = 24;
  for (const samples of [24, 100, 120, 23]) {
    for (const shuffle of ['none', 'sample', 'block'] as const) {
      for (const tail of TAILS) {
        const set = { 'order.block_samples': 7, 'order.group_blocks': 2 };
        const truth = await sharesOf(
          { samples, batchSamples: globalBatch, shuffle, tail, epochs: 2 },
          { set },
        );
        for (const worldSize of [2, 3, 4, 8]) {
          const job = { samples, worldSize, batchSamples: globalBatch / worldSize, shuffle, tail, epochs: 2 };
          const shares = await sharesOf(job, { set, together: true });
          assert.equal(
            globalBatches(shares),
            globalBatches(truth),
            `N ${samples}, ${shuffle}, ${tail}, world ${worldSize}`,
          );
        }
      }
    }
  }
});

// ---- resume -------------------------------------------------------------------------------------

const RESUMED = {
  samples: 41,
  worldSize: 2,
  batchSamples: 3,
  epochs: 3,
  seed: 9,
  shuffle: 'sample' as const,
};

test('started at every batch of an epoch, then two more epochs: as an unbroken run', async () => {
  for (const tail of TAILS) {
    const truth = await sharesOf({ ...RESUMED, tail });
    const batches = Math.max(...truth.map((s) => s.batch)) + 1;
    for (let startBatch = 0; startBatch <= batches; startBatch++) {
      const rest = truth.filter((s) => s.epoch > 0 || s.batch >= startBatch);
      assert.equal(
        await sharesOf({ ...RESUMED, tail, startBatch }),
        rest,
        `${tail}, from batch ${startBatch}`,
      );
    }
    const last = truth.filter((s) => s.epoch === 2 && s.batch >= 4);
    assert.equal(await sharesOf({ ...RESUMED, tail, startEpoch: 2, startBatch: 4 }), last, tail);
    assert.equal(await sharesOf({ ...RESUMED, tail, startEpoch: 3 }), [], 'nothing is left');
  }
});

test('saved with 2 ranks, resumed with 1, 3, 6: the same global batches', async () => {
  for (const tail of TAILS) {
    const truth = globalBatches(await sharesOf({ ...RESUMED, tail }));
    for (const startBatch of [0, 3, 6]) {
      for (const worldSize of [1, 3, 6]) {
        const job = { ...RESUMED, tail, worldSize, batchSamples: 6 / worldSize, startBatch };
        const got = globalBatches(await sharesOf(job, { together: true }));
        const rest = Object.fromEntries(
          Object.entries(truth).filter(
            ([name]) => !name.startsWith('0/') || Number(name.slice(2)) >= startBatch,
          ),
        );
        assert.equal(got, rest, `${tail}, batch ${startBatch}, world ${worldSize}`);
      }
    }
  }
});

test.run();
