import { constants } from 'node:buffer';
import { ConfigError } from '../errors.js';
import { tellBytes } from '../policy/units.js';
import type { LandingBackend, LandingSizes } from './landing.js';

/**
 * Landing memory of this process: one zeroed ArrayBuffer a consumer, whose pages the operating system maps at their first use.
 * GETs write straight into it; `place` copies, which only hedges need.
 * @throws ConfigError `memory_too_large` where a region is longer than this Node can address at once.
 */
export function createMemoryLanding(sizes: LandingSizes): LandingBackend {
  const regions = Array.from({ length: sizes.consumers }, () => allocate(sizes.landingBytes));
  return inPlaceLanding('memory', regions, allocate(sizes.stagingBytes));
}

/** A back end over memory that this process addresses: it is received in place, and `place` is a copy. */
export function inPlaceLanding(
  name: 'memory' | 'shm',
  regions: readonly Uint8Array[],
  staging: Uint8Array,
): LandingBackend {
  const landing = (consumer: number): Uint8Array => {
    const region = regions[consumer];
    if (region === undefined) throw new RangeError(`no landing region for consumer ${consumer}`);
    return region;
  };
  return {
    name,
    inPlace: true,
    direct: false,
    landing,
    staging: () => staging,
    place(consumer, from, to, length, done) {
      landing(consumer).set(staging.subarray(from, from + length), to);
      done(null);
    },
    async close() {},
  };
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
