import { constants } from 'node:buffer';
import { ConfigError } from '../errors.js';
import type { NativeModule } from '../native/module.js';
import type { LandingBackend, LandingSizes } from './landing.js';
import { InPlaceLanding, tooLarge } from './memory.js';

/**
 * Landing memory that a trainer's process can map: a sealed memfd for each consumer. GETs write straight into it; `place` copies,
 * which only hedges need.
 * @throws ConfigError `memory_too_large` where the system does not give so much
 */
export function createShmLanding(native: NativeModule, sizes: LandingSizes): LandingBackend {
  const allocate = (sizeBytes: number): Uint8Array => {
    if (sizeBytes === 0) return new Uint8Array(0);
    if (sizeBytes > constants.MAX_LENGTH) throw tooLarge(sizeBytes);
    try {
      return new native.SharedSegment(sizeBytes).memory();
    } catch (cause) {
      throw new ConfigError(
        'memory_too_large',
        `landing memory cannot be had: ${(cause as Error).message}`,
        'lower the memory budget',
        { option: 'memoryBytes', cause },
      );
    }
  };
  const regions = Array.from({ length: sizes.consumers }, () => allocate(sizes.landingBytes));
  return new InPlaceLanding('shm', regions, allocate(sizes.stagingBytes));
}
