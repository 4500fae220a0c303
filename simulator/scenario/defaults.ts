import type { Scenario } from './types.js';

/** What a scenario is about where it does not say: the same for every profile. */
export const JOB_DEFAULTS = {
  schema: 'os2g.scenario/1',
  name: 'scenario',
  seed: 7,
  dataset: {
    samples: 1281167,
    sample_bytes: { kind: 'lognormal', median: 110000, sigma: 0.4 },
    samples_per_object: 1,
  },
  training: {
    epochs: 1,
    gpus: 1,
    batch_samples_per_gpu: 256,
    gpu_samples_per_s: 2500,
    shuffle: 'sample',
    tail: 'drop',
    access: { kind: 'epoch' },
    checkpoint: null,
  },
  policy: { preset: 'os2g', set: {} },
  pipelines: ['s3fs', 's3connector', 'naive-offload', 'relay', 'os2g', 'os2g-host'],
  faults: [],
  nodes: 1,
} satisfies Omit<
  Scenario,
  'profile' | 'training' | 'store' | 'network' | 'host' | 'dpu' | 'pcie' | 'clients' | 'memory_budget_mib'
> & {
  training: Omit<Scenario['training'], 'host_us_per_sample'>;
};
