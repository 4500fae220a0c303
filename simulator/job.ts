import * as layout from '../assembly/layout.js';
import { jobConfig } from '../runtime-node/policy/job.js';
import type { Policy } from '../runtime-node/policy/resolve.js';
import type { Scenario } from './scenario/types.js';

const MIB = 1048576;

/** The core's configuration for one node of a scenario: its GPUs are the consumers, and bodies go through staging. */
export function nodeConfig(scenario: Scenario, policy: Policy, node: number): Float64Array {
  const { training, dataset } = scenario;
  const { gpus, access } = training;
  const config = jobConfig(
    {
      samples: dataset.samples,
      batchSamples: training.batch_samples_per_gpu,
      worldSize: scenario.nodes * gpus,
      rank: node * gpus,
      consumers: gpus,
      epochs: training.epochs,
      seed: scenario.seed,
      shuffle: access.kind === 'zipf' ? 'external' : training.shuffle,
      tail: training.tail,
      memoryBytes: Math.floor(scenario.memory_budget_mib * MIB),
      staged: true,
    },
    policy,
  );
  if (access.kind === 'zipf') {
    // What the trainer makes known, the core must be able to hold.
    const positions = (access.lookahead_batches + 2) * training.batch_samples_per_gpu;
    const slot = layout.CONFIG_LOOKAHEAD_SAMPLES;
    config[slot] = Math.min(layout.MAX_SAMPLES, Math.max(config[slot]!, positions));
  }
  return config;
}
