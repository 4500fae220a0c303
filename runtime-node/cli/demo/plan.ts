import { syntheticBytes } from '../../../test/store/bodies.js';

/** What the demo reads and how: small enough for a laptop, slow enough at the store for waiting to show. */
export const DEMO = {
  bucket: 'demo',
  samples: 1536,
  classes: 8,
  batchSamples: 32,
  medianBytes: 48_000,
  sigma: 0.4,
  seed: 7,
  stepNs: 20e6,
  memoryBytes: 256 * 2 ** 20,
  firstByteMs: { kind: 'lognormal', median: 10, sigma: 0.5 },
  slowTail: { share: 0.01, factor: 10 },
  policies: ['sync', 'readahead', 'os2g'],
} as const;

export interface DemoObject {
  readonly key: string;
  readonly sizeBytes: number;
  /** Of the object's content. */
  readonly seed: number;
}

/** A lognormal size from an evenly spread share in (0, 1): the same data set on every machine. */
function sizeAt(share: number): number {
  // Inverse of the logistic distribution, which is near enough to the normal one for a demo's sizes.
  const deviation = Math.log(share / (1 - share)) / 1.702;
  return Math.max(1, Math.round(DEMO.medianBytes * Math.exp(DEMO.sigma * deviation)));
}

/** The data set: keys, sizes and what their bytes are made from. */
export function demoObjects(): DemoObject[] {
  return Array.from({ length: DEMO.samples }, (_, i) => ({
    key: `train/class-${i % DEMO.classes}/${String(i).padStart(5, '0')}.bin`,
    // A stride that is coprime to the number of samples, so that sizes do not rise with the key.
    sizeBytes: sizeAt((((i * 587) % DEMO.samples) + 0.5) / DEMO.samples),
    seed: DEMO.seed * 1_000_003 + i,
  }));
}

/** The bytes that each key must hold, made here and not read from the store. */
export function demoTruth(objects: readonly DemoObject[]): ReadonlyMap<string, Uint8Array> {
  return new Map(objects.map(({ key, sizeBytes, seed }) => [key, syntheticBytes(seed, 0, sizeBytes)]));
}
