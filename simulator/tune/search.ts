import type { Field } from './field.js';
import { Proposer } from './propose.js';
import { compareScores, type Score } from './score.js';
import type { Candidate } from './space.js';

/** Each length of the trace is so many times the one before. */
export const HALVING_FACTOR = 3;
export const MOST_LENGTHS = 4;
const MOST_CANDIDATES = 81;
/** Candidates that go the whole length in a full round. */
const FINALISTS = 3;
const PARENTS = 6;

export const METHODS = ['halving', 'random'] as const;
export type Method = (typeof METHODS)[number];

export interface Ranked {
  readonly candidate: Candidate;
  readonly score: Score;
}

export interface SearchOptions {
  readonly field: Field;
  readonly base: Candidate;
  readonly seed: number;
  /** In whole runs; infinite where only the signal ends the search. */
  readonly budget: number;
  /** Lengths of the trace, shortest first, 1 last. */
  readonly shares: readonly number[];
  readonly signal?: AbortSignal;
  /** Called whenever more is known; `ranked` holds the best, first. */
  readonly onProgress?: (state: SearchState) => void;
}

export interface SearchState {
  /** Candidates that went the whole length, the base among them, best first; at least one. */
  readonly ranked: readonly Ranked[];
  readonly rounds: number;
  readonly candidates: number;
}

interface Moving {
  ranked: Ranked[];
  rounds: number;
  candidates: number;
}

/**
 * Searches until the budget is spent.
 * @throws AbortedError when the signal is aborted; what was known then came through `onProgress`
 */
export async function search(method: Method, options: SearchOptions): Promise<SearchState> {
  const { field, base, signal } = options;
  const state: Moving = { ranked: [], rounds: 0, candidates: 0 };
  const [score] = await field.scores([base], 1, { signal });
  state.ranked.push({ candidate: base, score: score! });
  options.onProgress?.(state);
  await (method === 'halving' ? halve(options, state) : drawOnly(options, state));
  return state;
}

/** Rounds of successive halving; each draws near the best of those before. */
async function halve(options: SearchOptions, state: Moving): Promise<void> {
  const { field, base, seed, shares } = options;
  const proposer = new Proposer(seed, base, true);
  for (;;) {
    const sizes = roundSizes(field, shares, options.budget - field.work);
    if (!sizes) return;
    const parents = state.ranked.slice(0, PARENTS).map(({ candidate }) => candidate);
    let candidates = proposer.draw(state.rounds, sizes[0]!, parents, state.rounds);
    if (candidates.length === 0) return;
    state.candidates += candidates.length;
    for (const [i, share] of shares.entries()) {
      const scores = await field.scores(candidates, share, { signal: options.signal });
      const ranked = rank(candidates.map((candidate, at) => ({ candidate, score: scores[at]! })));
      if (share === 1) state.ranked = rank([...state.ranked, ...ranked]);
      else candidates = ranked.slice(0, sizes[i + 1]).map(({ candidate }) => candidate);
      options.onProgress?.(state);
    }
    state.rounds++;
  }
}

/** The measure of a search: as many candidates at their whole length as the budget has, none learnt from. */
async function drawOnly(options: SearchOptions, state: Moving): Promise<void> {
  const { field, base, seed } = options;
  const proposer = new Proposer(seed, base, false);
  const each = field.workOf(1);
  while (field.work + each <= options.budget) {
    const count = Math.min(16, Math.floor((options.budget - field.work) / each));
    const candidates = proposer.draw(state.rounds, count, [base], 0);
    if (candidates.length === 0) return;
    state.candidates += candidates.length;
    const scores = await field.scores(candidates, 1, { signal: options.signal });
    state.ranked = rank([
      ...state.ranked,
      ...candidates.map((candidate, at) => ({ candidate, score: scores[at]! })),
    ]);
    state.rounds++;
    options.onProgress?.(state);
  }
}

/** Candidates at each length: every length gets the same work, as much as a full round or the rest of the budget has; null: none. */
function roundSizes(field: Field, shares: readonly number[], left: number): number[] | null {
  const full = FINALISTS * field.workOf(1);
  const work = Math.min(full, left / shares.length);
  const finalists = Math.floor(work / field.workOf(1));
  if (finalists === 0) return null;
  return shares.map((share) =>
    Math.max(finalists, Math.min(MOST_CANDIDATES, Math.floor(work / field.workOf(share)))),
  );
}

/** Best first; of equals the one that was known first. */
function rank(entries: Ranked[]): Ranked[] {
  return entries.sort((a, b) => compareScores(a.score, b.score));
}
