import { ConfigError } from '../../errors.js';
import { formatBytes, formatDuration, parseBytes, parseDurationNs } from '../../policy/units.js';
import type { OptionSpec } from './spec.js';

const MAX_SEED = 2n ** 64n - 1n;

function refuse(where: string, value: unknown, wanted: string): never {
  const shown = JSON.stringify(value) ?? String(value);
  throw new ConfigError('bad_option', `${where}: ${shown} is not ${wanted}`, `give ${wanted}`, {
    option: where,
  });
}

interface Words {
  readonly placeholder?: string;
  readonly meaning: string;
  /** The default in words where the value itself would not say it. */
  readonly defaultText?: string;
  readonly short?: string;
}

type Kind<T> = Pick<OptionSpec<T>, 'fromText' | 'fromJson'>;

function spec<T>(kind: Kind<T>, placeholder: string | null, initial: T, words: Words): OptionSpec<T> {
  return {
    ...kind,
    placeholder: placeholder === null ? null : `<${words.placeholder ?? placeholder}>`,
    meaning: words.meaning,
    ...(words.short ? { short: words.short } : {}),
    defaultText: words.defaultText ?? (initial === undefined ? null : String(initial)),
    initial,
    repeatable: false,
  };
}

/** A switch: `--anonymous`, `OS2G_ANONYMOUS=1`, `"anonymous": true`. */
export function flag(words: Words): OptionSpec<boolean> {
  const kind: Kind<boolean> = {
    fromText(text, where) {
      if (text === '1' || text === 'true') return true;
      if (text === '0' || text === 'false') return false;
      return refuse(where, text, '1, true, 0 or false');
    },
    fromJson: (value, where) => (typeof value === 'boolean' ? value : refuse(where, value, 'true or false')),
  };
  return { ...spec(kind, null, false, words), defaultText: null };
}

const nonEmpty = (value: unknown, where: string, what: string): string =>
  typeof value === 'string' && value !== '' ? value : refuse(where, value, what);

/** Any text that is not empty: a path, a name, a URL. */
export function text(placeholder: string, words: Words): OptionSpec<string | undefined> {
  const kind: Kind<string | undefined> = {
    fromText: (value, where) => nonEmpty(value, where, `a ${placeholder}`),
    fromJson: (value, where) => nonEmpty(value, where, `a ${placeholder}`),
  };
  return spec(kind, placeholder, undefined, words);
}

export function textOr(placeholder: string, initial: string, words: Words): OptionSpec<string> {
  const { fromText, fromJson } = text(placeholder, words);
  const kind = { fromText, fromJson } as Kind<string>;
  return spec(kind, placeholder, initial, words);
}

/** Words, one after each flag or several with commas between: `--pipeline os2g --pipeline relay`, `a,b` in a variable. */
export function list(placeholder: string, words: Words): OptionSpec<readonly string[] | undefined> {
  const wanted = `a list of ${placeholder}s`;
  const kind: Kind<readonly string[] | undefined> = {
    fromText: (value, where) => value.split(',').map((word) => nonEmpty(word.trim(), where, wanted)),
    fromJson: (value, where) =>
      Array.isArray(value)
        ? value.map((word) => nonEmpty(word, where, wanted))
        : refuse(where, value, wanted),
  };
  return { ...spec(kind, placeholder, undefined, words), repeatable: true };
}

export function choice<const W extends string>(
  choices: readonly W[],
  initial: NoInfer<W>,
  words: Words,
): OptionSpec<W> {
  const parse = (value: unknown, where: string): W =>
    choices.find((word) => word === value) ?? refuse(where, value, `one of ${choices.join(', ')}`);
  return spec({ fromText: parse, fromJson: parse }, choices.join('|'), initial, words);
}

interface Range {
  readonly min: number;
  readonly max: number;
}

function countKind({ min, max }: Range): Kind<number> {
  const wanted = `a whole number from ${min} to ${max}`;
  const check = (value: number, given: unknown, where: string): number =>
    Number.isSafeInteger(value) && value >= min && value <= max ? value : refuse(where, given, wanted);
  return {
    // Plain digits only: `1e3`, `0x10`, ` 8` and the empty text are what Number() would let through.
    fromText: (given, where) => check(/^-?\d+$/.test(given) ? Number(given) : Number.NaN, given, where),
    fromJson: (given, where) => check(typeof given === 'number' ? given : Number.NaN, given, where),
  };
}

/** A whole number within a range. */
export function count(range: Range, initial: number, words: Words): OptionSpec<number> {
  return spec(countKind(range), 'n', initial, words);
}

/** The same option, undefined where it is not given; `defaultText` says what happens then. */
export function unset<T>(given: OptionSpec<T>, defaultText: string | null = null): OptionSpec<T | undefined> {
  return { ...(given as OptionSpec<T | undefined>), initial: undefined, defaultText };
}

/** 0 to 2^64 - 1; in a file a number up to 2^53 - 1, or text beyond. */
export function seed(words: Words): OptionSpec<bigint> {
  const wanted = `a whole number from 0 to ${MAX_SEED}`;
  const fromText = (given: string, where: string): bigint => {
    const value = /^\d{1,20}$/.test(given) ? BigInt(given) : MAX_SEED + 1n;
    return value <= MAX_SEED ? value : refuse(where, given, wanted);
  };
  const kind: Kind<bigint> = {
    fromText,
    fromJson(given, where) {
      if (typeof given === 'string') return fromText(given, where);
      return Number.isSafeInteger(given) && (given as number) >= 0
        ? BigInt(given as number)
        : refuse(where, given, wanted);
    },
  };
  return spec(kind, 'n', 0n, words);
}

function unitKind(
  parse: (text: string, where: string) => number,
  format: (value: number) => string,
  { min, max }: Range,
) {
  const read = (given: unknown, where: string): number => {
    const value = typeof given === 'string' ? parse(given, where) : Number.NaN;
    if (value >= min && value <= max) return value;
    return refuse(where, given, `text with a unit from ${format(min)} to ${format(max)}`);
  };
  return { fromText: read, fromJson: read };
}

/** A size with its unit, in bytes. */
export function bytes(range: Range, initial: number, words: Words): OptionSpec<number> {
  const made = spec<number>(unitKind(parseBytes, formatBytes, range), 'size', initial, words);
  return { ...made, defaultText: words.defaultText ?? formatBytes(initial) };
}

/** A duration with its unit, in nanoseconds. */
export function durationNs(range: Range, initial: number, words: Words): OptionSpec<number> {
  const made = spec<number>(unitKind(parseDurationNs, formatDuration, range), 'duration', initial, words);
  return { ...made, defaultText: words.defaultText ?? formatDuration(initial) };
}
