import type { Fault, Scenario } from '../scenario/types.js';

/** Steps that a shortened scenario keeps at least: the start must not be all there is to see. */
const LEAST_STEPS = 12;

/** Samples that all GPUs together compute in one step. */
function globalBatch({ training, nodes }: Scenario): number {
  return training.batch_samples_per_gpu * training.gpus * nodes;
}

function stepsOf(scenario: Scenario): number {
  return Math.max(1, Math.floor(scenario.dataset.samples / globalBatch(scenario)));
}

/**
 * The same scenario with a shorter trace: fewer epochs first, then fewer samples. Faults move along, so that a shorter run sees
 * the same share of them.
 * @param share of the whole trace, above 0; what is too short for {@link LEAST_STEPS} is made longer
 */
export function shorten(scenario: Scenario, share: number): Scenario {
  const { epochs } = scenario.training;
  const epochSteps = stepsOf(scenario);
  const wholeSteps = epochs * epochSteps;
  const steps = Math.min(wholeSteps, Math.max(LEAST_STEPS, Math.round(wholeSteps * share)));
  if (steps >= wholeSteps) return scenario;
  const keptEpochs = Math.max(1, Math.round(steps / epochSteps));
  const samples = steps >= epochSteps ? scenario.dataset.samples : steps * globalBatch(scenario);
  return {
    ...scenario,
    dataset: { ...scenario.dataset, samples },
    training: { ...scenario.training, epochs: keptEpochs },
    faults: scenario.faults.map((fault) => moved(fault, steps / wholeSteps)),
  };
}

function moved(fault: Fault, share: number): Fault {
  return { ...fault, at_s: fault.at_s * share, for_s: fault.for_s * share };
}

/** Share of the whole trace that `shorten` really keeps. */
export function keptShare(scenario: Scenario, share: number): number {
  const short = shorten(scenario, share);
  const work = (of: Scenario): number => of.training.epochs * of.dataset.samples;
  return work(short) / work(scenario);
}

/**
 * Lengths that a search uses, shortest first, the whole one last: each three times the one before, as long as every scenario
 * can be cut so far.
 */
export function traceShares(scenarios: readonly Scenario[], factor: number, most: number): number[] {
  const shares = [1];
  while (shares.length < most) {
    const next = shares[0]! / factor;
    const isTooShort = scenarios.some((scenario) => keptShare(scenario, next) > next * 1.5);
    if (isTooShort) break;
    shares.unshift(next);
  }
  return shares;
}
