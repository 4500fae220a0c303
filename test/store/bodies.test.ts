import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { syntheticBytes } from './bodies.js';
import { sampler } from './latency.js';
import { seededRandom } from './random.js';
import { RateCap } from './rate-cap.js';

const SEED = 99;
console.log(`seed ${SEED}`);

test('any range of synthetic content is that part of the whole', () => {
  const whole = syntheticBytes(7, 0, 5000);
  fc.assert(
    fc.property(fc.nat(4999), fc.nat(600), (offset, length) => {
      const end = Math.min(5000, offset + length);
      assert.equal(syntheticBytes(7, offset, end - offset), whole.subarray(offset, end));
    }),
    { seed: SEED },
  );
});

test('content goes on across 16 GiB, where the word counter wraps', () => {
  const edge = 4 * 2 ** 32;
  const joined = syntheticBytes(7, edge - 10, 20);
  assert.equal(syntheticBytes(7, edge - 10, 10), joined.subarray(0, 10));
  assert.equal(syntheticBytes(7, edge, 10), joined.subarray(10));
  assert.not.equal(syntheticBytes(7, edge, 16), syntheticBytes(7, 0, 16));
});

test('contents of other seeds and offsets share no words', () => {
  const seen = new Set<number>();
  let repeats = 0;
  for (let seed = 0; seed < 50; seed++) {
    const bytes = Buffer.from(syntheticBytes(seed, 0, 2000));
    for (let i = 0; i < 2000; i += 8) {
      const pair = bytes.readUInt32LE(i) * 2 ** 20 + (bytes.readUInt32LE(i + 4) >>> 12);
      if (seen.has(pair)) repeats++;
      seen.add(pair);
    }
  }
  assert.is(repeats, 0);
});

test('latency distributions keep to their parameters', () => {
  const draws = (f: () => number) => Array.from({ length: 20_000 }, f).sort((a, b) => a - b);
  const median = (sorted: number[]) => sorted[sorted.length / 2] ?? 0;
  const random = () => seededRandom(SEED);
  assert.is(sampler({ kind: 'constant', value: 3 }, random())(), 3);
  const uniform = draws(sampler({ kind: 'uniform', low: 2, high: 4 }, random()));
  assert.ok(uniform[0]! >= 2 && uniform.at(-1)! <= 4 && Math.abs(median(uniform) - 3) < 0.1);
  const lognormal = draws(sampler({ kind: 'lognormal', median: 20, sigma: 0.5 }, random()));
  assert.ok(Math.abs(median(lognormal) - 20) < 1);
  const points = [
    [0, 1],
    [0.5, 8],
    [0.99, 60],
    [1, 400],
  ] as [number, number][];
  const quantiles = draws(sampler({ kind: 'quantiles', points }, random()));
  assert.ok(quantiles[0]! >= 1 && quantiles.at(-1)! <= 400 && Math.abs(median(quantiles) - 8) < 1);
  const tail = draws(sampler({ kind: 'constant', value: 1 }, random(), { share: 0.1, factor: 10 }));
  const slow = tail.filter((value) => value === 10).length / tail.length;
  assert.ok(Math.abs(slow - 0.1) < 0.01);
  assert.equal(
    draws(sampler({ kind: 'uniform', low: 2, high: 4 }, random())),
    uniform,
    'same seed, same draws',
  );
});

for (const bad of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
  test(`a latency of ${bad} is refused`, () => {
    assert.throws(() => sampler({ kind: 'constant', value: bad }, seededRandom(1)), RangeError);
    assert.throws(
      () =>
        sampler(
          {
            kind: 'quantiles',
            points: [
              [0, 0],
              [1, bad],
            ],
          },
          seededRandom(1),
        ),
      RangeError,
    );
  });
}

test('the rate cap lets a burst and then the rate pass', () => {
  const cap = new RateCap({ requestsPerS: 100, burst: 5 }, 0);
  const passed = (nowMs: number, tries: number) =>
    Array.from({ length: tries }, () => cap.take(nowMs)).filter(Boolean).length;
  assert.is(passed(0, 20), 5);
  assert.is(passed(9, 20), 0);
  assert.is(passed(31, 20), 3);
  assert.is(passed(10_000, 20), 5);
});

test.run();
