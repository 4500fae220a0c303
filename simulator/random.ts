const FRACTIONS = 1 / 4503599627370496; // 2^-52

/** MurmurHash3's 32-bit finaliser (Austin Appleby, public domain). */
function mix(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** A second finaliser with other constants (Christopher Wellons, "lowbias32", public domain). */
function mixAgain(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return x ^ (x >>> 16);
}

/**
 * Seeded draws of one station: the n-th draw is a function of (seed, station, node, n) alone, so that another station, or more
 * draws of one, never shift this one's. Integer operations only.
 */
export class Stream {
  readonly #low: number;
  readonly #high: number;
  #drawn = 0;

  /**
   * @param seed the scenario's, 0 .. 2^53 - 1
   * @param station name of who draws
   * @param node 0 where the station is shared
   */
  constructor(seed: number, station: string, node = 0) {
    let low = mix((seed % 4294967296) ^ 0x6f733267);
    let high = mixAgain(Math.floor(seed / 4294967296) ^ low);
    for (let i = 0; i < station.length; i++) {
      low = mix(low ^ Math.imul(station.charCodeAt(i) + 1, 0x9e3779b1));
      high = mixAgain((high + low) | 0);
    }
    this.#low = mix(low ^ Math.imul(node + 1, 0x85ebca77));
    this.#high = mixAgain((high + this.#low) | 0);
  }

  /** The n-th fraction of the stream, 0 < u < 1, without taking it; n below 2^53. */
  at(n: number): number {
    // Two rounds of a Feistel network over (low, high): one-to-one for a given key.
    let x = mix(n ^ this.#low);
    let y = mixAgain(Math.floor(n / 4294967296) ^ this.#high ^ x);
    x = mix((x + y) | 0);
    y = mixAgain(y ^ x);
    return ((x >>> 0) * 1048576 + (y >>> 12) + 0.5) * FRACTIONS;
  }

  /** The next fraction. */
  next(): number {
    return this.at(this.#drawn++);
  }
}
