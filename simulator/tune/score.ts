import type { Constraint } from './constraint.js';
import type { Metrics, Objective, TrialOutcome } from './trial.js';

export const ROBUST = ['mean', 'worst'] as const;
export type Robust = (typeof ROBUST)[number];

/** What is wanted. */
export interface Goal {
  readonly objective: Objective;
  readonly constraints: readonly Constraint[];
  readonly robust: Robust;
}

/** How good a candidate is over the same runs as the preset; less is better. */
export interface Score {
  /** Objective as a ratio to the preset's: mean or worst over the runs. */
  readonly ratio: number;
  /** By how much constraints are exceeded, as a sum of shares; 0: they hold. */
  readonly excess: number;
  /** Runs without figures. */
  readonly failed: number;
}

/** @param scenarios of each run: constraints hold for each scenario, over its seeds */
export function scoreOf(
  goal: Goal,
  outcomes: readonly TrialOutcome[],
  base: readonly TrialOutcome[],
  scenarios: readonly number[],
): Score {
  const failed = outcomes.filter((outcome) => 'failed' in outcome).length;
  if (failed > 0) return { ratio: Number.MAX_VALUE, excess: Number.MAX_VALUE, failed };
  const runs = outcomes.map((outcome, i) => ({
    scenario: scenarios[i]!,
    metrics: metricsOf(outcome),
    base: metricsOf(base[i]!),
  }));
  const ratios = runs.map((run) => run.metrics[goal.objective] / run.base[goal.objective]);
  return { ratio: combined(ratios, goal.robust), excess: excessOf(goal, runs), failed: 0 };
}

/** Negative where `a` is the better one: fewer failures, then constraints, then the objective. */
export function compareScores(a: Score, b: Score): number {
  return a.failed - b.failed || a.excess - b.excess || a.ratio - b.ratio;
}

export function metricsOf(outcome: TrialOutcome): Metrics {
  if ('failed' in outcome) throw new Error(`a run without figures: ${outcome.failed}`);
  return outcome.metrics;
}

interface Run {
  scenario: number;
  metrics: Metrics;
  base: Metrics;
}

function excessOf({ constraints, robust }: Goal, runs: readonly Run[]): number {
  let excess = 0;
  for (const { of, limit, isRelative } of constraints) {
    for (const scenario of new Set(runs.map((run) => run.scenario))) {
      const shares = runs
        .filter((run) => run.scenario === scenario)
        .map(({ metrics, base }) => metrics[of] / (isRelative ? limit * base[of] : limit));
      // 0 of 0: a side without work stays within any multiple of it.
      const used = combined(
        shares.map((share) => (Number.isNaN(share) ? 0 : share)),
        robust,
      );
      excess += Math.max(0, used - 1);
    }
  }
  return excess;
}

export function combined(values: readonly number[], robust: Robust): number {
  if (robust === 'worst') return values.reduce((a, b) => Math.max(a, b));
  return values.reduce((a, b) => a + b, 0) / values.length;
}
