import type { Distribution } from '../distribution.js';
import type { LoadedScenario } from '../scenario/load.js';
import type { Scenario } from '../scenario/types.js';

/** Seeds of the search and held-out seeds are so far apart that they never meet. */
const HELD_OUT_FROM = 1_000_003;
const SEEDS = 2 ** 53;

/** @param isHeldOut seeds that the search never sees */
export function seedsOf({ seed }: Scenario, count: number, isHeldOut: boolean): number[] {
  const from = isHeldOut ? HELD_OUT_FROM : 0;
  return Array.from({ length: count }, (_, i) => (seed + from + i) % SEEDS);
}

/** Scenarios near one that was tuned for: a policy that is good there only is bound to its numbers. */
export function neighbours(loaded: LoadedScenario): LoadedScenario[] {
  const { scenario } = loaded;
  const { store, training, dataset } = scenario;
  const near: [string, Partial<Scenario>][] = [
    ['first byte x 1.5', { store: { ...store, first_byte_ms: scaled(store.first_byte_ms, 1.5) } }],
    ['first byte / 1.5', { store: { ...store, first_byte_ms: scaled(store.first_byte_ms, 1 / 1.5) } }],
    ['samples x 0.75', { dataset: { ...dataset, sample_bytes: scaled(dataset.sample_bytes, 0.75) } }],
    ['GPUs x 0.75', { training: { ...training, gpu_samples_per_s: training.gpu_samples_per_s * 0.75 } }],
  ];
  return near.map(([what, parts]) => ({
    ...loaded,
    scenario: { ...scenario, ...parts, name: `${scenario.name}, ${what}` },
  }));
}

function scaled(distribution: Distribution, by: number): Distribution {
  switch (distribution.kind) {
    case 'constant':
      return { ...distribution, value: distribution.value * by };
    case 'uniform':
      return { ...distribution, low: distribution.low * by, high: distribution.high * by };
    case 'lognormal':
      return { ...distribution, median: distribution.median * by };
    case 'quantiles':
      return {
        ...distribution,
        points: distribution.points.map(([p, value]): [number, number] => [p, value * by]),
      };
  }
}
