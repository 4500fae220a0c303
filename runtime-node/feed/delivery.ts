import * as layout from '../../assembly/layout.js';
import type { LandingBackend } from '../landing/landing.js';

/** A complete batch in landing memory, as the core's DELIVER and SAMPLE records say it. Offsets and lengths in bytes. */
export class Delivery {
  readonly rows: Float64Array;
  readonly offsets: Float64Array;
  readonly lengths: Float64Array;
  /** Where each sample lies in the consumer's landing memory. */
  readonly targets: Float64Array;
  readonly flags: Uint8Array;
  #filled = 0;

  constructor(
    readonly consumer: number,
    readonly epoch: number,
    /** Global batch. */
    readonly batch: number,
    readonly samples: number,
    readonly pads: number,
    /** Where the batch lies in landing memory, and how much of it it takes. */
    readonly landingOffset: number,
    readonly landingBytes: number,
    /** Sum of its samples' lengths, holes excluded. */
    readonly sampleBytes: number,
  ) {
    this.rows = new Float64Array(samples);
    this.offsets = new Float64Array(samples);
    this.lengths = new Float64Array(samples);
    this.targets = new Float64Array(samples);
    this.flags = new Uint8Array(samples);
  }

  static fromRecord(u32: Uint32Array, f64: Float64Array, word: number): Delivery {
    const half = word >> 1;
    return new Delivery(
      u32[word + layout.W_CONSUMER]!,
      u32[word + layout.W_EPOCH]!,
      u32[word + layout.W_BATCH]!,
      u32[word + layout.DELIVER_W_SAMPLES]!,
      u32[word + layout.DELIVER_W_PADS]!,
      f64[half + layout.DELIVER_D_OFFSET]!,
      f64[half + layout.DELIVER_D_LENGTH]!,
      f64[half + layout.DELIVER_D_BYTES]!,
    );
  }

  /** Takes one SAMPLE record; true when it was the last one. */
  addSample(u32: Uint32Array, f64: Float64Array, word: number): boolean {
    const half = word >> 1;
    const i = u32[word + layout.SAMPLE_W_INDEX]!;
    this.rows[i] = f64[half + layout.SAMPLE_D_ROW]!;
    this.offsets[i] = f64[half + layout.SAMPLE_D_OFFSET]!;
    this.lengths[i] = f64[half + layout.SAMPLE_D_LENGTH]!;
    this.targets[i] = f64[half + layout.SAMPLE_D_TARGET]!;
    this.flags[i] = u32[word + layout.SAMPLE_W_FLAGS]!;
    return ++this.#filled === this.samples;
  }

  get isWhole(): boolean {
    return this.#filled === this.samples;
  }

  isPad(i: number): boolean {
    return (this.flags[i]! & layout.SAMPLE_IS_PAD) !== 0;
  }

  isSkipped(i: number): boolean {
    return (this.flags[i]! & layout.SAMPLE_IS_SKIPPED) !== 0;
  }

  /** A sample's bytes in its consumer's landing memory: a view, or a copy where that has no address. */
  bytes(landing: LandingBackend, i: number): Uint8Array {
    return landing.bytes(this.consumer, this.targets[i]!, this.lengths[i]!);
  }
}
