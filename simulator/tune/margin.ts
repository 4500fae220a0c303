import { formatSetting } from '../../runtime-node/policy/resolve.js';
import type { LoadedScenario } from '../scenario/load.js';
import type { Field } from './field.js';
import type { Margin, MarginRun, Sensitivity } from './result.js';
import { type Goal, metricsOf, type Score, scoreOf } from './score.js';
import type { Return } from './simplify.js';
import { type Candidate, TUNABLE } from './space.js';

/** Runs the base and a candidate whole on all lanes of a field; lanes on which the base itself fails are left out. */
export async function marginOf(
  field: Field,
  goal: Goal,
  candidate: Candidate,
  scenarios: readonly LoadedScenario[],
  signal?: AbortSignal,
): Promise<Margin> {
  const base = await field.baseOutcomes(1, { signal });
  const [tuned = []] = await field.outcomes([candidate], 1, { signal });
  const pairs = field.lanes.flatMap((lane, i) =>
    'failed' in base[i]! ? [] : [{ lane, base: base[i]!, tuned: tuned[i]! }],
  );
  const runs = pairs.map((pair): MarginRun => {
    const before = metricsOf(pair.base);
    const after = 'failed' in pair.tuned ? null : pair.tuned.metrics;
    return {
      scenario: scenarios[pair.lane.scenario]!.scenario.name,
      seed: pair.lane.seed,
      base: before,
      tuned: after,
      ratio: after && after[goal.objective] / before[goal.objective],
    };
  });
  if (runs.length === 0) return { ratio: null, gain: null, constraints_hold: false, runs };
  const score = scoreOf(
    goal,
    pairs.map((pair) => pair.tuned),
    pairs.map((pair) => pair.base),
    pairs.map(({ lane }) => lane.scenario),
  );
  return { ...figuresOf(score), runs };
}

function figuresOf({ ratio, excess, failed }: Score): Omit<Margin, 'runs'> {
  const known = failed === 0 ? ratio : null;
  return {
    ratio: known,
    gain: known === null ? null : 1 - known,
    constraints_hold: failed === 0 && excess === 0,
  };
}

/** Most valuable first. */
export function sensitivityOf(
  returns: readonly Return[],
  best: Candidate,
  base: Candidate,
  ratio: number,
): Sensitivity[] {
  return returns
    .map(({ setting, score }): Sensitivity => {
      const i = TUNABLE.findIndex(({ name }) => name === setting);
      const { ratio: without, constraints_hold } = figuresOf(score);
      return {
        setting,
        base: formatSetting(TUNABLE[i]!, base[i]!),
        tuned: formatSetting(TUNABLE[i]!, best[i]!),
        ratio_without: without,
        worth: without === null ? null : without - ratio,
        constraints_hold_without: constraints_hold,
      };
    })
    .sort((a, b) => (b.worth ?? Number.MAX_VALUE) - (a.worth ?? Number.MAX_VALUE));
}
