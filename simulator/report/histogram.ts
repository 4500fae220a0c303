const STEPS_PER_OCTAVE = 32;

/**
 * Counts of durations in bins of about 3 % width (each octave in equal steps). Bins come from the bits of the number, so that
 * every machine fills the same ones.
 */
export class Histogram {
  count = 0;
  maxNs = 0;
  readonly #counts: number[] = [];
  readonly #f64 = new Float64Array(1);
  readonly #u32 = new Uint32Array(this.#f64.buffer);

  add(ns: number): void {
    const bin = this.#binOf(Math.max(1, ns));
    while (this.#counts.length <= bin) this.#counts.push(0);
    this.#counts[bin]!++;
    this.count++;
    if (ns > this.maxNs) this.maxNs = ns;
  }

  /** The duration that `share` of all are not above, to the width of a bin; 0 where nothing was counted. */
  quantileNs(share: number): number {
    const wanted = share * this.count;
    let seen = 0;
    for (let bin = 0; bin < this.#counts.length; bin++) {
      seen += this.#counts[bin]!;
      if (seen >= wanted && seen > 0) return Math.min(upperNs(bin), this.maxNs);
    }
    return this.maxNs;
  }

  /** The upper ends of the filled bins, with the share of all durations above each. */
  tail(): { ns: number; shareAbove: number }[] {
    const points: { ns: number; shareAbove: number }[] = [];
    let above = this.count;
    this.#counts.forEach((count, bin) => {
      if (count === 0) return;
      above -= count;
      points.push({ ns: upperNs(bin), shareAbove: above / this.count });
    });
    return points;
  }

  /** Exponent and the first five bits of the mantissa, of a number from 1. */
  #binOf(value: number): number {
    this.#f64[0] = value;
    const high = this.#u32[1]!;
    const octave = (high >>> 20) - 1023;
    return octave * STEPS_PER_OCTAVE + ((high >>> 15) & (STEPS_PER_OCTAVE - 1));
  }
}

function upperNs(bin: number): number {
  const octave = Math.floor(bin / STEPS_PER_OCTAVE);
  return 2 ** octave * (1 + ((bin % STEPS_PER_OCTAVE) + 1) / STEPS_PER_OCTAVE);
}
