import { ConfigError } from '../errors.js';
import { loadNative } from '../native/load.js';
import type { NativeModule } from '../native/module.js';
import { noneOf } from '../policy/job.js';
import { option, type Text, words } from '../wording.js';
import { cudaLibrary, DEVICE } from './cuda.js';
import type { LandingBackend } from './landing.js';
import { transferFailure } from './transfer-failure.js';

export const LANDINGS = ['auto', 'memory', 'shm', 'cuda', 'ucx'] as const;
export const DIRECT_MODES = ['off', 'on', 'auto'] as const;
export type LandingName = (typeof LANDINGS)[number];
export type DirectMode = (typeof DIRECT_MODES)[number];

/** Where batches land and why there, as the feed's result says it. */
export interface LandingChoice {
  readonly backend: LandingBackend['name'];
  /** The direct mode that was asked for. */
  readonly mode: DirectMode;
  /** Whether bytes reach their target without the host's CPU. */
  readonly direct: boolean;
  readonly reason: string;
}

/**
 * Picks the back end. Nothing is downgraded in silence: what was asked for by name is had, or it is an error.
 * @param engine the engine that fills the memory: with the native one, `auto` is `shm`
 * @throws ConfigError `bad_option`, `landing_unavailable`, `direct_unavailable`.
 */
export function chooseLanding(
  landing: unknown = 'auto',
  direct: unknown = 'auto',
  engine: 'native' | 'portable' = 'portable',
): LandingChoice {
  const asked = oneOf(landing, LANDINGS, 'landing');
  const mode = oneOf(direct, DIRECT_MODES, 'direct');
  const backend = asked === 'auto' ? (engine === 'native' ? 'shm' : 'memory') : asked;
  const reason = REASONS[backend](engine);
  if (mode === 'on') {
    throw new ConfigError(
      'direct_unavailable',
      words`${option('direct', 'on')} cannot be had: ${reason}`,
      words`use ${option('direct', 'auto')} or off`,
      { option: 'direct' },
    );
  }
  return { backend, mode, direct: false, reason };
}

/** Whether bodies go through staging memory. */
export function isStaged(landing: unknown): boolean {
  return landing === 'cuda';
}

/** How bytes come there; throws where they cannot. */
const REASONS: Record<LandingBackend['name'], (engine: 'native' | 'portable') => string> = {
  memory: () => 'the process’s own memory: the host’s CPU receives every byte',
  shm: () => {
    requireNative('shm');
    return 'shared memory of this host: its CPU receives every byte, in place';
  },
  cuda: (engine) =>
    `memory of GPU ${DEVICE} (${gpuName(engine)}): the host’s CPU receives every byte into page-locked memory, and the GPU copies it from there`,
  ucx: () => {
    throw unavailable(
      'ucx puts batches into the memory of a trainer’s process at the other end, and `os2g serve`, which has such an end, is not there yet',
      words`use ${option('landing', 'shm')} or auto`,
    );
  },
};

/** Opens nothing: the memory is asked for when its size is known. */
function gpuName(engine: 'native' | 'portable'): string {
  const native = requireNative('cuda');
  if (engine !== 'native') {
    throw unavailable(
      'cuda needs the native engine, and the portable one was asked for',
      words`use ${option('engine', 'native')} or auto`,
    );
  }
  const found = native.surveyCuda(cudaLibrary());
  if ('what' in found) {
    const { message, mend } = transferFailure(found);
    throw unavailable(`cuda cannot be had: ${message}`, mend);
  }
  return found.gpus[DEVICE]!;
}

function requireNative(backend: string): NativeModule {
  const native = loadNative();
  if (native.module !== null) return native.module;
  throw unavailable(
    `${backend} needs the native module: ${native.why}`,
    words`${native.mend}; or use ${option('landing', 'memory')}`,
  );
}

function unavailable(why: string, mend: Text): ConfigError {
  return new ConfigError('landing_unavailable', `landing: ${why}`, mend, { option: 'landing' });
}

/** @throws ConfigError `bad_option` that lists the words. */
export function oneOf<T extends string>(value: unknown, choices: readonly T[], name: string): T {
  const word = choices.find((w) => w === value);
  if (word === undefined) throw noneOf(value, choices, name);
  return word;
}
