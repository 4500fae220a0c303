import { AbortedError } from '../../runtime-node/errors.js';
import { packageVersion } from '../../runtime-node/package-root.js';
import { resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { CorePool } from '../core-pool.js';
import type { LoadedScenario } from '../scenario/load.js';
import type { PipelineName } from '../scenario/types.js';
import { checkBase, commonPolicy } from './check.js';
import { WorkerEvaluator } from './evaluate-in-workers.js';
import { Field, type Lane } from './field.js';
import { neighbours, seedsOf } from './held-out.js';
import { Journal } from './journal.js';
import { marginOf, sensitivityOf } from './margin.js';
import type { EndedBy, Margin, PolicyValues, TuneResult } from './result.js';
import type { Goal } from './score.js';
import {
  HALVING_FACTOR,
  type Method,
  MOST_LENGTHS,
  type Ranked,
  type SearchState,
  search,
} from './search.js';
import { traceShares } from './shorten.js';
import { type Return, simplify } from './simplify.js';
import { type Candidate, candidateOf, changesOf } from './space.js';
import type { EvaluateBatch, Evaluator, TrialSpace } from './trial.js';

export interface TuneOptions {
  scenarios: readonly LoadedScenario[];
  /** Checked at the end, never searched in; without any, neighbours of the scenarios are. */
  heldOut?: readonly LoadedScenario[];
  goal: Goal;
  pipeline?: PipelineName;
  method?: Method;
  /** Of what the search draws; the scenarios have their own. */
  seed?: number;
  /** Seeds for each scenario, in the search and held out. */
  seeds?: number;
  /** In whole runs of a scenario; a shorter run counts as its share. Null: until time or the user ends it. */
  budget: number | null;
  timeMs?: number;
  workers?: number;
  journal?: { file: string; resume: boolean };
  signal?: AbortSignal;
  onProgress?: (state: TuneProgress) => void;
  /** Another place to run simulations than threads of this process. */
  evaluator?: (space: TrialSpace) => Evaluator | Promise<Evaluator>;
}

export interface TuneProgress {
  phase: 'search' | 'check';
  work: number;
  rounds: number;
  /** Objective, best over base, on the seeds of the search. */
  bestRatio: number;
}

/**
 * Searches settings that are better than the scenarios' policy. An abort ends the search with the best so far, without held-out
 * figures; a second one, or one before the base is known, throws.
 * @throws ConfigError where scenarios or options are wrong; AbortedError
 */
export async function tune(options: TuneOptions): Promise<TuneResult> {
  const { pipeline = 'os2g' } = options;
  const policy = commonPolicy(options.scenarios, pipeline);
  const scenarios = [...options.scenarios, ...heldOutOf(options)];
  if (options.heldOut?.length) commonPolicy([...options.scenarios, ...options.heldOut], pipeline);
  const space: TrialSpace = { scenarios, pipeline, preset: policy.preset };
  const { sha256 } = await CorePool.load();
  const journal = openJournal(options, space, policy, sha256);
  const make = options.evaluator ?? ((of: TrialSpace) => new WorkerEvaluator(of, options.workers ?? 1));
  const evaluator = await make(space);
  try {
    return await new Tuning(options, space, policy, journal.remember(evaluator.evaluate), sha256).run();
  } finally {
    await evaluator.close();
  }
}

function heldOutOf({ heldOut = [], scenarios }: TuneOptions): readonly LoadedScenario[] {
  return heldOut.length > 0 ? heldOut : scenarios.flatMap(neighbours);
}

function openJournal(
  options: TuneOptions,
  space: TrialSpace,
  policy: PolicyValues,
  coreSha256: string,
): Journal {
  const { journal } = options;
  if (!journal) return Journal.inMemory();
  // What an outcome depends on: a search for something else may go on from the same journal.
  const identity = {
    os2g: packageVersion,
    core_sha256: coreSha256,
    pipeline: space.pipeline,
    policy,
    scenarios: options.scenarios.map(({ sha256 }) => sha256),
    held_out: (options.heldOut ?? []).map(({ sha256 }) => sha256),
  };
  return journal.resume ? Journal.resume(journal.file, identity) : Journal.create(journal.file, identity);
}

class Tuning {
  readonly #options: TuneOptions;
  readonly #space: TrialSpace;
  readonly #policy: PolicyValues;
  readonly #base: Candidate;
  readonly #evaluate: EvaluateBatch;
  readonly #coreSha256: string;
  readonly #startMs = performance.now();
  readonly #fields: { search: Field; seeds: Field; scenarios: Field };
  #state: SearchState | null = null;
  #work = 0;
  #runs = 0;

  constructor(
    options: TuneOptions,
    space: TrialSpace,
    policy: PolicyValues,
    evaluate: EvaluateBatch,
    coreSha256: string,
  ) {
    this.#options = options;
    this.#space = space;
    this.#policy = policy;
    this.#base = candidateOf(resolvePolicy(policy));
    this.#evaluate = evaluate;
    this.#coreSha256 = coreSha256;
    const tuned = options.scenarios.length;
    this.#fields = {
      search: this.#field(0, tuned, false),
      seeds: this.#field(0, tuned, true),
      scenarios: this.#field(tuned, space.scenarios.length, true),
    };
  }

  #field(from: number, to: number, isHeldOut: boolean): Field {
    const { goal, seeds = 3 } = this.#options;
    const lanes = this.#space.scenarios
      .slice(from, to)
      .flatMap(({ scenario }, i): Lane[] =>
        seedsOf(scenario, seeds, isHeldOut).map((seed, index) => ({ scenario: from + i, seed, index })),
      );
    const base = { candidate: this.#base, set: this.#policy.set };
    return new Field(this.#space, goal, base, lanes, this.#evaluate);
  }

  async run(): Promise<TuneResult> {
    const { search: field } = this.#fields;
    const { signal, goal } = this.#options;
    await checkBase(field, goal, this.#space.scenarios, signal);
    if (this.#options.heldOut?.length)
      await checkBase(this.#fields.scenarios, goal, this.#space.scenarios, signal);
    let endedBy = await this.#search();
    this.#work = field.work;
    this.#runs = field.runs;
    let best = this.#state!.ranked[0]!;
    if (endedBy !== 'interrupted') {
      try {
        return await this.#checked(best, endedBy);
      } catch (error) {
        if (!(error instanceof AbortedError)) throw error;
        endedBy = 'interrupted';
        best = this.#state!.ranked[0]!;
      }
    }
    return this.#result(best, endedBy, null, await this.#searchMargin(best));
  }

  async #search(): Promise<EndedBy> {
    const { method = 'halving', seed = 1, budget, timeMs, signal } = this.#options;
    const { search: field } = this.#fields;
    const clock = timeMs === undefined ? null : AbortSignal.timeout(timeMs);
    const signals = [signal, clock].filter((each): each is AbortSignal => each != null);
    try {
      await search(method, {
        field,
        base: this.#base,
        seed,
        budget: budget ?? Number.POSITIVE_INFINITY,
        shares: this.#shares(),
        signal: AbortSignal.any(signals),
        onProgress: (state) => {
          this.#state = state;
          this.#tell('search');
        },
      });
      return 'budget';
    } catch (error) {
      if (!(error instanceof AbortedError) || !this.#state) throw error;
      return signal?.aborted ? 'interrupted' : 'time';
    }
  }

  async #checked(found: Ranked, endedBy: EndedBy): Promise<TuneResult> {
    const { search: field, seeds, scenarios } = this.#fields;
    const { signal, goal, heldOut = [] } = this.#options;
    this.#tell('check');
    const { best, returns } = await simplify(found, this.#base, field, signal);
    const margin = (of: Field): Promise<Margin> =>
      marginOf(of, goal, best.candidate, this.#space.scenarios, signal);
    const [onSearch, onSeeds, onScenarios] = [
      await margin(field),
      await margin(seeds),
      await margin(scenarios),
    ];
    return this.#result(best, endedBy, returns, {
      search: onSearch,
      held_out_seeds: onSeeds,
      held_out_scenarios: { given: heldOut.length > 0, ...onScenarios },
    });
  }

  /** From what is known already: the best was run whole on these lanes. */
  async #searchMargin(best: Ranked): Promise<TuneResult['margin']> {
    const { search: field } = this.#fields;
    const search = await marginOf(field, this.#options.goal, best.candidate, this.#space.scenarios);
    return { search, held_out_seeds: null, held_out_scenarios: null };
  }

  #shares(): number[] {
    const scenarios = this.#options.scenarios.map(({ scenario }) => scenario);
    return traceShares(scenarios, HALVING_FACTOR, MOST_LENGTHS);
  }

  #tell(phase: TuneProgress['phase']): void {
    const { ranked, rounds } = this.#state!;
    this.#options.onProgress?.({
      phase,
      work: this.#fields.search.work,
      rounds,
      bestRatio: ranked[0]!.score.ratio,
    });
  }

  #result(
    best: Ranked,
    endedBy: EndedBy,
    returns: readonly Return[] | null,
    margin: TuneResult['margin'],
  ): TuneResult {
    const { goal, scenarios, method = 'halving', seed = 1, seeds = 3, budget } = this.#options;
    const { search: field, seeds: onSeeds, scenarios: onScenarios } = this.#fields;
    const set = { ...this.#policy.set, ...changesOf(best.candidate, this.#base) };
    return {
      schema: 'os2g.tune-result/1',
      policy: { schema: 'os2g.policy/1', preset: this.#policy.preset, set },
      base: this.#policy,
      pipeline: this.#space.pipeline,
      objective: goal.objective,
      constraints: goal.constraints.map(({ text }) => text),
      robust: goal.robust,
      scenarios: scenarios.map(({ scenario, sha256 }) => ({ name: scenario.name, sha256 })),
      core_sha256: this.#coreSha256,
      search: {
        method,
        seed,
        seeds,
        ended_by: endedBy,
        budget,
        work: Number(this.#work.toFixed(3)),
        rounds: this.#state!.rounds,
        candidates: this.#state!.candidates,
        runs: this.#runs,
        trace_shares: this.#shares(),
        check_runs: field.runs - this.#runs + onSeeds.runs + onScenarios.runs,
      },
      margin,
      sensitivity: returns && sensitivityOf(returns, best.candidate, this.#base, margin.search.ratio!),
      failures: [...field.failures].map(([reason, { count, set: first }]) => ({
        reason,
        count,
        set: { ...first },
      })),
      wall_s: (performance.now() - this.#startMs) / 1e3,
    };
  }
}
