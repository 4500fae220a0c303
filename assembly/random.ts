// Mixing and the one seeded generator. splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014; the constants are those of its reference mixer.
import { state } from './state';

const GOLDEN: u64 = 0x9e3779b97f4a7c15;
const RANK_SPREAD: u64 = 0xd1342543de82ef95; // odd, and no multiple of the other

// @ts-ignore: decorator
@inline
export function mix(value: u64): u64 {
  let z = value + GOLDEN;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/** The n-th value of the stream of `key`. */
// @ts-ignore: decorator
@inline
export function draw(key: u64, n: u64): u64 {
  return mix(key + n * GOLDEN);
}

/** A fraction in [0, 1) from 64 random bits. */
// @ts-ignore: decorator
@inline
export function fraction(bits: u64): f64 {
  return <f64>(bits >> 11) * (1.0 / 9007199254740992.0);
}

/** A stream of the run's seed that is this core's own: ranks share the seed, and must not wait in step with each other. */
export function jitterSeed(stream: u64): u64 {
  return state.seed ^ stream ^ (<u64>state.first_rank * RANK_SPREAD);
}
