import { type Draw, seededDraws } from '../kit/index.js';

/** A permutation of 0 .. n - 1 as a list of images. */
export type Permutation = ArrayLike<number>;

/** Fisher and Yates' shuffle: the reference that a mixer is measured against. */
export function fisherYates(n: number, draw: Draw): Float64Array {
  const p = Float64Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(draw() * (i + 1));
    [p[i], p[j]] = [p[j]!, p[i]!];
  }
  return p;
}

const BUCKETS = 8;

/** Statistics of one permutation; each would betray another kind of bad mixing. */
export const STATISTICS: Record<string, (p: Permutation) => number> = {
  /** Mean distance from the old place, as a share of n: rotations and local shuffles. */
  displacement(p) {
    let sum = 0;
    for (let i = 0; i < p.length; i++) sum += Math.abs(p[i]! - i);
    return sum / p.length / p.length;
  },
  /** Samples that stay where they were. */
  fixedPoints(p) {
    let count = 0;
    for (let i = 0; i < p.length; i++) if (p[i] === i) count++;
    return count;
  },
  /** Neighbours that stay neighbours: shuffled blocks. */
  adjacentKept(p) {
    let count = 0;
    for (let i = 1; i < p.length; i++) if (p[i] === p[i - 1]! + 1) count++;
    return count;
  },
  /** Chi-square of (bucket of place, bucket of image): whole regions that prefer regions. */
  bucketChiSquare(p) {
    const n = p.length;
    const cells = new Float64Array(BUCKETS * BUCKETS);
    const bucket = (i: number): number => Math.floor((i * BUCKETS) / n);
    for (let i = 0; i < n; i++) cells[bucket(i) * BUCKETS + bucket(p[i]!)]! += 1;
    const sizes = new Float64Array(BUCKETS);
    for (let i = 0; i < n; i++) sizes[bucket(i)]! += 1;
    let sum = 0;
    for (let a = 0; a < BUCKETS; a++) {
      for (let b = 0; b < BUCKETS; b++) {
        const expected = (sizes[a]! * sizes[b]!) / n;
        sum += (cells[a * BUCKETS + b]! - expected) ** 2 / expected;
      }
    }
    return sum;
  },
  /** Correlation of neighbours' images: runs that go one way. */
  serialCorrelation(p) {
    const n = p.length;
    const mean = (n - 1) / 2;
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < n; i++) {
      sum += (p[i]! - mean) * (p[(i + 1) % n]! - mean);
      squares += (p[i]! - mean) ** 2;
    }
    return sum / squares;
  },
  /** Equal differences between neighbours' images: linear congruences, which look random to all of the above. */
  equalSteps(p) {
    const n = p.length;
    let count = 0;
    for (let i = 2; i < n; i++) {
      const step = (p[i]! - p[i - 1]! + n) % n;
      if (step === (p[i - 1]! - p[i - 2]! + n) % n) count++;
    }
    return count;
  },
};

export interface Deviation {
  statistic: string;
  /** Deviation of the mean, in standard errors of the reference. */
  z: number;
  /** Spread, as a share of the reference's. */
  spread: number;
}

const REFERENCES = 300;

/** How far the statistics of these permutations of n lie from those of Fisher-Yates shuffles. */
export function deviations(permutations: readonly Permutation[], seed: number): Deviation[] {
  const n = permutations[0]!.length;
  const draw = seededDraws(seed);
  const references = Array.from({ length: REFERENCES }, () => fisherYates(n, draw));
  return Object.entries(STATISTICS).map(([statistic, of]) => {
    const reference = moments(references.map(of));
    const mine = moments(permutations.map(of));
    const error = reference.sd * Math.sqrt(1 / permutations.length + 1 / REFERENCES);
    return { statistic, z: (mine.mean - reference.mean) / error, spread: mine.sd / reference.sd };
  });
}

/** A mean further off than 4.5 standard errors, or a spread that no sample of this size has, is not chance. */
export function isBad({ z, spread }: Deviation): boolean {
  return Math.abs(z) > 4.5 || spread > 2 || spread < 0.4;
}

function moments(values: readonly number[]): { mean: number; sd: number } {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / (values.length - 1);
  return { mean, sd: Math.sqrt(variance) };
}

/** Chi-square of counts that should be equal, as a z-score: (x - k) / sqrt(2 k) with k degrees of freedom. */
export function uniformityZ(counts: readonly number[]): number {
  const expected = counts.reduce((a, b) => a + b, 0) / counts.length;
  const chi = counts.reduce((a, c) => a + (c - expected) ** 2 / expected, 0);
  const freedom = counts.length - 1;
  return (chi - freedom) / Math.sqrt(2 * freedom);
}
