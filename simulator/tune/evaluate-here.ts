import { setImmediate } from 'node:timers/promises';
import { AbortedError } from '../../runtime-node/errors.js';
import { CorePool } from '../core-pool.js';
import { coresNeeded } from '../simulate.js';
import { runTrial } from './run-trial.js';
import type { Evaluator, Trial, TrialOutcome, TrialSpace } from './trial.js';

/** What runs trials in this thread, one after the other. */
export interface TrialRunner {
  run(trials: readonly Trial[]): TrialOutcome[];
}

/** Loads as many cores as the scenarios need. */
export async function trialRunner(space: TrialSpace): Promise<TrialRunner> {
  const pool = await CorePool.load();
  for (const { scenario } of space.scenarios) {
    await pool.ensure(coresNeeded({ ...scenario, pipelines: [space.pipeline] }));
  }
  return { run: (trials) => trials.map((trial) => runTrial(space, trial, pool)) };
}

/** Evaluates in this thread: for tests, and where threads are not to be had. */
export async function evaluateHere(space: TrialSpace): Promise<Evaluator> {
  const runner = await trialRunner(space);
  return {
    async evaluate(trials, { signal, onOutcomes } = {}) {
      const outcomes: TrialOutcome[] = [];
      for (const [i, trial] of trials.entries()) {
        // Timers and signals get their turn between two runs.
        await setImmediate();
        if (signal?.aborted) throw new AbortedError(signal.reason);
        const [outcome] = runner.run([trial]);
        outcomes.push(outcome!);
        onOutcomes?.([[i, outcome!]]);
      }
      return outcomes;
    },
    async close() {},
  };
}
