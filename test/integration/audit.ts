import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import * as assert from 'uvu/assert';
import type { Truth } from './truth.js';

/** A sample as the contract's audit has it. */
export interface AuditedSample {
  readonly index: number;
  readonly key: string;
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
  readonly pad: boolean;
}

export interface AuditedBatch {
  readonly epoch: number;
  readonly batch: number;
  readonly samples: readonly AuditedSample[];
}

/** The whole lines of an audit; a last one that a kill left unfinished is none. */
export function readAudit(file: string): AuditedBatch[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as AuditedBatch);
}

/** Counts the lines of an audit while it grows. */
export class AuditWatch {
  readonly #chunk = Buffer.alloc(1 << 16);
  #fd: number | null = null;
  #lines = 0;

  constructor(readonly file: string) {}

  get lines(): number {
    if (this.#fd === null && !existsSync(this.file)) return 0;
    this.#fd ??= openSync(this.file, 'r');
    for (let got = this.#read(); got > 0; got = this.#read()) {
      for (const byte of this.#chunk.subarray(0, got)) if (byte === 10) this.#lines++;
    }
    return this.#lines;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #read(): number {
    return this.#fd === null ? 0 : readSync(this.#fd, this.#chunk, 0, this.#chunk.length, null);
  }
}

export const samplesOf = (batches: readonly AuditedBatch[]): AuditedSample[] =>
  batches.flatMap(({ samples }) => [...samples]);

/** Key and hash of every sample are right, its place is the whole object, and none is a pad. */
export function assertTrue(samples: readonly AuditedSample[], truth: Truth): void {
  for (const { index, key, offset, length, sha256, pad } of samples) {
    const expected = {
      key: truth.keys[index],
      offset: 0,
      length: truth.sizes[index],
      sha256: truth.sha256(key),
      pad: false,
    };
    assert.equal({ key, offset, length, sha256, pad }, expected, `row ${index}, ${key}`);
  }
}

/** One epoch is the whole data set, each sample once. */
export function assertWhole(samples: readonly AuditedSample[], truth: Truth): void {
  assertTrue(samples, truth);
  assert.is(samples.length, truth.keys.length);
  assert.is(new Set(samples.map(({ key }) => key)).size, truth.keys.length);
}
