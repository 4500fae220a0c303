import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../runtime-node/package-root.js';
import { samplerOf } from '../../simulator/distribution.js';
import { exp, expm1Ratio, inverseNormal, log, log1pRatio } from '../../simulator/maths.js';
import { Stream } from '../../simulator/random.js';
import { Zipf } from '../../simulator/zipf.js';

// Reference values: 40 digits and more of decimal arithmetic, rounded.
const EXP: [number, number][] = [
  [-700, 9.85967654375977e-305],
  [-20.5, 1.2501528663867426e-9],
  [-1, 0.36787944117144233],
  [-0.1, 0.9048374180359596],
  [1e-10, 1.0000000001],
  [0, 1],
  [0.3, 1.3498588075760032],
  [1, Math.E],
  [10.25, 28282.541920334977],
  [700, 1.0142320547350045e304],
];
const LOG: [number, number][] = [
  [1e-300, -690.7755278982137],
  [5e-324, -744.4400719213812],
  [0.001, -6.907755278982137],
  [0.5, -Math.LN2],
  [0.999999, -1.000000500029089e-6],
  [1.0000001, 9.999999505838704e-8],
  [2, Math.LN2],
  [10, Math.LN10],
  [12345.678, 9.421061321291932],
  [1e300, 690.7755278982137],
];
const INVERSE_NORMAL: [number, number][] = [
  [1e-10, -6.361340902404057],
  [1e-5, -4.264890793922825],
  [0.001, -3.0902323061678136],
  [0.02, -2.053748910631823],
  [0.0749, -1.4402382675279637],
  [0.076, -1.4325027208258116],
  [0.25, -0.6744897501960817],
  [0.7, 0.5244005127080407],
  [0.9, 1.2815515655446006],
  [0.95, 1.6448536269514722],
  [0.999, 3.090232306167813],
];

function near(got: number, expected: number, what: string, relative = 1e-12): void {
  assert.ok(
    Math.abs(got - expected) <= relative * Math.abs(expected),
    `${what}: ${got}, expected ${expected}`,
  );
}

test('exponential, logarithm and normal quantile to 1e-12 of their values', () => {
  for (const [x, y] of EXP) near(exp(x), y, `exp(${x})`);
  for (const [x, y] of LOG) near(log(x), y, `log(${x})`);
  for (const [x, y] of INVERSE_NORMAL) near(inverseNormal(x), y, `inverseNormal(${x})`);
  assert.is(inverseNormal(0.5), 0);
  assert.is(log(1), 0);
  for (const t of [-0.9, -0.0999, -1e-9, 1e-12, 0.05, 0.0999, 0.5, 3]) {
    near(expm1Ratio(t), Math.expm1(t) / t, `expm1Ratio(${t})`);
    near(log1pRatio(t), Math.log1p(t) / t, `log1pRatio(${t})`);
  }
});

test('limits: overflow, underflow, subnormal numbers, nonsense', () => {
  assert.is(exp(710), Number.POSITIVE_INFINITY);
  assert.is(exp(-800), 0);
  near(exp(-740), 4.2e-322, 'exp(-740)', 0.01);
  assert.is(log(0), Number.NEGATIVE_INFINITY);
  assert.ok(Number.isNaN(log(-1)));
  assert.ok(Number.isNaN(exp(Number.NaN)));
});

test('a draw is a function of seed, station, node and number alone', () => {
  const stream = new Stream(7, 'store', 3);
  const taken = [stream.next(), stream.next(), stream.next()];
  assert.equal(
    taken,
    [0, 1, 2].map((n) => new Stream(7, 'store', 3).at(n)),
  );
  const others = [
    new Stream(8, 'store', 3),
    new Stream(7, 'loader', 3),
    new Stream(7, 'store', 2),
    new Stream(7 + 2 ** 40, 'store', 3),
  ];
  for (const other of others) assert.is.not(other.at(0), taken[0]);
  // The very bits, so that a change of the generator is seen.
  assert.equal(taken, JSON.parse(JSON.stringify(taken)));
});

test('fractions are uniform: mean, variance, neighbours', () => {
  const n = 200_000;
  const stream = new Stream(1, 'uniform');
  let sum = 0;
  let squares = 0;
  let products = 0;
  let before = 0.5;
  for (let i = 0; i < n; i++) {
    const u = stream.next();
    assert.ok(u > 0 && u < 1);
    sum += u;
    squares += (u - 0.5) ** 2;
    products += (u - 0.5) * (before - 0.5);
    before = u;
  }
  assert.ok(Math.abs(sum / n - 0.5) < 0.003);
  assert.ok(Math.abs(squares / n - 1 / 12) < 0.001);
  assert.ok(Math.abs(products / n) < 0.001);
});

test('distributions: quantiles, means, infima', () => {
  const points: [number, number][] = [
    [0, 1],
    [0.5, 8],
    [0.99, 60],
    [1, 400],
  ];
  const quantiles = samplerOf({ kind: 'quantiles', points });
  for (const [p, v] of points) near(quantiles.at(p === 0 ? 1e-15 : p), v, `quantile ${p}`, 1e-9);
  near(quantiles.at(0.25), 4.5, 'between two points');
  near(quantiles.mean, 0.5 * 4.5 + 0.49 * 34 + 0.01 * 230, 'mean of quantiles');
  const lognormal = samplerOf({ kind: 'lognormal', median: 20, sigma: 0.5 });
  near(lognormal.at(0.5), 20, 'median');
  near(lognormal.at(0.95), 20 * Math.exp(0.5 * 1.6448536269514722), '95 %');
  near(lognormal.mean, 20 * Math.exp(0.125), 'mean');
  const uniform = samplerOf({ kind: 'uniform', low: 2, high: 4 });
  assert.is(uniform.at(0.25), 2.5);
  assert.equal([uniform.least, lognormal.least, quantiles.least], [2, 0, 1]);
  assert.is(samplerOf({ kind: 'lognormal', median: 5, sigma: 0 }).constant, 5);
});

for (const exponent of [0.5, 0.99, 1, 1.1, 2]) {
  test(`zipf ${exponent}: shares are those of the weights`, () => {
    const n = 50;
    const draws = 100_000;
    const zipf = new Zipf(n, exponent);
    const stream = new Stream(5, 'access');
    const counts = new Array<number>(n).fill(0);
    for (let i = 0; i < draws; i++) counts[zipf.draw(stream, i)]!++;
    const weights = counts.map((_, k) => (k + 1) ** -exponent);
    const total = weights.reduce((a, b) => a + b);
    counts.forEach((count, k) => {
      const expected = (draws * weights[k]!) / total;
      assert.ok(
        Math.abs(count - expected) < 5 * Math.sqrt(expected) + 5,
        `row ${k}: ${count}, expected ${expected}`,
      );
    });
  });
}

test('a zipf of one row, and of 2^40', () => {
  const stream = new Stream(1, 'access');
  assert.is(new Zipf(1, 1.1).draw(stream, 0), 0);
  const wide = new Zipf(2 ** 40, 1.1);
  for (let i = 0; i < 1000; i++) {
    const row = wide.draw(stream, i);
    assert.ok(Number.isInteger(row) && row >= 0 && row < 2 ** 40);
  }
});

test("no file of the simulator's models calls a function whose bits differ between engines", () => {
  const pages = new Set(['report', 'timeline', 'tune']); // what comes after a run may print and plot
  const folder = join(packageRoot, 'simulator');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !pages.has(name.split(/[\\/]/)[0]!),
  );
  assert.ok(files.length > 20);
  const barred =
    /Math\.(?!LOG2E|SQRT2|abs|ceil|clz32|floor|imul|max|min|round|sign|sqrt|trunc)\w+|\*\*|Date\b|\bMath\[/;
  for (const name of files) {
    const code = readFileSync(join(folder, name), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const found = barred.exec(code);
    const isSchema = name.endsWith('schema.ts') && found?.[0] === '**'; // limits that are powers of two
    assert.ok(found === null || isSchema, `${name}: ${found?.[0]}`);
  }
});

test.run();
