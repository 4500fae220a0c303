// Mixing and the one seeded generator. splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014; the constants are those of its reference mixer.
const GOLDEN: u64 = 0x9e3779b97f4a7c15;

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
