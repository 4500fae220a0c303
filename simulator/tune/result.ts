import type { SettingValue } from '../../runtime-node/policy/resolve.js';
import type { PipelineName } from '../scenario/types.js';
import type { Robust } from './score.js';
import type { Method } from './search.js';
import type { Metrics, Objective } from './trial.js';

export interface PolicyValues {
  preset: string;
  set: Record<string, SettingValue>;
}

/** One scenario and seed, run whole with both policies. */
export interface MarginRun {
  scenario: string;
  seed: number;
  base: Metrics;
  /** Null where the run failed. */
  tuned: Metrics | null;
  /** Objective, tuned over base. */
  ratio: number | null;
}

/** The tuned policy against the one that the scenarios name. */
export interface Margin {
  /** Objective, tuned over base: mean or worst over the runs; below 1 is better. Null where runs failed. */
  ratio: number | null;
  /** Share of the base's figure that is saved: 1 - ratio. */
  gain: number | null;
  constraints_hold: boolean;
  runs: MarginRun[];
}

export interface Sensitivity {
  setting: string;
  base: SettingValue;
  tuned: SettingValue;
  /** Objective, tuned over base, when this setting alone returns to the base. Null where runs failed. */
  ratio_without: number | null;
  /** By how much it is worse then, as a share of the base's figure; can be negative where a constraint wants the setting. */
  worth: number | null;
  constraints_hold_without: boolean;
}

export type EndedBy = 'budget' | 'time' | 'interrupted';

/** What a search came to (`os2g.tune-result/1`); all but `wall_s` follows from scenarios, options and budget. */
export interface TuneResult {
  schema: 'os2g.tune-result/1';
  policy: { schema: 'os2g.policy/1' } & PolicyValues;
  base: PolicyValues;
  pipeline: PipelineName;
  objective: Objective;
  constraints: string[];
  robust: Robust;
  scenarios: { name: string; sha256: string }[];
  core_sha256: string;
  search: {
    method: Method;
    seed: number;
    /** Seeds for each scenario. */
    seeds: number;
    ended_by: EndedBy;
    /** In whole runs; null where only time or the user ends the search. */
    budget: number | null;
    work: number;
    rounds: number;
    candidates: number;
    /** Simulations of any length. */
    runs: number;
    trace_shares: number[];
    /** Whole runs that simplified and checked the policy, on top of the budget. */
    check_runs: number;
  };
  margin: {
    search: Margin;
    /** The same scenarios with seeds that the search never saw; null where the search was interrupted. */
    held_out_seeds: Margin | null;
    /** Other scenarios with such seeds: those that were given, or neighbours of the tuned ones. */
    held_out_scenarios: (Margin & { given: boolean }) | null;
  };
  /** Most valuable first; null where the search was interrupted. */
  sensitivity: Sensitivity[] | null;
  /** Why candidates had no figures, with the settings of the first. */
  failures: { reason: string; count: number; set: Record<string, SettingValue> }[];
  wall_s: number;
}
