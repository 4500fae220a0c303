import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { loadScenario } from '../../simulator/index.js';
import {
  type Evaluator,
  type TrialSpace,
  type TuneOptions,
  type TuneResult,
  WorkerEvaluator,
} from '../../simulator/tune/index.js';
import { exampleScenario, goalOf, SMALL, tuneHere } from './tune-kit.js';

/** Scenarios where the preset is not the best, the share of its figure that a tuned policy may have, and seeds of searches. */
const CASES: [string, Partial<TuneOptions>, number, number[]][] = [
  ['tune-shards', {}, 0.8, [1]],
  ['tune-errors', {}, 0.8, [1, 2]],
  ['tune-weak-dpu', { goal: goalOf('dpu_cpu', 'epoch_time<=1.02x') }, 0.8, [1]],
  ['tune-memory', { goal: goalOf('memory', 'epoch_time<=1.01x') }, 0.95, [1, 2]],
];
const evaluator = (space: TrialSpace): Evaluator => new WorkerEvaluator(space, 2);

const ratioOf = ({ margin }: TuneResult): number => margin.held_out_seeds!.ratio!;
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

for (const [name, options, most, seeds] of CASES) {
  test(`${name}: the tuned policy beats the preset on held-out seeds, and draws at random do worse`, async () => {
    const scenarios = [exampleScenario(name)];
    const ratios: Record<'halving' | 'random', number[]> = { halving: [], random: [] };
    for (const seed of seeds) {
      for (const method of ['halving', 'random'] as const) {
        const result = await tuneHere({ scenarios, ...options, budget: 40, seed, method, evaluator });
        assert.ok(result.search.work <= 40, `${result.search.work} whole runs`);
        ratios[method].push(ratioOf(result));
        if (method === 'halving') checkResult(result);
      }
    }
    const told = `search seeds ${seeds.join(', ')}: ${JSON.stringify(ratios)}`;
    assert.ok(mean(ratios.halving) <= most, told);
    assert.ok(mean(ratios.halving) < mean(ratios.random), told);
  });
}

function checkResult({ policy, margin, sensitivity, base }: TuneResult): void {
  const { held_out_seeds: seeds, held_out_scenarios: others, search } = margin;
  assert.ok(seeds && others && sensitivity);
  assert.ok(search.constraints_hold);
  const seen = new Set(search.runs.map(({ seed }) => seed));
  assert.ok(
    seeds.runs.every(({ seed }) => !seen.has(seed)),
    'held-out seeds are other seeds',
  );
  assert.ok(others.runs.every(({ scenario }) => !search.runs.some((run) => run.scenario === scenario)));
  // A policy file: every setting is one, and each of those that were added is worth something.
  resolvePolicy(policy);
  const added = Object.keys(policy.set).filter((name) => !(name in base.set));
  assert.equal([...added].sort(), sensitivity.map(({ setting }) => setting).sort());
  for (const { setting, worth, constraints_hold_without: holds } of sensitivity) {
    assert.ok(worth === null || worth > 0 || !holds, `${setting} is worth ${worth}`);
  }
}

test('several scenarios, and the worst of them: no run of the search is worse than the result says', async () => {
  const scenarios = [exampleScenario('tune-memory'), exampleScenario('tune-shards')].map(
    ({ scenario, ...loaded }) => ({
      ...loaded,
      scenario: { ...scenario, policy: { preset: 'os2g', set: {} } },
    }),
  );
  const goal = { ...goalOf('dpu_cpu', 'epoch_time<=1.05x'), robust: 'worst' as const };
  const heldOut = [loadScenario(SMALL)];
  const { margin } = await tuneHere({ scenarios, heldOut, goal, seeds: 1, budget: 20, evaluator });
  const { ratio, runs } = margin.search;
  assert.is(ratio, Math.max(...runs.map((run) => run.ratio!)));
  assert.ok(ratio! <= 1);
  const { given, runs: others } = margin.held_out_scenarios!;
  assert.is(given, true);
  assert.equal(
    others.map(({ scenario }) => scenario),
    ['small'],
  );
});

test.run();
