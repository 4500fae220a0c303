// What `os2g tune` finds against draws at random with the same budget, on held-out seeds. See docs/tune.md.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../runtime-node/package-root.js';
import { loadScenario } from '../simulator/index.js';
import { METHODS, type Method, type Objective, parseConstraint, tune } from '../simulator/tune/index.js';
import { countOf } from './measure/options.js';
import { tableText } from './measure/report.js';
import { spreadOf } from './measure/spread.js';

const CASES: readonly [scenario: string, objective: Objective, constraints: readonly string[]][] = [
  ['tune-shards', 'epoch_time', []],
  ['tune-errors', 'epoch_time', []],
  ['tune-weak-dpu', 'dpu_cpu', ['epoch_time<=1.02x']],
  ['tune-memory', 'memory', ['epoch_time<=1.01x']],
];

interface Found {
  scenario: string;
  objective: Objective;
  method: Method;
  budget: number;
  /** Tuned over preset on held-out seeds and on held-out neighbours, one value a search. */
  seeds: number[];
  neighbours: number[];
  wallS: number[];
}

async function measure(searches: number, budget: number): Promise<Found[]> {
  const all: Found[] = [];
  for (const [name, objective, constraints] of CASES) {
    const scenarios = [loadScenario(join(packageRoot, 'docs/examples/scenarios', `${name}.json`))];
    const goal = {
      objective,
      constraints: constraints.map((text) => parseConstraint(text)),
      robust: 'mean' as const,
    };
    for (const method of METHODS) {
      const found: Found = {
        scenario: name,
        objective,
        method,
        budget,
        seeds: [],
        neighbours: [],
        wallS: [],
      };
      for (let seed = 1; seed <= searches; seed++) {
        const workers = availableParallelism();
        const { margin, wall_s } = await tune({ scenarios, goal, method, seed, budget, workers });
        found.seeds.push(margin.held_out_seeds?.ratio ?? Number.NaN);
        found.neighbours.push(margin.held_out_scenarios?.ratio ?? Number.NaN);
        found.wallS.push(wall_s);
      }
      all.push(found);
    }
  }
  return all;
}

function text(all: readonly Found[]): string {
  const cell = (values: readonly number[]): string => {
    const { min, median, max } = spreadOf(values);
    return [min, median, max].map((value) => value.toFixed(3)).join(' / ');
  };
  const head = ['scenario', 'objective', 'search', 'held-out seeds', 'neighbours', 'wall s'];
  const rows = all.map(({ scenario, objective, method, seeds, neighbours, wallS }) => [
    scenario,
    objective,
    method,
    cell(seeds),
    cell(neighbours),
    spreadOf(wallS).median.toFixed(1),
  ]);
  const [first] = all;
  return (
    `objective as a multiple of the preset's, min / median / max of ${first?.seeds.length} searches of ${first?.budget} whole runs\n\n` +
    tableText([head, ...rows])
  );
}

const { values } = parseArgs({
  options: {
    searches: { type: 'string', default: '5' },
    budget: { type: 'string', default: '150' },
    json: { type: 'boolean', default: false },
  },
});
const found = await measure(countOf('searches', values.searches), countOf('budget', values.budget));
process.stdout.write(values.json ? `${JSON.stringify(found)}\n` : text(found));
