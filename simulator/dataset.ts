import { samplerOf } from './distribution.js';
import { Stream } from './random.js';
import type { Scenario } from './scenario/types.js';

const MOST_MARKS = 1 << 22;
const LEAST_SPACING = 16;

/**
 * The samples of a scenario: each row's size is a function of (seed, row), so no list is held and every pipeline and policy reads
 * the same bytes. Rows lie in objects of `samples_per_object`, one behind the other.
 */
export class DataSet {
  readonly samples: number;
  readonly samplesPerObject: number;
  readonly #sizes: Stream;
  readonly #at: (u: number) => number;
  readonly #constant: number | null;
  /** Offset in its object of every `#spacing`-th row; null where it is not needed. */
  readonly #marks: Float64Array | null;
  readonly #spacing: number;

  constructor(scenario: Scenario) {
    const { samples, samples_per_object, sample_bytes } = scenario.dataset;
    const sampler = samplerOf(sample_bytes);
    this.samples = samples;
    this.samplesPerObject = samples_per_object;
    this.#sizes = new Stream(scenario.seed, 'dataset');
    this.#at = sampler.at;
    this.#constant = sampler.constant === null ? null : Math.max(1, Math.round(sampler.constant));
    this.#spacing = LEAST_SPACING;
    while (samples / this.#spacing > MOST_MARKS) this.#spacing *= 2;
    this.#marks = samples_per_object > 1 && this.#constant === null ? this.#markOffsets() : null;
  }

  /** Bytes of a row's sample: whole, at least 1. */
  bytes(row: number): number {
    if (this.#constant !== null) return this.#constant;
    const bytes = Math.round(this.#at(this.#sizes.at(row)));
    return Math.max(bytes, 1);
  }

  /** The object of a row; named by its first row, as manifests name theirs. */
  object(row: number): number {
    return row - (row % this.samplesPerObject);
  }

  /** Where a row's sample begins in its object. */
  offset(row: number): number {
    if (this.samplesPerObject === 1) return 0;
    const first = this.object(row);
    if (this.#constant !== null) return (row - first) * this.#constant;
    const mark = row - (row % this.#spacing);
    let offset = mark > first ? this.#marks![mark / this.#spacing]! : 0;
    for (let i = Math.max(mark, first); i < row; i++) offset += this.bytes(i);
    return offset;
  }

  #markOffsets(): Float64Array {
    const marks = new Float64Array(Math.ceil(this.samples / this.#spacing));
    let offset = 0;
    for (let row = 0; row < this.samples; row++) {
      if (row % this.samplesPerObject === 0) offset = 0;
      if (row % this.#spacing === 0) marks[row / this.#spacing] = offset;
      offset += this.bytes(row);
    }
    return marks;
  }
}
