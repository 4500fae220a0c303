import type { Field } from './field.js';
import type { Score } from './score.js';
import type { Ranked } from './search.js';
import { type Candidate, TUNABLE } from './space.js';

/** What makes the tuned figure worse by less than this share of it makes no difference. */
const NO_DIFFERENCE = 0.002;

/** What happens when one setting alone returns to the base. */
export interface Return {
  readonly setting: string;
  readonly score: Score;
}

/**
 * Returns to the base every setting that makes no difference, so that a policy file holds only what it is good for.
 * @returns the simpler candidate, and what each of its settings is worth
 */
export async function simplify(
  best: Ranked,
  base: Candidate,
  field: Field,
  signal?: AbortSignal,
): Promise<{ best: Ranked; returns: Return[] }> {
  let current = best;
  for (;;) {
    const changed = TUNABLE.flatMap((_, i) => (current.candidate[i] === base[i] ? [] : [i]));
    const singles = changed.map((i) => returned(current.candidate, base, [i]));
    const scores = await field.scores(singles, 1, { signal });
    const free = changed
      .map((i, at) => ({ i, score: scores[at]! }))
      .filter(({ score }) => isNoWorse(score, best.score))
      .sort((a, b) => a.score.ratio - b.score.ratio || a.i - b.i);
    if (free.length === 0) {
      return {
        best: current,
        returns: changed.map((i, at) => ({ setting: TUNABLE[i]!.name, score: scores[at]! })),
      };
    }
    // All at once where they do not depend on each other; otherwise the one that is missed least.
    const all = returned(
      current.candidate,
      base,
      free.map(({ i }) => i),
    );
    const [score] = await field.scores([all], 1, { signal });
    current = isNoWorse(score!, best.score)
      ? { candidate: all, score: score! }
      : { candidate: returned(current.candidate, base, [free[0]!.i]), score: free[0]!.score };
  }
}

function returned(candidate: Candidate, base: Candidate, which: readonly number[]): Candidate {
  return candidate.map((value, i) => (which.includes(i) ? base[i]! : value));
}

function isNoWorse(score: Score, than: Score): boolean {
  return score.failed === 0 && score.excess <= than.excess && score.ratio <= than.ratio * (1 + NO_DIFFERENCE);
}
