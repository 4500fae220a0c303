import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tuneText } from '../../runtime-node/cli/tune/report.js';
import { formatSetting, resolvePolicy, settingValue } from '../../runtime-node/policy/resolve.js';
import { loadScenario } from '../../simulator/index.js';
import { parseConstraint } from '../../simulator/tune/constraint.js';
import { Proposer } from '../../simulator/tune/propose.js';
import type { TuneResult } from '../../simulator/tune/result.js';
import { compareScores, scoreOf } from '../../simulator/tune/score.js';
import { keptShare, shorten, traceShares } from '../../simulator/tune/shorten.js';
import { candidateOf, changesOf, coordinateOf, TUNABLE, valueAt } from '../../simulator/tune/space.js';
import type { Metrics, TrialOutcome } from '../../simulator/tune/trial.js';
import { goalOf, SMALL, tuneHere } from './tune-kit.js';

test('every coordinate of every setting is a value that a policy file can hold, and they rise together', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.constantFrom(...TUNABLE), unit, unit, (setting, a, b) => {
      const value = valueAt(setting, a);
      assert.is(settingValue(setting, formatSetting(setting, value)), value, setting.name);
      assert.is(value <= valueAt(setting, b) || a > b, true, setting.name);
      if (setting.kind === 'bytes')
        assert.match(
          String(formatSetting(setting, value)),
          /^\d+[A-Za-z]+$/,
          'a size that people would write',
        );
      const back = coordinateOf(setting, value);
      assert.ok(back >= 0 && back <= 1, `${setting.name} ${value}`);
    }),
  );
  for (const setting of TUNABLE) {
    assert.is(valueAt(setting, -1), setting.min, setting.name);
    assert.is(valueAt(setting, 2), setting.max, setting.name);
  }
});

test('where nothing better was found, the text says what the file holds', () => {
  const margin = { ratio: 1, gain: 0, constraints_hold: true, runs: [] };
  const told = (set: Record<string, number>): string =>
    tuneText(
      {
        scenarios: [{ name: 'small', sha256: '' }],
        search: { candidates: 1, runs: 1, work: 1 },
        margin: { search: margin, held_out_seeds: null, held_out_scenarios: null },
        base: { preset: 'os2g', set },
        sensitivity: [],
      } as unknown as TuneResult,
      { policy: 'p.json', worth: 'p.tune.json' },
    );
  assert.match(told({}), /the policy file is the preset\./);
  assert.match(
    told({ 'concurrency.max': 9 }),
    /the policy file is that one, preset os2g with 1 setting of its own\./,
  );
});

test('candidates are policies, none comes twice, and every setting has its turn', () => {
  const base = candidateOf(resolvePolicy());
  for (const seed of [1, 2, 3]) {
    const proposer = new Proposer(seed, base, true);
    const drawn = proposer.draw(0, 3 * TUNABLE.length, [base], 0);
    assert.is(new Set(drawn.map(String)).size, drawn.length);
    for (const candidate of drawn) resolvePolicy({ set: changesOf(candidate, base) });
    TUNABLE.forEach((setting, i) => {
      assert.ok(
        drawn.some((candidate) => candidate[i] !== base[i]),
        `seed ${seed}: ${setting.name}`,
      );
    });
    assert.equal(new Proposer(seed, base, true).draw(0, 3 * TUNABLE.length, [base], 0), drawn);
  }
});

test('constraints: what they mean, and what is none', () => {
  const cases: [string, number, boolean][] = [
    ['epoch_time<=90s', 90, false],
    ['epoch_time <= 1.02x', 1.02, true],
    ['memory<=256MiB', 2 ** 28, false],
    ['requests<=1e5', 1e5, false],
    ['dpu_cpu<=1500ms', 1.5, false],
  ];
  for (const [text, limit, isRelative] of cases) {
    const parsed = parseConstraint(text);
    assert.is(parsed.limit, limit, text);
    assert.is(parsed.isRelative, isRelative, text);
  }
  for (const text of [
    '',
    'epoch_time',
    'epoch_time<90s',
    'speed<=1x',
    'epoch_time<=90',
    'memory<=5',
    'requests<=NaN',
    'memory<=0x',
    'requests<=-1',
    'epoch_time<=1.2.3x',
    'memory<=InfinityB',
  ]) {
    assert.throws(
      () => parseConstraint(text),
      (error: Error) => 'code' in error && error.code === 'bad_option',
      text,
    );
  }
});

const outcome = (metrics: Partial<Metrics>): TrialOutcome => ({
  metrics: { epoch_time: 1, host_cpu: 1, dpu_cpu: 1, requests: 1, memory: 1, ...metrics },
});

test('scores: mean and worst, limits for each scenario, failures last', () => {
  const base = [outcome({}), outcome({ epoch_time: 2 }), outcome({})];
  const of = [
    outcome({ epoch_time: 0.5 }),
    outcome({ epoch_time: 1 }),
    outcome({ epoch_time: 2, memory: 3 }),
  ];
  const goal = goalOf('epoch_time', 'memory<=1.5x');
  const mean = scoreOf(goal, of, base, [0, 0, 1]);
  assert.is(mean.ratio, 1);
  assert.is(mean.excess, 1);
  assert.is(scoreOf({ ...goal, robust: 'worst' }, of, base, [0, 0, 1]).ratio, 2);
  const together = scoreOf(goal, of, base, [0, 0, 0]).excess;
  assert.ok(Math.abs(together - 1 / 9) < 1e-12, String(together));
  const failed = scoreOf(goal, [outcome({}), { failed: 'x' }, outcome({})], base, [0, 0, 1]);
  const good = { ratio: 0.9, excess: 0, failed: 0 };
  const sorted = [failed, mean, { ratio: 0.1, excess: 0.5, failed: 0 }, good].sort(compareScores);
  assert.equal(
    sorted.map(({ ratio }) => ratio),
    [0.9, 0.1, 1, Number.MAX_VALUE],
  );
});

test('shorter traces: epochs first, then samples, faults along; never below what shows anything', () => {
  const faults = [{ at_s: 9, for_s: 3, kind: 'outage' as const }];
  const { scenario } = loadScenario({ ...SMALL, training: { ...SMALL.training, epochs: 4 }, faults });
  const cases: [number, number, number][] = [
    [1, 4, 1536],
    [0.5, 2, 1536],
    [0.25, 1, 1536],
    [0.125, 1, 768],
    [0.001, 1, 384],
  ];
  for (const [share, epochs, samples] of cases) {
    const short = shorten(scenario, share);
    assert.is(short.training.epochs, epochs, String(share));
    assert.is(short.dataset.samples, samples, String(share));
  }
  assert.equal(shorten(scenario, 0.25).faults, [{ ...faults[0], at_s: 2.25, for_s: 0.75 }]);
  assert.is(keptShare(scenario, 0.001), 0.0625);
  assert.equal(traceShares([scenario], 3, 4), [1 / 9, 1 / 3, 1]);
  assert.equal(traceShares([loadScenario(SMALL).scenario], 3, 4), [1 / 3, 1]);
});

test('what cannot be tuned is refused by name', async () => {
  const small = loadScenario(SMALL);
  const direct = loadScenario({ ...SMALL, training: { ...SMALL.training, host_us_per_sample: 0 } });
  const noRetries = { preset: 'os2g', set: { 'retry.attempts': 1 } };
  const hopeless = loadScenario({ ...SMALL, name: 'hopeless', store: { error_share: 0.97 } });
  const failing = loadScenario({ ...SMALL, store: { error_share: 0.5 }, policy: noRetries });
  const cases: [Parameters<typeof tuneHere>[0], RegExp][] = [
    [{ scenarios: [] }, /no scenario/],
    [{ scenarios: [small], pipeline: 's3fs' }, /s3fs has no policy/],
    [{ scenarios: [small, loadScenario({ ...SMALL, policy: { preset: 'sync' } })] }, /different policies/],
    [{ scenarios: [direct], goal: goalOf('host_cpu') }, /host_cpu is 0/],
    [{ scenarios: [failing] }, /the run of small ends early: reading sample \d+ failed for good \(server\)/],
    [{ scenarios: [small], heldOut: [failing] }, /different policies/],
    [
      { scenarios: [small], heldOut: [hopeless] },
      /the run of hopeless ends early: reading sample \d+ failed/,
    ],
  ];
  for (const [options, words] of cases) {
    try {
      await tuneHere(options);
      assert.unreachable(String(words));
    } catch (error) {
      assert.match((error as Error).message, words);
      assert.is((error as { code?: string }).code, 'bad_option');
    }
  }
});

test.run();
