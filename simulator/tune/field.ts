import type { SettingValue } from '../../runtime-node/policy/resolve.js';
import { type Goal, metricsOf, type Score, scoreOf } from './score.js';
import { keptShare } from './shorten.js';
import { type Candidate, changesOf } from './space.js';
import type { EvaluateBatch, EvaluateOptions, Trial, TrialOutcome, TrialSpace } from './trial.js';

/** A candidate that sends so many times the preset's requests is given up. */
const MOST_REQUESTS_FACTOR = 32;
const REQUESTS_TO_SPARE = 20_000;

/** One simulation that each candidate is put through: the same for all, so that chance falls on all alike. */
export interface Lane {
  readonly scenario: number;
  readonly seed: number;
  /** Which of its scenario's seeds it is, from 0. */
  readonly index: number;
}

export interface Base {
  readonly candidate: Candidate;
  /** Settings on top of the preset that are not to be changed, or changed from there. */
  readonly set: Readonly<Record<string, SettingValue>>;
}

/** Where candidates are compared with the base: a set of lanes, at any length of the trace. */
export class Field {
  readonly lanes: readonly Lane[];
  /** Work asked for so far, in whole runs. */
  work = 0;
  /** Simulations asked for so far, of any length. */
  runs = 0;
  readonly failures = new Map<string, { count: number; set: Readonly<Record<string, SettingValue>> }>();
  readonly #space: TrialSpace;
  readonly #goal: Goal;
  readonly #base: Base;
  readonly #evaluate: EvaluateBatch;
  readonly #baseOutcomes = new Map<number, readonly TrialOutcome[]>();

  constructor(space: TrialSpace, goal: Goal, base: Base, lanes: readonly Lane[], evaluate: EvaluateBatch) {
    this.#space = space;
    this.#goal = goal;
    this.#base = base;
    this.lanes = lanes;
    this.#evaluate = evaluate;
  }

  /** Lanes that a length is run on: a shorter trace with fewer of the seeds, at least one. */
  lanesAt(share: number): readonly Lane[] {
    const seeds = this.lanes.reduce((most, { index }) => Math.max(most, index + 1), 1);
    const used = Math.max(1, Math.round(seeds * share));
    return this.lanes.filter(({ index }) => index < used);
  }

  /** Work of one candidate at a length, in whole runs. */
  workOf(share: number): number {
    return this.lanesAt(share).reduce((sum, lane) => sum + this.#kept(lane, share), 0);
  }

  /** Scores of candidates, in order. */
  async scores(candidates: readonly Candidate[], share: number, options?: EvaluateOptions): Promise<Score[]> {
    const outcomes = await this.outcomes(candidates, share, options);
    const base = await this.baseOutcomes(share, options);
    const scenarios = this.lanesAt(share).map(({ scenario }) => scenario);
    return outcomes.map((own) => scoreOf(this.#goal, own, base, scenarios));
  }

  /** Outcomes of each candidate, lane by lane. */
  async outcomes(
    candidates: readonly Candidate[],
    share: number,
    options?: EvaluateOptions,
  ): Promise<TrialOutcome[][]> {
    const base = await this.baseOutcomes(share, options);
    const lanes = this.lanesAt(share);
    const trials = candidates.flatMap((candidate) => {
      const set = { ...this.#base.set, ...changesOf(candidate, this.#base.candidate) };
      return lanes.map((lane, i) => this.#trial(lane, share, set, this.#limit(base[i]!, lane, share)));
    });
    const outcomes = await this.#run(trials, options);
    const width = lanes.length;
    return candidates.map((_, i) => outcomes.slice(i * width, (i + 1) * width));
  }

  /** Outcomes of the base, lane by lane. */
  async baseOutcomes(share: number, options?: EvaluateOptions): Promise<readonly TrialOutcome[]> {
    const known = this.#baseOutcomes.get(share);
    if (known) return known;
    const trials = this.lanesAt(share).map((lane) => this.#trial(lane, share, this.#base.set, null));
    const outcomes = await this.#run(trials, options);
    this.#baseOutcomes.set(share, outcomes);
    return outcomes;
  }

  async #run(trials: readonly Trial[], options?: EvaluateOptions): Promise<TrialOutcome[]> {
    const outcomes = await this.#evaluate(trials, options);
    this.runs += trials.length;
    trials.forEach((trial, i) => {
      this.work += this.#kept(trial, trial.share);
      const outcome = outcomes[i]!;
      if ('failed' in outcome) this.#note(outcome.failed, trial.set);
    });
    return outcomes;
  }

  #note(reason: string, set: Trial['set']): void {
    const noted = this.failures.get(reason);
    this.failures.set(reason, { count: (noted?.count ?? 0) + 1, set: noted?.set ?? set });
  }

  #trial(
    { scenario, seed }: Pick<Lane, 'scenario' | 'seed'>,
    share: number,
    set: Trial['set'],
    maxRequests: number | null,
  ): Trial {
    return { scenario, seed, share, set, maxRequests };
  }

  #limit(base: TrialOutcome, lane: Lane, share: number): number | null {
    if ('failed' in base) return null;
    const requests = metricsOf(base).requests * this.#kept(lane, share);
    return Math.ceil(requests * MOST_REQUESTS_FACTOR) + REQUESTS_TO_SPARE;
  }

  #kept({ scenario }: Pick<Lane, 'scenario'>, share: number): number {
    return keptShare(this.#space.scenarios[scenario]!.scenario, share);
  }
}
