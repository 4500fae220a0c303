import { ConfigError } from '../errors.js';
import { shown } from '../shown.js';
import { PRESET_NAMES, type PresetName, SETTINGS, SETTINGS_BY_NAME, type Setting } from './settings.js';
import { formatBytes, formatDuration, parseBytes, parseDurationNs, parseNumber } from './units.js';

/** A value as users write it: sizes and durations as text with a unit, counts and ratios as numbers, choices by word. */
export type SettingValue = string | number;

export interface PolicySpec {
  preset?: string;
  set?: Readonly<Record<string, unknown>>;
}

/** Every setting, checked, in base units (bytes, nanoseconds, counts, ratios; choices by index). */
export interface Policy {
  readonly preset: PresetName;
  readonly values: ReadonlyMap<string, number>;
}

/**
 * A preset with some settings changed.
 * @throws ConfigError `bad_option` that names the setting and its range.
 */
export function resolvePolicy(spec: PolicySpec = {}): Policy {
  const preset = PRESET_NAMES.find((name) => name === (spec.preset ?? 'os2g'));
  if (!preset) {
    throw new ConfigError(
      'bad_option',
      `there is no policy preset ${shown(spec.preset)}`,
      `use one of ${PRESET_NAMES.join(', ')}`,
      {
        option: 'policy',
      },
    );
  }
  const values = new Map(SETTINGS.map((s) => [s.name, s.presets[preset]]));
  for (const [name, value] of Object.entries(spec.set ?? {})) {
    const setting = SETTINGS_BY_NAME.get(name);
    if (!setting) throw unknownSetting(name);
    values.set(name, settingValue(setting, value));
  }
  checkTogether(values);
  return { preset, values };
}

/** One setting from the text of `--set NAME=VALUE`. */
export function settingFromText(setting: Setting, text: string): number {
  if (setting.kind !== 'count' && setting.kind !== 'ratio') return settingValue(setting, text);
  return settingValue(setting, parseNumber(text, setting.name));
}

/** Checks one value as users write it in code or JSON; returns base units. */
export function settingValue(setting: Setting, value: unknown): number {
  const number = toNumber(setting, value);
  const whole = setting.kind !== 'ratio';
  if (
    !Number.isFinite(number) ||
    (whole && !Number.isInteger(number)) ||
    number < setting.min ||
    number > setting.max
  ) {
    throw badValue(setting, value);
  }
  return number;
}

function toNumber(setting: Setting, value: unknown): number {
  if (setting.kind === 'choice') {
    const index = typeof value === 'string' ? setting.choices?.indexOf(value) : undefined;
    return index === undefined || index < 0 ? Number.NaN : index;
  }
  if (setting.kind === 'bytes' || setting.kind === 'duration') {
    if (typeof value !== 'string') throw badValue(setting, value);
    return setting.kind === 'bytes' ? parseBytes(value, setting.name) : parseDurationNs(value, setting.name);
  }
  return typeof value === 'number' ? value : Number.NaN;
}

/** A value in base units, as `--help-settings` and policy files write it. */
export function formatSetting(setting: Setting, value: number): SettingValue {
  if (setting.kind === 'choice') return setting.choices?.[value] ?? String(value);
  if (setting.kind === 'bytes') return formatBytes(value);
  if (setting.kind === 'duration') return formatDuration(value);
  return value;
}

/** `fixed | adaptive`, `1..256`, `4KiB..16TiB`. */
export function formatRange(setting: Setting): string {
  if (setting.choices) return setting.choices.join(' | ');
  return `${formatSetting(setting, setting.min)}..${formatSetting(setting, setting.max)}`;
}

/** The values of a policy by name, as users write them: what results and policy files hold. */
export function describePolicy(policy: Policy): { preset: PresetName; set: Record<string, SettingValue> } {
  const set: Record<string, SettingValue> = {};
  for (const s of SETTINGS) set[s.name] = formatSetting(s, policy.values.get(s.name)!);
  return { preset: policy.preset, set };
}

function checkTogether(values: Map<string, number>): void {
  const align = values.get('layout.align')!;
  if (!Number.isInteger(Math.log2(align))) {
    throw new ConfigError(
      'bad_option',
      `layout.align: ${align} is not a power of two`,
      'use 1B, 2B, 4B, ... 4KiB',
      {
        option: 'layout.align',
      },
    );
  }
  if (values.get('concurrency.initial')! > values.get('concurrency.max')!) {
    values.set('concurrency.initial', values.get('concurrency.max')!);
  }
}

function badValue(setting: Setting, value: unknown): ConfigError {
  const form =
    setting.kind === 'bytes' || setting.kind === 'duration'
      ? 'text with a unit'
      : setting.kind === 'count'
        ? 'a whole number'
        : setting.kind === 'ratio'
          ? 'a number'
          : 'one of its words';
  return new ConfigError(
    'bad_option',
    `${setting.name}: ${shown(value)} is not ${form} in ${formatRange(setting)}`,
    `give ${form} in ${formatRange(setting)}, for example ${example(setting)} (${setting.meaning})`,
    { option: setting.name },
  );
}

/** A value that may be given, written as in a policy file: a preset's, and not an end of the range where there is another. */
function example(setting: Setting): string {
  const usual = setting.kind === 'bytes' ? 64 * 2 ** 20 : setting.kind === 'duration' ? 1e9 : setting.max;
  const candidates = [...PRESET_NAMES.toReversed().map((preset) => setting.presets[preset]), usual];
  const inside = candidates.find((value) => value > setting.min && value < setting.max);
  return JSON.stringify(formatSetting(setting, inside ?? setting.min));
}

function unknownSetting(name: string): ConfigError {
  const near = SETTINGS.filter(
    (s) => distance(s.name, name) <= 4 || (name.length > 2 && s.name.includes(name)),
  ).map((s) => s.name);
  return new ConfigError(
    'bad_option',
    `there is no setting ${JSON.stringify(name)}`,
    near.length > 0
      ? `did you mean ${near.join(' or ')}?`
      : '`os2g feed --help-settings` prints all settings',
    { option: name },
  );
}

/** Levenshtein distance. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
