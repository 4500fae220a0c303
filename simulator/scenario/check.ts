import * as layout from '../../assembly/layout.js';
import { ConfigError } from '../../runtime-node/errors.js';
import { resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { samplerOf } from '../distribution.js';
import { pipelineOf } from '../machine.js';
import type { Scenario } from './types.js';

const MIB = 1048576;
/** Bodies wait in the DPU's memory: the core keeps at least this share of the budget for them. */
const STAGING_SHARE = 0.25;
/** Each instance of the core takes address space of its own. */
const MOST_CORES = 4096;
/** Virtual time is whole nanoseconds below 2^53: a run must fit with room to spare. */
export const LONGEST_RUN_S = 4e6;

/** What no single field shows: parts that contradict each other. @throws ConfigError `bad_scenario` */
export function checkTogether(scenario: Scenario, file?: string): void {
  const { training, dataset, store, dpu, nodes } = scenario;
  const refuse = (field: string, what: string, mend: string): never => {
    throw badScenario(file, field, what, mend);
  };
  const ranks = nodes * training.gpus;
  if (ranks > 1048576) refuse('nodes', `${ranks} GPUs in all`, 'use at most 1,048,576 GPUs together');
  const most = Math.floor(layout.MAX_SAMPLES / training.gpus);
  if (training.batch_samples_per_gpu > most) {
    refuse(
      'training.batch_samples_per_gpu',
      `${training.batch_samples_per_gpu} samples with ${training.gpus} GPUs`,
      `use at most ${most}`,
    );
  }
  const usesCore = scenario.pipelines.some((name) => pipelineOf(name, scenario).client === 'core');
  if (usesCore && nodes > MOST_CORES) {
    refuse('nodes', `${nodes} nodes are as many instances of the core`, `use at most ${MOST_CORES} nodes`);
  }
  const global = training.batch_samples_per_gpu * ranks;
  if (training.tail === 'drop' && dataset.samples < global) {
    refuse(
      'dataset.samples',
      `${dataset.samples} samples make no batch of ${global} and tail is drop`,
      'use more samples, smaller batches, or tail pad',
    );
  }
  const { access } = training;
  if (access.kind === 'zipf' && (access.lookahead_batches + 2) * training.batch_samples_per_gpu > most) {
    refuse(
      'training.access.lookahead_batches',
      `${access.lookahead_batches} batches ahead are more positions than the core holds`,
      `use at most ${Math.max(0, Math.floor(most / training.batch_samples_per_gpu) - 2)}`,
    );
  }
  if (store.error_share + store.hang_share >= 1) {
    refuse(
      'store.hang_share',
      'error_share and hang_share together leave no good answer',
      'make their sum less than 1',
    );
  }
  const { mean } = samplerOf(dataset.sample_bytes);
  if (mean === 0) refuse('dataset.sample_bytes', 'all samples are empty', 'give them at least 1 byte');
  const sampleBytes = Math.max(1, mean);
  const needed = sampleBytes * training.batch_samples_per_gpu * training.gpus;
  const budget = scenario.memory_budget_mib * MIB;
  if (budget < Math.min(needed, sampleBytes * Math.min(global, dataset.samples))) {
    refuse(
      'memory_budget_mib',
      `${scenario.memory_budget_mib} MiB hold less than one batch for each GPU (${Math.ceil(needed / MIB)} MiB)`,
      'give it a third more than a batch for each GPU (a quarter stages bodies), or use smaller batches',
    );
  }
  const usesDpu = scenario.pipelines.some((name) => pipelineOf(name, scenario).side === 'dpu');
  if (usesDpu && budget * STAGING_SHARE > dpu.memory_mib * MIB) {
    refuse(
      'memory_budget_mib',
      `a quarter of ${scenario.memory_budget_mib} MiB, which stages bodies on the DPU, is more than dpu.memory_mib (${dpu.memory_mib})`,
      'lower the budget, or give the DPU more memory',
    );
  }
  const computeS = (training.epochs * Math.ceil(dataset.samples / ranks)) / training.gpu_samples_per_s;
  if (computeS > LONGEST_RUN_S) {
    refuse(
      'training.epochs',
      `the run computes for ${Math.round(computeS)} s`,
      `keep it below ${LONGEST_RUN_S} s: fewer epochs, or a shorter data set`,
    );
  }
  if (new Set(scenario.pipelines).size !== scenario.pipelines.length) {
    refuse('pipelines', 'a pipeline is named twice', 'name each once');
  }
}

/** The scenario's own policy. @throws ConfigError `bad_scenario` */
export function checkPolicy({ policy }: Scenario, file?: string): void {
  try {
    resolvePolicy(policy);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { option } = error.context;
    const field = option === undefined || option === 'policy' ? 'policy.preset' : `policy.set.${option}`;
    const what = error.message.startsWith(`${option}: `)
      ? error.message.slice(`${option}: `.length)
      : error.message;
    throw badScenario(file, field, what, error.mend, error);
  }
}

export function badScenario(
  file: string | undefined,
  field: string,
  what: string,
  mend: string,
  cause?: unknown,
): ConfigError {
  const where = [file, field].filter((part) => part !== undefined && part !== '').join(': ');
  return new ConfigError('bad_scenario', `${where || 'the scenario'}: ${what}`, mend, {
    option: field || undefined,
    file,
    cause,
  });
}
