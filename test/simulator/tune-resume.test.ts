import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { loadScenario } from '../../simulator/index.js';
import {
  type Evaluator,
  evaluateHere,
  type TrialSpace,
  WorkerEvaluator,
} from '../../simulator/tune/index.js';
import { SMALL, tuneHere, withoutWall } from './tune-kit.js';

const folder = mkdtempSync(join(tmpdir(), 'os2g-tune-'));
test.after(() => rmSync(folder, { recursive: true }));

const scenarios = [loadScenario(SMALL)];
const lines = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

/** As `evaluateHere`, but dies after so many simulations. */
function mortal(after: number): (space: TrialSpace) => Promise<Evaluator> {
  return async (space) => {
    const inner = await evaluateHere(space);
    let left = after;
    const evaluate: Evaluator['evaluate'] = (trials, options = {}) =>
      inner.evaluate(trials, {
        ...options,
        onOutcomes(outcomes) {
          options.onOutcomes?.(outcomes);
          left -= outcomes.length;
          if (left <= 0) throw new Error('killed');
        },
      });
    return { evaluate, close: () => inner.close() };
  };
}

test('the same search again, with any number of workers: the same result', async () => {
  const first = withoutWall(await tuneHere({ scenarios }));
  const cases: [string, (space: TrialSpace) => Evaluator | Promise<Evaluator>][] = [
    ['here', evaluateHere],
    ['one worker', (space) => new WorkerEvaluator(space, 1)],
    ['three workers', (space) => new WorkerEvaluator(space, 3)],
  ];
  for (const [name, evaluator] of cases) {
    assert.equal(withoutWall(await tuneHere({ scenarios, evaluator })), first, name);
  }
});

test('killed at any point, a line cut off, and resumed: the result of an unbroken run, nothing simulated twice', async () => {
  const whole = join(folder, 'whole.jsonl');
  const unbroken = withoutWall(await tuneHere({ scenarios, journal: { file: whole, resume: false } }));
  const outcomes = lines(whole).length - 1;
  for (const after of [1, 7, 20, outcomes - 1]) {
    const file = join(folder, `killed-${after}.jsonl`);
    try {
      await tuneHere({ scenarios, journal: { file, resume: false }, evaluator: mortal(after) });
      assert.unreachable();
    } catch (error) {
      assert.is((error as Error).message, 'killed');
    }
    assert.is(lines(file).length - 1, after);
    writeFileSync(file, `${readFileSync(file, 'utf8')}{"key":"[0,7,0.11`);
    const resumed = await tuneHere({ scenarios, journal: { file, resume: true } });
    assert.equal(withoutWall(resumed), unbroken, `killed after ${after}`);
    assert.equal(lines(file).sort(), lines(whole).sort());
  }
});

test('interrupted: the best so far, without held-out figures; a larger budget goes on from the journal', async () => {
  const file = join(folder, 'interrupted.jsonl');
  const controller = new AbortController();
  const result = await tuneHere({
    scenarios,
    journal: { file, resume: false },
    budget: null,
    signal: controller.signal,
    onProgress: ({ rounds }) => {
      if (rounds === 1) controller.abort();
    },
  });
  assert.is(result.search.ended_by, 'interrupted');
  assert.is(result.margin.held_out_seeds, null);
  assert.is(result.sensitivity, null);
  assert.ok(result.margin.search.ratio! <= 1);
  const known = lines(file).length;
  const more = await tuneHere({ scenarios, journal: { file, resume: true }, budget: 30 });
  assert.is(more.search.ended_by, 'budget');
  assert.ok(more.margin.search.ratio! <= result.margin.search.ratio! * 1.002);
  assert.ok(lines(file).length > known);
});

test('a time instead of a budget ends the search, and the check follows', async () => {
  const result = await tuneHere({ scenarios, budget: null, timeMs: 50 });
  assert.is(result.search.ended_by, 'time');
  assert.is(result.search.budget, null);
  assert.ok(result.margin.held_out_seeds);
});

test('a journal of something else is refused by name', async () => {
  const file = join(folder, 'mine.jsonl');
  await tuneHere({ scenarios, budget: 4, journal: { file, resume: false } });
  const other = [loadScenario({ ...SMALL, name: 'other' })];
  const damaged = join(folder, 'damaged.jsonl');
  writeFileSync(damaged, `${lines(file)[0]}\n{"key":\n`);
  writeFileSync(join(folder, 'empty.jsonl'), '');
  const cases: [Parameters<typeof tuneHere>[0], RegExp][] = [
    [{ scenarios, journal: { file, resume: false } }, /is there already/],
    [{ scenarios: other, journal: { file, resume: true } }, /another search: scenarios was/],
    [
      { scenarios, pipeline: 'relay', journal: { file, resume: true } },
      /another search: pipeline was "os2g"/,
    ],
    [{ scenarios, journal: { file: join(folder, 'nowhere'), resume: true } }, /cannot be read/],
    [{ scenarios, journal: { file: join(folder, 'empty.jsonl'), resume: true } }, /is no journal/],
    [{ scenarios, journal: { file: damaged, resume: true } }, /cannot be read/],
  ];
  for (const [options, words] of cases) {
    try {
      await tuneHere(options);
      assert.unreachable(String(words));
    } catch (error) {
      assert.instance(error, ConfigError, String(error));
      assert.match((error as ConfigError).message, words);
    }
  }
});

test.run();
