import { exp, inverseNormal } from './maths.js';

/** A distribution as scenarios write it; the unit is that of the field. */
export type Distribution =
  | { kind: 'constant'; value: number }
  | { kind: 'uniform'; low: number; high: number }
  | { kind: 'lognormal'; median: number; sigma: number }
  | { kind: 'quantiles'; points: readonly (readonly [number, number])[] };

/** A distribution made ready for draws by inversion. */
export interface Sampler {
  /** The value at quantile `u`, 0 < u < 1. */
  at(u: number): number;
  /** Infimum: no draw is below it. */
  readonly least: number;
  readonly mean: number;
  /** The value where every draw is the same, else null. */
  readonly constant: number | null;
}

export function samplerOf(distribution: Distribution): Sampler {
  switch (distribution.kind) {
    case 'constant': {
      const { value } = distribution;
      return { at: () => value, least: value, mean: value, constant: value };
    }
    case 'uniform': {
      const { low, high } = distribution;
      return {
        at: (u) => low + u * (high - low),
        least: low,
        mean: (low + high) / 2,
        constant: low === high ? low : null,
      };
    }
    case 'lognormal': {
      const { median, sigma } = distribution;
      return {
        at: (u) => median * exp(sigma * inverseNormal(u)),
        least: sigma === 0 ? median : 0,
        mean: median * exp((sigma * sigma) / 2),
        constant: sigma === 0 || median === 0 ? median : null,
      };
    }
    case 'quantiles':
      return quantiles(distribution.points);
  }
}

/** Linear between the points. */
function quantiles(points: readonly (readonly [number, number])[]): Sampler {
  const at = (u: number): number => {
    let i = 1;
    while (i < points.length - 1 && points[i]![0] < u) i++;
    const [p0, v0] = points[i - 1]!;
    const [p1, v1] = points[i]!;
    return v0 + ((u - p0) / (p1 - p0)) * (v1 - v0);
  };
  let mean = 0;
  for (let i = 1; i < points.length; i++) {
    mean += ((points[i]![0] - points[i - 1]![0]) * (points[i]![1] + points[i - 1]![1])) / 2;
  }
  const least = points[0]![1];
  return { at, least, mean, constant: least === points[points.length - 1]![1] ? least : null };
}
