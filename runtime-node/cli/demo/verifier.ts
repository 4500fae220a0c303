import { Os2gError } from '../../errors.js';
import type { Batch } from '../../feed/batch.js';

/** Compares every byte of every batch with the truth, and sees to it that each key comes once. */
export class Verifier {
  bytes = 0;
  readonly #truth: ReadonlyMap<string, Uint8Array>;
  readonly #missing: Set<string>;

  constructor(truth: ReadonlyMap<string, Uint8Array>) {
    this.#truth = truth;
    this.#missing = new Set(truth.keys());
  }

  /** @throws Os2gError `wrong_bytes`, `repeated_sample` */
  check(batch: Batch): void {
    for (let i = 0; i < batch.length; i++) {
      const key = batch.key(i);
      const bytes = batch.bytes(i);
      const wanted = this.#truth.get(key);
      if (!wanted || Buffer.compare(wanted, bytes) !== 0) {
        throw defect('wrong_bytes', `the bytes of ${key} are not those of the store`, key);
      }
      if (!this.#missing.delete(key)) throw defect('repeated_sample', `${key} came twice in one epoch`, key);
      this.bytes += bytes.length;
    }
  }

  /** @throws Os2gError `lost_sample` */
  finish(): void {
    const [key] = this.#missing;
    if (key !== undefined)
      throw defect('lost_sample', `${this.#missing.size} samples never came, ${key} among them`, key);
  }
}

function defect(code: string, message: string, key: string): Os2gError {
  return new Os2gError(code, message, 'this is a defect of os2g: report it', { key });
}
