import type { Random } from './random.js';

/** How long, in the unit of whoever asks (the store: milliseconds). The same words as in simulator scenarios. */
export type Distribution =
  | { kind: 'constant'; value: number }
  | { kind: 'uniform'; low: number; high: number }
  | { kind: 'lognormal'; median: number; sigma: number }
  /** Points `[share, value]`, both rising, the first share 0 and the last 1; linear in between. */
  | { kind: 'quantiles'; points: readonly (readonly [number, number])[] };

/** This share of draws is multiplied by the factor. */
export interface SlowTail {
  share: number;
  factor: number;
}

function check(ok: boolean, what: string): void {
  if (!ok) throw new RangeError(`latency: ${what}`);
}

const isAmount = (value: number) => Number.isFinite(value) && value >= 0;

function checkDistribution(d: Distribution): void {
  if (d.kind === 'constant') check(isAmount(d.value), 'value must be a finite number, at least 0');
  else if (d.kind === 'uniform')
    check(isAmount(d.low) && isAmount(d.high) && d.low <= d.high, 'uniform wants 0 <= low <= high');
  else if (d.kind === 'lognormal')
    check(isAmount(d.median) && isAmount(d.sigma), 'lognormal wants median >= 0 and sigma >= 0');
  else {
    check(d.points.length >= 2, 'quantiles want at least two points');
    check(d.points[0]?.[0] === 0 && d.points.at(-1)?.[0] === 1, 'quantiles run from share 0 to share 1');
    d.points.forEach(([share, value], i) => {
      const [lastShare, lastValue] = d.points[i - 1] ?? [-1, 0];
      check(share > lastShare && isAmount(value) && value >= lastValue, `quantile point ${i} does not rise`);
    });
  }
}

function quantile(points: readonly (readonly [number, number])[], share: number): number {
  for (let i = 1; i < points.length; i++) {
    const [highShare, highValue] = points[i]!;
    if (share > highShare) continue;
    const [lowShare, lowValue] = points[i - 1]!;
    return lowValue + ((highValue - lowValue) * (share - lowShare)) / (highShare - lowShare);
  }
  return points.at(-1)![1];
}

function standardNormal(random: Random): number {
  // Box-Muller; 1 - u keeps the logarithm's argument above 0.
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function draw(d: Distribution, random: Random): number {
  switch (d.kind) {
    case 'constant':
      return d.value;
    case 'uniform':
      return d.low + (d.high - d.low) * random();
    case 'lognormal':
      return d.median * Math.exp(d.sigma * standardNormal(random));
    case 'quantiles':
      return quantile(d.points, random());
  }
}

/**
 * A function that draws from the distribution.
 * @throws RangeError where a parameter is not a finite number in its range.
 */
export function sampler(distribution: Distribution, random: Random, tail?: SlowTail): () => number {
  checkDistribution(distribution);
  if (!tail) return () => draw(distribution, random);
  check(tail.share >= 0 && tail.share <= 1, 'slow tail share must be in 0..1');
  check(isAmount(tail.factor), 'slow tail factor must be a finite number, at least 0');
  return () => {
    const value = draw(distribution, random);
    return random() < tail.share ? value * tail.factor : value;
  };
}
