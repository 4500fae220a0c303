import { exp, expm1Ratio, log, log1pRatio } from './maths.js';
import type { Stream } from './random.js';

const MOST_TRIES = 64;

/**
 * Draws from 0 .. n-1 with weights (k+1)^-exponent in constant memory and time: rejection-inversion (W. Hörmann and
 * G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS 6, 1996).
 */
export class Zipf {
  readonly #n: number;
  readonly #exponent: number;
  readonly #first: number;
  readonly #last: number;
  readonly #squeeze: number;

  constructor(n: number, exponent: number) {
    this.#n = n;
    this.#exponent = exponent;
    this.#first = this.#area(1.5) - 1;
    this.#last = this.#area(n + 0.5);
    this.#squeeze = 2 - this.#areaInverse(this.#area(2.5) - this.#weight(2));
  }

  /** The draw with number `index` of a stream: it uses up to 64 of its fractions, the same ones each time. */
  draw(stream: Stream, index: number): number {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const u = this.#last + stream.at(index * MOST_TRIES + tries) * (this.#first - this.#last);
      const x = this.#areaInverse(u);
      const k = Math.min(this.#n, Math.max(1, Math.floor(x + 0.5)));
      if (k - x <= this.#squeeze || u >= this.#area(k + 0.5) - this.#weight(k)) return k - 1;
    }
    return 0;
  }

  #weight(x: number): number {
    return exp(-this.#exponent * log(x));
  }

  /** Integral of the weight from 1 to x. */
  #area(x: number): number {
    const l = log(x);
    return expm1Ratio((1 - this.#exponent) * l) * l;
  }

  #areaInverse(area: number): number {
    const t = Math.max(-1, area * (1 - this.#exponent));
    return exp(log1pRatio(t) * area);
  }
}
