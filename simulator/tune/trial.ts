import type { SettingValue } from '../../runtime-node/policy/resolve.js';
import type { LoadedScenario } from '../scenario/load.js';
import type { PipelineName } from '../scenario/types.js';

/** What a run is measured by; each for the whole scenario, also where a shorter one was run. */
export const OBJECTIVES = ['epoch_time', 'host_cpu', 'dpu_cpu', 'requests', 'memory'] as const;
export type Objective = (typeof OBJECTIVES)[number];

/** Seconds of one epoch, seconds of CPU, object reads sent, bytes at the peak. */
export type Metrics = Readonly<Record<Objective, number>>;

/** What all trials of a search have in common: an evaluator is made for one of these. */
export interface TrialSpace {
  readonly scenarios: readonly LoadedScenario[];
  readonly pipeline: PipelineName;
  readonly preset: string;
}

/** One simulation. */
export interface Trial {
  /** Index into the scenarios of the space. */
  readonly scenario: number;
  readonly seed: number;
  /** Length of the trace as a share of the scenario's, above 0, at most 1. */
  readonly share: number;
  /** Settings on top of the preset, as a policy file writes them. */
  readonly set: Readonly<Record<string, SettingValue>>;
  /** A run that sends more requests is given up; null: no limit. */
  readonly maxRequests: number | null;
}

/** `failed` says why there are no figures. A function of the trial alone. */
export type TrialOutcome = { readonly metrics: Metrics } | { readonly failed: string };

export interface EvaluateOptions {
  signal?: AbortSignal;
  /** Told of outcomes as they come, in any order: index into the batch, and outcome. */
  onOutcomes?: (outcomes: readonly (readonly [number, TrialOutcome])[]) => void;
}

/**
 * Runs one batch of trials and returns their outcomes in the same order. The only thing to replace for another place to run
 * (threads here; a cluster elsewhere): it may run them in any order and number at a time, and must not change an outcome.
 * @throws AbortedError when the signal is aborted first
 */
export type EvaluateBatch = (trials: readonly Trial[], options?: EvaluateOptions) => Promise<TrialOutcome[]>;

/** Something that evaluates, and holds threads or machines until it is closed. */
export interface Evaluator {
  readonly evaluate: EvaluateBatch;
  close(): Promise<void>;
}
