import { join } from 'node:path';
import { packageRoot } from '../../runtime-node/package-root.js';
import { type LoadedScenario, loadScenario } from '../../simulator/index.js';
import {
  evaluateHere,
  type Goal,
  parseConstraint,
  type TuneOptions,
  type TuneResult,
  tune,
} from '../../simulator/tune/index.js';

/** A scenario that runs in milliseconds. */
export const SMALL = {
  schema: 'os2g.scenario/1',
  name: 'small',
  profile: 'bluefield2',
  dataset: { samples: 1536, sample_bytes: { kind: 'lognormal', median: 20000, sigma: 0.4 } },
  training: { batch_samples_per_gpu: 32, gpu_samples_per_s: 3000 },
  pipelines: ['os2g'],
  memory_budget_mib: 32,
} as const;

export function exampleScenario(name: string): LoadedScenario {
  return loadScenario(join(packageRoot, 'docs', 'examples', 'scenarios', `${name}.json`));
}

export function goalOf(objective: Goal['objective'], ...constraints: string[]): Goal {
  return { objective, constraints: constraints.map((text) => parseConstraint(text)), robust: 'mean' };
}

/** A search in this thread, small unless told otherwise. */
export function tuneHere(
  options: Partial<TuneOptions> & Pick<TuneOptions, 'scenarios'>,
): Promise<TuneResult> {
  return tune({ goal: goalOf('epoch_time'), seeds: 2, budget: 24, evaluator: evaluateHere, ...options });
}

/** Everything that has to come out the same again. */
export function withoutWall({ wall_s: _wall, ...result }: TuneResult): Omit<TuneResult, 'wall_s'> {
  return result;
}
