import type { Literal } from './literal.js';

export function isObject(value: Literal): value is { readonly [name: string]: Literal } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** NumPy has at most 64 dimensions. */
const MOST_DIMENSIONS = 64;

export function isShape(value: Literal | undefined): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.length <= MOST_DIMENSIONS &&
    value.every((side) => typeof side === 'number' && side >= 0)
  );
}
