/** A seeded source of numbers in [0, 1). The same seed gives the same numbers on every machine. */
export type Random = () => number;

/** Scrambles 32 bits: the two-round multiply-xorshift finaliser of C. Wellons' hash-prospector ("lowbias32"). */
export function mix32(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) | 0;
}

/** A counter stepped by the golden ratio and scrambled: 2^32 draws before it repeats. */
export function seededRandom(seed: number, stream = 0): Random {
  let counter = mix32(seed | 0) ^ mix32(stream + 0x51ed270b);
  return () => {
    counter = (counter + 0x9e3779b9) | 0;
    return (mix32(counter) >>> 0) / 4294967296;
  };
}
