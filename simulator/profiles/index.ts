import { ConfigError } from '../../runtime-node/errors.js';
import { bluefield2, bluefield3, hostOnly, laptop } from './machines.js';
import { paper } from './paper.js';
import type { Profile } from './parameter.js';

export const PROFILES: readonly Profile[] = [paper, bluefield2, bluefield3, hostOnly, laptop];

/** The profile of a scenario that names none. */
export const DEFAULT_PROFILE = 'paper';

/** @throws ConfigError `bad_scenario` */
export function profileNamed(name: string, file?: string): Profile {
  const found = PROFILES.find((profile) => profile.name === name);
  if (found) return found;
  throw new ConfigError(
    'bad_scenario',
    `${file ? `${file}: ` : ''}profile: there is no profile ${JSON.stringify(name)}`,
    `name one of ${PROFILES.map((profile) => profile.name).join(', ')}`,
    { option: 'profile', file },
  );
}
