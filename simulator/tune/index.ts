/** The tuner: searches settings of the policy in the simulator. */
export { type Constraint, parseConstraint } from './constraint.js';
export { evaluateHere } from './evaluate-here.js';
export { WorkerEvaluator } from './evaluate-in-workers.js';
export type { Margin, MarginRun, Sensitivity, TuneResult } from './result.js';
export { type Goal, ROBUST, type Robust } from './score.js';
export { METHODS, type Method } from './search.js';
export type {
  EvaluateBatch,
  EvaluateOptions,
  Evaluator,
  Metrics,
  Objective,
  Trial,
  TrialOutcome,
  TrialSpace,
} from './trial.js';
export { OBJECTIVES } from './trial.js';
export { type TuneOptions, type TuneProgress, tune } from './tune.js';
