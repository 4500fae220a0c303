import { ConfigError } from '../errors.js';
import { loadNative } from '../native/load.js';
import { noneOf } from '../policy/job.js';
import { option, words } from '../wording.js';
import type { LandingBackend } from './landing.js';

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
  if (backend === 'shm') requireNative(backend);
  else if (backend !== 'memory') {
    throw new ConfigError(
      'landing_unavailable',
      `landing: this build of os2g has no ${backend} back end`,
      words`use ${option('landing', 'memory')} or auto`,
      { option: 'landing' },
    );
  }
  const reason = REASONS[backend];
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

const REASONS = {
  memory: 'the process’s own memory: the host’s CPU receives every byte',
  shm: 'shared memory of this host: its CPU receives every byte, in place',
};

function requireNative(backend: string): void {
  const native = loadNative();
  if (native.module !== null) return;
  throw new ConfigError(
    'landing_unavailable',
    `landing: ${backend} needs the native module: ${native.why}`,
    words`${native.mend}; or use ${option('landing', 'memory')}`,
    { option: 'landing' },
  );
}

/** @throws ConfigError `bad_option` that lists the words. */
export function oneOf<T extends string>(value: unknown, choices: readonly T[], name: string): T {
  const word = choices.find((w) => w === value);
  if (word === undefined) throw noneOf(value, choices, name);
  return word;
}
