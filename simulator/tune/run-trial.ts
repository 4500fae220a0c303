import { ConfigError } from '../../runtime-node/errors.js';
import type { CorePool } from '../core-pool.js';
import type { Observer } from '../observer.js';
import type { PipelineResult } from '../result.js';
import { simulateNow } from '../simulate.js';
import { keptShare, shorten } from './shorten.js';
import type { Metrics, Trial, TrialOutcome, TrialSpace } from './trial.js';

/** Ends a run that sends far more requests than the preset needs: a policy like that is no candidate. */
class TooManyRequests extends Error {}

function requestLimit(maxRequests: number): Observer {
  let requests = 0;
  return {
    request() {
      if (++requests > maxRequests) throw new TooManyRequests();
    },
  };
}

/** Runs one trial; `pool` holds as many cores as the largest scenario has nodes. */
export function runTrial(space: TrialSpace, trial: Trial, pool: CorePool): TrialOutcome {
  const loaded = space.scenarios[trial.scenario];
  if (!loaded) throw new RangeError(`no scenario ${trial.scenario}`);
  const scenario = shorten(loaded.scenario, trial.share);
  const options = {
    pipelines: [space.pipeline],
    policy: { preset: space.preset, set: { ...trial.set } },
    seed: trial.seed,
    observer: trial.maxRequests === null ? null : requestLimit(trial.maxRequests),
  };
  try {
    const result = simulateNow({ ...loaded, scenario }, options, pool).results[0]!;
    if (result.failed) return { failed: result.failed.reason };
    const scale = 1 / keptShare(loaded.scenario, trial.share);
    return { metrics: metricsOf(result, scale, loaded.scenario.training.epochs) };
  } catch (error) {
    if (error instanceof TooManyRequests) return { failed: `more than ${trial.maxRequests} requests` };
    if (error instanceof ConfigError) return { failed: error.message };
    throw error;
  }
}

/** @param scale how many times longer the whole scenario is than the trace that ran */
function metricsOf(result: PipelineResult, scale: number, epochs: number): Metrics {
  const runS = result.epoch_s.reduce((sum, epochS) => sum + epochS, 0);
  return {
    epoch_time: (runS * scale) / epochs,
    host_cpu: result.host_cpu_s * scale,
    dpu_cpu: result.dpu_cpu_s * scale,
    requests: result.requests * scale,
    memory: result.memory_peak_bytes,
  };
}
