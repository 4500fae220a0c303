import { constants } from 'node:buffer';
import { ConfigError } from '../errors.js';
import { tellBytes } from '../policy/units.js';
import type { LandingBackend, LandingSizes, PlaceSink } from './landing.js';

/**
 * Landing memory of this process: one zeroed ArrayBuffer a consumer, whose pages the operating system maps at their first use.
 * GETs write straight into it; `place` copies, which only hedges need.
 * @throws ConfigError `memory_too_large` where a region is longer than this Node can address at once.
 */
export function createMemoryLanding(sizes: LandingSizes): LandingBackend {
  const regions = Array.from({ length: sizes.consumers }, () => allocate(sizes.landingBytes));
  return new InPlaceLanding('memory', regions, allocate(sizes.stagingBytes));
}

/** A back end over memory that this process addresses: it is received in place, and `place` is a copy, done at once. */
export class InPlaceLanding implements LandingBackend {
  readonly inPlace = true;
  readonly direct = false;
  onWake: (() => void) | null = null;
  readonly #regions: readonly Uint8Array[];
  readonly #staging: Uint8Array;
  /** Id and attempt of copies whose end was not drained yet, one after the other. */
  readonly #ended: number[] = [];

  constructor(
    readonly name: 'memory' | 'shm',
    regions: readonly Uint8Array[],
    staging: Uint8Array,
  ) {
    this.#regions = regions;
    this.#staging = staging;
  }

  landing(consumer: number): Uint8Array {
    const region = this.#regions[consumer];
    if (region === undefined) throw new RangeError(`no landing region for consumer ${consumer}`);
    return region;
  }

  staging(): Uint8Array {
    return this.#staging;
  }

  bytes(consumer: number, offset: number, length: number): Uint8Array {
    return this.landing(consumer).subarray(offset, offset + length);
  }

  place(id: number, attempt: number, consumer: number, from: number, to: number, length: number): boolean {
    this.landing(consumer).set(this.#staging.subarray(from, from + length), to);
    this.#ended.push(id, attempt);
    return true;
  }

  drain(sink: PlaceSink, max: number): number {
    const count = Math.min(max, this.#ended.length / 2);
    for (let i = 0; i < count * 2; i += 2) sink.placed(this.#ended[i]!, this.#ended[i + 1]!);
    this.#ended.splice(0, count * 2);
    return count;
  }

  arm(): void {
    if (this.#ended.length > 0) this.onWake?.();
  }

  /** A copy in memory does not fail. */
  failure(): undefined {}

  async close(): Promise<void> {}
}

function allocate(sizeBytes: number): Uint8Array {
  if (sizeBytes > constants.MAX_LENGTH) throw tooLarge(sizeBytes);
  try {
    return new Uint8Array(sizeBytes);
  } catch (cause) {
    throw tooLarge(sizeBytes, cause);
  }
}

export function tooLarge(sizeBytes: number, cause?: unknown): ConfigError {
  return new ConfigError(
    'memory_too_large',
    `a landing region of ${tellBytes(sizeBytes)} cannot be had: one buffer of this Node holds at most ${tellBytes(constants.MAX_LENGTH)}`,
    'lower the memory budget',
    { option: 'memoryBytes', cause },
  );
}
