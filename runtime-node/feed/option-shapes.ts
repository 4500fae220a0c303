import { ConfigError } from '../errors.js';
import { shown } from '../shown.js';
import { option, words } from '../wording.js';

/** What an option is, as far as it can be told without the others. */
export interface Shape {
  /** In words: `${name}: ${value} is not ${is}`. */
  readonly is: string;
  readonly mend: string;
  fits(value: unknown): boolean;
}

/** An object, or a class of one, with these methods. */
function withMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => typeof Reflect.get(value, name) === 'function');
}

export const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const TEXT: Shape = {
  is: 'text',
  mend: 'give text that is not empty, or leave the option out',
  fits: (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
};
/** What it has to hold is said by who reads it. */
export const ANY_TEXT: Shape = { ...TEXT, mend: 'give text', fits: (value) => typeof value === 'string' };
export const PATH: Shape = { ...TEXT, is: 'the path of a file', mend: 'name a file' };
export const FLAG: Shape = {
  is: 'true or false',
  mend: 'give true or false',
  fits: (value) => typeof value === 'boolean',
};
export const OBJECT: Shape = {
  is: 'an object with options',
  mend: 'give {name: value, ...}',
  fits: isPlain,
};
export const FUNCTION: Shape = {
  is: 'a function',
  mend: 'give a function, or leave the option out',
  fits: (value) => typeof value === 'function',
};
export const SIGNAL: Shape = {
  is: 'an AbortSignal',
  mend: 'give the `signal` of an AbortController, or leave the option out',
  fits: (value) =>
    withMethods(value, ['addEventListener', 'removeEventListener']) &&
    typeof (value as { aborted?: unknown }).aborted === 'boolean',
};
export const LOGGER: Shape = {
  is: 'a logger',
  mend: 'give an object with the methods debug, info and warn, such as a pino logger, or leave the option out',
  fits: (value) => withMethods(value, ['debug', 'info', 'warn']),
};
export const CLOCK: Shape = {
  is: 'a clock',
  mend: 'give an object with the method nowNs, or leave the option out',
  fits: (value) => withMethods(value, ['nowNs']),
};
export const MANIFEST: Shape = {
  is: 'a manifest',
  mend: 'give the path of one, or what readManifest, listManifest or manifestFromColumns gave',
  fits: (value) =>
    ANY_TEXT.fits(value) ||
    (withMethods(value, [
      'key',
      'offset',
      'length',
      'etag',
      'objectSize',
      'objectHandle',
      'label',
      'width',
      'height',
      'dtype',
      'shape',
      'fields',
    ]) &&
      Number.isInteger((value as { rows?: unknown }).rows)),
};
export const CURSOR: Shape = {
  is: 'a cursor',
  mend: 'give a cursor, or the file that holds one',
  fits: (value) => TEXT.fits(value) || isPlain(value),
};

/**
 * Checks the options that are given against what they have to be.
 * @param prefix of their names: `s3.`
 * @throws ConfigError `bad_option` that names the first one that is something else
 */
export function checkShapes(
  given: Readonly<Record<string, unknown>>,
  shapes: Readonly<Record<string, Shape>>,
  prefix = '',
): void {
  for (const [field, shape] of Object.entries(shapes)) {
    const value = given[field];
    if (value === undefined || shape.fits(value)) continue;
    const name = `${prefix}${field}`;
    throw new ConfigError(
      'bad_option',
      words`${option(name)}: ${shown(value)} is not ${shape.is}`,
      shape.mend,
      {
        option: name,
      },
    );
  }
}
