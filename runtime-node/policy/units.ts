import { ConfigError } from '../errors.js';

const SIZE_UNITS: Record<string, number> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};
const DURATION_UNITS_NS: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };

function parse(
  text: string,
  option: string,
  units: Record<string, number>,
  what: string,
  example: string,
): number {
  const match = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text.trim());
  const factor = match?.[2] ? units[match[2]] : undefined;
  if (!match || factor === undefined) {
    throw new ConfigError(
      'bad_option',
      `${option}: ${JSON.stringify(text)} is not a ${what}`,
      `write a number with one of the units ${Object.keys(units).join(', ')}, for example ${example}`,
      { option },
    );
  }
  return Math.round(Number(match[1]) * factor);
}

/** Bytes from `64MiB` or `64MB`; a bare number is refused. */
export function parseBytes(text: string, option: string): number {
  return parse(text, option, SIZE_UNITS, 'size', '64MiB');
}

/** Nanoseconds from `5s` or `20ms`; a bare number is refused. */
export function parseDurationNs(text: string, option: string): number {
  return parse(text, option, DURATION_UNITS_NS, 'duration', '20ms');
}

/** A finite decimal number, nothing else: no sign tricks, no hexadecimal, no blanks. */
export function parseNumber(text: string, option: string): number {
  if (!/^-?\d+(\.\d+)?(e-?\d+)?$/i.test(text)) {
    throw new ConfigError(
      'bad_option',
      `${option}: ${JSON.stringify(text)} is not a number`,
      'write a plain number',
      {
        option,
      },
    );
  }
  return Number(text);
}

export function formatBytes(bytes: number): string {
  if (bytes === Number.POSITIVE_INFINITY) return 'unlimited';
  for (const unit of ['TiB', 'GiB', 'MiB', 'KiB']) {
    const size = SIZE_UNITS[unit]!;
    if (bytes >= size && (bytes % size === 0 || bytes >= 10 * size)) return `${trim(bytes / size)}${unit}`;
  }
  return `${bytes}B`;
}

/** A size in a sentence: `960 KiB`; `formatBytes` is how it is written as a value. */
export function tellBytes(bytes: number): string {
  return formatBytes(bytes).replace(/^([\d.]+)/, '$1 ');
}

export function formatDuration(ns: number): string {
  if (ns === Number.POSITIVE_INFINITY) return 'unlimited';
  for (const unit of ['h', 'min', 's', 'ms', 'us']) {
    const size = DURATION_UNITS_NS[unit]!;
    if (ns >= size && ns % (size / (unit === 'h' || unit === 'min' ? 1 : 10)) === 0)
      return `${trim(ns / size)}${unit}`;
  }
  return `${ns}ns`;
}

function trim(value: number): string {
  return String(Math.round(value * 100) / 100);
}
