import { Os2gError } from '../errors.js';
import type { LandingBackend } from '../landing/landing.js';
import type { Manifest, SampleField } from '../manifest/manifest.js';
import { shown } from '../shown.js';
import type { Cursor } from './cursor.js';
import type { Delivery } from './delivery.js';

/**
 * One rank's share of a global batch, in landing memory. Its views are zero copy: they show the batch until it is released, and other
 * bytes after that. Memory of a GPU has no views: each access copies it back. A released batch throws on every access.
 */
export class Batch {
  readonly epoch: number;
  /** The global batch's number in its epoch. */
  readonly index: number;
  /** Samples, pads and holes included. */
  readonly length: number;
  /** Where a run resumes once this batch counts as consumed; save it with the model. */
  readonly cursor: Cursor;
  readonly #delivery: Delivery;
  readonly #manifest: Manifest;
  readonly #landing: LandingBackend;
  readonly #onRelease: () => void;
  #released = false;

  /** @internal */
  constructor(
    delivery: Delivery,
    manifest: Manifest,
    landing: LandingBackend,
    cursor: Cursor,
    onRelease: () => void,
  ) {
    this.epoch = delivery.epoch;
    this.index = delivery.batch;
    this.length = delivery.samples;
    this.cursor = cursor;
    this.#delivery = delivery;
    this.#manifest = manifest;
    this.#landing = landing;
    this.#onRelease = onRelease;
  }

  get released(): boolean {
    return this.#released;
  }

  /** Sum of the samples' lengths in bytes, pads included, holes not. */
  get sizeBytes(): number {
    return this.#delivery.sampleBytes;
  }

  /** The landing memory of the whole batch; samples lie in it at `offsetInLanding`. */
  get landing(): Uint8Array {
    const { consumer, landingOffset, landingBytes } = this.#held();
    return this.#landing.bytes(consumer, landingOffset, landingBytes);
  }

  /** Where a sample begins in `landing`. */
  offsetInLanding(i: number): number {
    const delivery = this.#sample(i);
    return delivery.targets[i]! - delivery.landingOffset;
  }

  /** The sample's row in the manifest: its id. */
  row(i: number): number {
    return this.#sample(i).rows[i]!;
  }

  /** Key of the sample's object. */
  key(i: number): string {
    return this.#manifest.key(this.row(i));
  }

  label(i: number): string | null {
    return this.#manifest.label(this.row(i));
  }

  /** Fields inside the sample (tar members, columns), offsets relative to it; null where it has none. */
  fields(i: number): SampleField[] | null {
    return this.#manifest.fields(this.row(i));
  }

  /** Of a picture, in pixels; null where the manifest does not say. */
  width(i: number): number | null {
    return this.#manifest.width(this.row(i));
  }

  height(i: number): number | null {
    return this.#manifest.height(this.row(i));
  }

  /** Of a raw tensor: NumPy's name of its type, and its shape; null where it is none. */
  dtype(i: number): string | null {
    return this.#manifest.dtype(this.row(i));
  }

  shape(i: number): number[] | null {
    return this.#manifest.shape(this.row(i));
  }

  /** The sample's bytes where they landed. @throws Os2gError `sample_skipped` for a hole; `transfer` from a GPU. */
  bytes(i: number): Uint8Array {
    return this.#present(i).bytes(this.#landing, i);
  }

  /**
   * The bytes of one field of the sample (a tar member, a column) by its name in `fields(i)`, the first of that name: a view of where they
   * landed, from a GPU a copy of these bytes alone. Null where the sample has no such field. @throws as `bytes(i)`
   */
  field(i: number, name: string): Uint8Array | null {
    const delivery = this.#present(i);
    const field = this.fields(i)?.find((one) => one.name === name);
    if (field === undefined) return null;
    return this.#landing.bytes(delivery.consumer, delivery.targets[i]! + field.offset, field.length);
  }

  /** True for a repeated sample that fills the last batch up (`tail: 'pad'`). */
  pad(i: number): boolean {
    return this.#sample(i).isPad(i);
  }

  /** True for a hole: reading the sample failed and `onError` is `skip`. */
  skipped(i: number): boolean {
    return this.#sample(i).isSkipped(i);
  }

  /** Consumed: its memory is free again, and the run's cursor moves past it. Idempotent. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#onRelease();
  }

  #held(): Delivery {
    if (this.#released) {
      throw new Os2gError(
        'batch_released',
        `batch ${this.index} of epoch ${this.epoch} was released: its memory may hold another batch`,
        'use a batch before its release, which the next step of the iteration does too; copy what must last longer',
      );
    }
    return this.#delivery;
  }

  /** The delivery of a sample that has bytes. */
  #present(i: number): Delivery {
    const delivery = this.#sample(i);
    if (!delivery.isSkipped(i)) return delivery;
    throw new Os2gError(
      'sample_skipped',
      `sample ${i} of batch ${this.index} (epoch ${this.epoch}) was skipped: it has no bytes`,
      'ask skipped(i) before bytes(i) and field(i)',
      { row: this.row(i), key: this.key(i) },
    );
  }

  #sample(i: number): Delivery {
    const delivery = this.#held();
    if (!Number.isInteger(i) || i < 0 || i >= delivery.samples) {
      throw new Os2gError(
        'bad_argument',
        `there is no sample ${shown(i)} in batch ${this.index} of epoch ${this.epoch}`,
        `give a whole number in 0..${delivery.samples - 1}: a batch's length may differ from the one before`,
      );
    }
    return delivery;
  }
}
