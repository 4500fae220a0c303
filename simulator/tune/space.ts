import {
  formatSetting,
  type Policy,
  type SettingValue,
  settingValue,
} from '../../runtime-node/policy/resolve.js';
import { SETTINGS, type Setting } from '../../runtime-node/policy/settings.js';
import { exp, log } from '../maths.js';

/** What a search may change: the tunable rows of the table of settings, in its order. */
export const TUNABLE: readonly Setting[] = SETTINGS.filter((setting) => setting.tunable);

/** Values of the tunable settings in base units, in the order of `TUNABLE`. */
export type Candidate = readonly number[];

/** Steps of the unit that a size or a time is written in; the largest that fits is taken. */
const SIZE_UNITS = [2 ** 40, 2 ** 30, 2 ** 20, 2 ** 10, 1];
const TIME_UNITS = [60e9, 1e9, 1e6, 1e3, 1];

export function candidateOf(policy: Policy): Candidate {
  return TUNABLE.map((setting) => policy.values.get(setting.name)!);
}

/** Settings in which a candidate differs from the base, as a policy file writes them. */
export function changesOf(candidate: Candidate, base: Candidate): Record<string, SettingValue> {
  const changes: Record<string, SettingValue> = {};
  TUNABLE.forEach((setting, i) => {
    if (candidate[i] !== base[i]) changes[setting.name] = formatSetting(setting, candidate[i]!);
  });
  return changes;
}

/** Where a value lies in its range, 0 to 1: by differences or by factors, as the table says. */
export function coordinateOf(setting: Setting, value: number): number {
  if (setting.scale === 'linear') return (value - setting.min) / (setting.max - setting.min);
  const [low, high] = logRange(setting);
  return (log(value + shiftOf(setting)) - low) / (high - low);
}

/** The value at a coordinate, rounded to what a person would write; beyond 0 and 1 the ends of the range. */
export function valueAt(setting: Setting, coordinate: number): number {
  // The ends are what the table says, however many digits they have.
  if (coordinate <= 0) return setting.min;
  if (coordinate >= 1) return setting.max;
  if (setting.scale === 'linear')
    return clamp(setting, setting.min + coordinate * (setting.max - setting.min));
  const [low, high] = logRange(setting);
  return clamp(setting, exp(low + coordinate * (high - low)) - shiftOf(setting));
}

/** Coordinate steps of a factor of ten; of a tenth of the range where the scale is linear. */
export function decadeOf(setting: Setting): number {
  if (setting.scale === 'linear') return 0.1;
  const [low, high] = logRange(setting);
  return log(10) / (high - low);
}

/** A range that begins at 0 has no logarithm there: it begins at one unit, one step below. */
function shiftOf(setting: Setting): number {
  return setting.min === 0 ? 1 : 0;
}

function logRange(setting: Setting): [number, number] {
  const shift = shiftOf(setting);
  return [log(setting.min + shift), log(setting.max + shift)];
}

function clamp(setting: Setting, value: number): number {
  const rounded = Math.min(setting.max, Math.max(setting.min, roundedValue(setting, value)));
  // What the file will say is what is simulated.
  return settingValue(setting, formatSetting(setting, rounded));
}

function roundedValue(setting: Setting, value: number): number {
  if (setting.name === 'layout.align') return 2 ** Math.round(log(value) / log(2));
  switch (setting.kind) {
    case 'bytes':
      return wholeSize(value);
    case 'duration':
      return inUnit(value, TIME_UNITS);
    case 'count':
      return Math.round(twoDigits(value));
    case 'ratio':
      return twoDigits(value);
    case 'choice':
      return Math.round(value);
  }
}

/** As `inUnit`, in a unit that needs no fraction: tenths of a MiB are no whole KiB. */
function wholeSize(bytes: number): number {
  const at = SIZE_UNITS.findIndex((size) => bytes >= size);
  const unit = SIZE_UNITS[at] ?? 1;
  const digits = twoDigits(bytes / unit);
  if (Number.isInteger(digits)) return inUnit(bytes, SIZE_UNITS);
  const smaller = SIZE_UNITS[at + 1] ?? 1;
  return Math.round(twoDigits(bytes / smaller) * smaller);
}

/** Two significant digits of the largest unit that fits, whole above ten of it. */
function inUnit(value: number, units: readonly number[]): number {
  const unit = units.find((size) => value >= size) ?? 1;
  return Math.round(Number((value / unit).toPrecision(value / unit >= 100 ? 3 : 2)) * unit);
}

function twoDigits(value: number): number {
  return Number(value.toPrecision(2));
}
