// The bound: what no policy can beat, and as near to it as its own words say.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { BoundBy } from '../../simulator/bound.js';
import type { PipelineName } from '../../simulator/scenario/types.js';
import { ideal, type Parts, run, runOne, withParts } from './kit.js';

const constant = (value: number): Parts => ({ kind: 'constant', value });
const small = { sample_bytes: constant(1000) };
const queue = (perS: number): Parts => ({ store: { requests_per_s: perS, over_limit: 'queue' } });
const batch = (samples: number): Parts => ({
  dataset: { samples, ...small },
  training: { batch_samples_per_gpu: samples },
});

type Row = [what: string, parts: Parts[], by: BoundBy, ms: number];

const exact: Row[] = [
  ['five reads where the bucket holds one', [batch(5), queue(0.5)], 'store_requests', 8000],
  ['60 reads, the depth of three at once', [batch(60), queue(30)], 'store_requests', 1900],
  [
    'a last step takes its longest share',
    [
      {
        dataset: { samples: 57, ...small },
        training: { gpus: 4, batch_samples_per_gpu: 3, gpu_samples_per_s: 1000, tail: 'partial' },
      },
    ],
    'gpu',
    15,
  ],
  [
    '... on the node that has it',
    [
      {
        nodes: 2,
        dataset: { samples: 25, ...small },
        training: { gpus: 2, batch_samples_per_gpu: 3, gpu_samples_per_s: 1000, tail: 'partial' },
      },
    ],
    'gpu',
    7,
  ],
];
for (const [what, parts, by, ms] of exact) {
  test(`${what}: the bound is ${ms} ms, and the run takes no longer`, async () => {
    const { bound, epoch_s } = await runOne(parts.reduce((all, part) => withParts(all, part), ideal()));
    assert.is(bound.by, by);
    assert.ok(bound.epoch_s <= epoch_s[0]!);
    assert.ok(Math.abs(bound.epoch_s - ms / 1e3) < 1e-6, `${bound.epoch_s}`);
    assert.ok(epoch_s[0]! - ms / 1e3 < 1e-6, `${epoch_s}`);
  });
}

/** Nodes that drift apart: each epoch but the first may find the others in it, or through. */
const drifting = ideal({
  nodes: 2,
  dataset: { samples: 64 },
  training: { epochs: 3, batch_samples_per_gpu: 4, gpu_samples_per_s: 1e6 },
  store: { first_byte_ms: constant(5), total_mb_per_s: 100, hang_share: 0.01 },
  memory_budget_mib: 8,
});
const drifts: [what: string, parts: Parts, pipelines: PipelineName[]][] = [
  ['hangs, the store shared', {}, ['os2g', 's3connector']],
  [
    'hangs, a cap shared',
    { store: { total_mb_per_s: null, requests_per_s: 40, over_limit: 'queue' } },
    ['os2g'],
  ],
  [
    'unequal samples',
    {
      nodes: 3,
      dataset: { samples: 60, sample_bytes: { kind: 'lognormal', median: 1e5, sigma: 2 } },
      training: { batch_samples_per_gpu: 2 },
      store: { hang_share: 0 },
      memory_budget_mib: 256,
    },
    ['os2g', 's3connector', 's3fs'],
  ],
  [
    'a cap, unequal samples, memory for a part of the epoch',
    {
      dataset: { samples: 64, sample_bytes: { kind: 'lognormal', median: 3e5, sigma: 2 } },
      store: { total_mb_per_s: null, hang_share: 0, requests_per_s: 50, over_limit: 'queue' },
      memory_budget_mib: 64,
    },
    ['os2g'],
  ],
  ['errors for a while', { faults: [{ at_s: 0.1, for_s: 0.3, kind: 'error', factor: 0.5 }] }, ['os2g']],
  [
    'an order that is known one batch ahead',
    { training: { access: { kind: 'zipf', exponent: 1, lookahead_batches: 1 } } },
    ['os2g', 's3connector'],
  ],
];
for (const [what, parts, pipelines] of drifts) {
  test(`no epoch is shorter than the bound: ${what}`, async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { results } = await run(withParts(drifting, { ...parts, seed }), { pipelines }).catch((error) => {
        if (/landing memory/.test(error.message)) return { results: [] };
        throw error;
      });
      for (const { pipeline, epoch_s, bound, failed } of results) {
        if (failed) continue;
        const least = Math.min(...epoch_s);
        assert.ok(
          bound.epoch_s <= least,
          `seed ${seed}, ${pipeline}: ${least} s, bound ${bound.epoch_s} s by ${bound.by}`,
        );
      }
    }
  });
}

test('nodes that keep step share the store in later epochs too', async () => {
  const { bound, epoch_s } = await runOne(withParts(drifting, { store: { hang_share: 0 } }));
  // 64 MB at 100 MB/s, less what two memories of 8 MiB may hold.
  assert.is(bound.by, 'store_rate');
  assert.ok(bound.epoch_s >= 0.64 - 2 * 0.0839 && bound.epoch_s <= epoch_s[2]!, `${bound.epoch_s}`);
});

test('of an order that becomes known late, memory holds no more than is known', async () => {
  const scenario = withParts(ideal(), {
    dataset: { samples: 400, ...small },
    training: {
      epochs: 2,
      batch_samples_per_gpu: 10,
      gpu_samples_per_s: 1e6,
      access: { kind: 'zipf', exponent: 1, lookahead_batches: 3 },
    },
    ...queue(100),
  });
  const { bound, epoch_s } = await runOne(scenario);
  // Three batches may be there, and the bucket full: 400 - 30 - 10 reads.
  assert.is(bound.by, 'store_requests');
  assert.ok(Math.abs(bound.epoch_s - 3.6) < 1e-5, `${bound.epoch_s}`);
  assert.ok(bound.epoch_s <= Math.min(...epoch_s));
});

test.run();
