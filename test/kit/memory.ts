import type { Core } from '../../runtime-node/core.js';
import { contentByte } from './draws.js';
import type { SamplePlace } from './probe.js';
import type { ActionOf } from './records.js';

/** Landing and staging memory of a virtual world: what attempts write to and trainers read from. */
export class VirtualMemory {
  readonly #landing: Uint8Array[];
  readonly #staging: Uint8Array;
  readonly #place: (row: number) => SamplePlace;
  readonly #checksBytes: boolean;

  /** @param checksBytes false: no byte is moved or compared */
  constructor(core: Core, consumers: number, place: (row: number) => SamplePlace, checksBytes: boolean) {
    const bytes = (size: number): Uint8Array => new Uint8Array(checksBytes ? size : 0);
    this.#landing = Array.from({ length: consumers }, () => bytes(core.landingBytes));
    this.#staging = bytes(core.stagingBytes);
    this.#place = place;
    this.#checksBytes = checksBytes;
  }

  /** The body of a FETCH, as the store has it. */
  write(fetch: ActionOf<'fetch'>): void {
    if (!this.#checksBytes) return;
    const { object } = this.#place(fetch.row);
    const target = this.#target(fetch);
    for (let i = 0; i < fetch.length; i++) target[i] = contentByte(object, fetch.offset + i);
  }

  /** A failed attempt may leave anything in its target, up to the moment of its end. */
  spoil(fetch: ActionOf<'fetch'>): void {
    if (this.#checksBytes) this.#target(fetch).fill(0xee);
  }

  move(place: ActionOf<'place'>): void {
    if (!this.#checksBytes) return;
    const landing = this.#landing[place.consumer]!;
    if (place.target + place.length > landing.length) throw new Error('a place outside landing memory');
    landing.set(this.#staging.subarray(place.from, place.from + place.length), place.target);
  }

  /** @throws Error where a delivered sample is not the one of its row, byte for byte */
  verify(sample: ActionOf<'sample'>, deliver: ActionOf<'deliver'>): void {
    const { object, offset, length } = this.#place(sample.row);
    if (sample.length !== length || sample.offset !== offset)
      throw new Error(`row ${sample.row} has another place`);
    if (sample.target < deliver.offset || sample.target + length > deliver.offset + deliver.length) {
      throw new Error('a sample outside its batch');
    }
    const landing = this.#landing[sample.consumer]!;
    for (let i = 0; i < length && this.#checksBytes; i++) {
      if (landing[sample.target + i] !== contentByte(object, offset + i)) {
        throw new Error(`wrong byte ${i} of row ${sample.row}, epoch ${sample.epoch}, batch ${sample.batch}`);
      }
    }
  }

  #target(fetch: ActionOf<'fetch'>): Uint8Array {
    const memory = fetch.staged ? this.#staging : this.#landing[fetch.consumer]!;
    if (fetch.target + fetch.length > memory.length) throw new Error('a target outside its memory');
    return memory.subarray(fetch.target, fetch.target + fetch.length);
  }
}
