/**
 * A small seeded generator for tests and virtual worlds: mulberry32's construction (Tommy Ettinger, public domain), 32 bits
 * of state, the same sequence everywhere. Not for the core, which has its own.
 */
export type Draw = () => number;

/** Fractions in [0, 1). */
export function seededDraws(seed: number): Draw {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
}

/** The byte at `at` of the object of a row: what virtual stores serve and tests expect. */
export function contentByte(object: number, at: number): number {
  return (Math.imul(object + 1, 0x9e3779b1) ^ Math.imul(at + 7, 0x85ebca6b)) >>> 24;
}
