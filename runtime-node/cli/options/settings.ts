import { ConfigError } from '../../errors.js';
import { resolvePolicy, settingFromText } from '../../policy/resolve.js';
import { SETTINGS_BY_NAME } from '../../policy/settings.js';
import { parseNumber } from '../../policy/units.js';
import type { OptionSpec } from './spec.js';

/** Settings by name, as a policy file writes them: text with a unit, words, or numbers. */
export type SettingsGiven = Readonly<Record<string, string | number>>;

/** One `NAME=VALUE`. @throws ConfigError that names the setting and its range, or the nearest names. */
function fromPair(pair: string, where: string): SettingsGiven {
  const at = pair.indexOf('=');
  if (at <= 0) {
    throw new ConfigError(
      'bad_option',
      `${where}: ${JSON.stringify(pair)} is not NAME=VALUE`,
      'write for example --set window.bytes=64MiB',
      {
        option: where,
      },
    );
  }
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  const setting = SETTINGS_BY_NAME.get(name);
  // resolvePolicy knows the words for a name that does not exist.
  if (!setting) return checked({ [name]: value });
  settingFromText(setting, value);
  const isNumber = setting.kind === 'count' || setting.kind === 'ratio';
  return { [name]: isNumber ? parseNumber(value, name) : value };
}

function checked(set: SettingsGiven): SettingsGiven {
  resolvePolicy({ set });
  return set;
}

/** `--set NAME=VALUE`, again and again; `OS2G_SET=a=1,b=2`; `"set": {"a": 1}` in a file. Layers merge by name. */
export function settings(meaning: string): OptionSpec<SettingsGiven> {
  return {
    placeholder: '<name=value>',
    meaning,
    defaultText: null,
    initial: {},
    repeatable: true,
    fromText: (text, where) =>
      Object.assign({}, ...text.split(',').map((pair) => fromPair(pair.trim(), where))),
    fromJson(value, where) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw new ConfigError('bad_option', `${where}: is not an object`, 'write {"window.bytes": "64MiB"}', {
          option: where,
        });
      }
      return checked(value as SettingsGiven);
    },
    merge: (higher, lower) => ({ ...lower, ...higher }),
  };
}
