import { ConfigError } from '../../runtime-node/errors.js';
import type { SettingValue } from '../../runtime-node/policy/resolve.js';
import { pipelineOf } from '../machine.js';
import { type LoadedScenario, overrideScenario } from '../scenario/load.js';
import type { PipelineName } from '../scenario/types.js';
import type { Field } from './field.js';
import type { PolicyValues } from './result.js';
import type { Goal } from './score.js';

/**
 * The policy that all scenarios name: what is tuned, and what it is compared with.
 * @throws ConfigError `bad_option` where there is none, or nothing to tune in the pipeline
 */
export function commonPolicy(scenarios: readonly LoadedScenario[], pipeline: PipelineName): PolicyValues {
  const first = scenarios[0]?.scenario;
  if (!first) throw refusal('scenario', 'no scenario was given', 'name one or more scenario files');
  for (const { scenario, file } of scenarios) {
    overrideScenario(scenario, { pipelines: [pipeline] }, file);
    if (pipelineOf(pipeline, scenario).client !== 'core') {
      throw refusal('pipeline', `${pipeline} has no policy to tune`, 'use os2g, relay or os2g-host');
    }
    if (JSON.stringify(scenario.policy) !== JSON.stringify(first.policy)) {
      throw refusal(
        'policy',
        `the scenarios ${first.name} and ${scenario.name} name different policies`,
        'give all scenarios the same `policy`: it is what the tuned one is compared with',
      );
    }
  }
  return { preset: first.policy.preset, set: first.policy.set as Record<string, SettingValue> };
}

/** @throws ConfigError where the base itself fails, or leaves nothing to improve */
export async function checkBase(
  field: Field,
  { objective }: Goal,
  scenarios: readonly LoadedScenario[],
  signal?: AbortSignal,
): Promise<void> {
  const outcomes = await field.baseOutcomes(1, { signal });
  outcomes.forEach((outcome, i) => {
    const { name } = scenarios[field.lanes[i]!.scenario]!.scenario;
    if ('failed' in outcome) {
      throw refusal(
        'scenario',
        `with the scenario's own policy the run of ${name} ends early: ${outcome.failed}`,
        'mend the scenario first',
      );
    }
    if (outcome.metrics[objective] <= 0) {
      throw refusal('objective', `${objective} is 0 in ${name} already`, 'choose another objective');
    }
  });
}

function refusal(option: string, what: string, mend: string): ConfigError {
  return new ConfigError('bad_option', `${option}: ${what}`, mend, { option });
}
