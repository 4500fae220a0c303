import { Os2gError } from '../../errors.js';
import { shown } from '../../shown.js';
import type { ListColumn } from './list-columns.js';

/** S3's limit. */
const LONGEST_KEY_BYTES = 1024;
const SIZE_MEND = 'write the number of bytes as a whole number, and leave out rows that have none';

/** Where a value of a row list is: the file's key and the row, counted from 0. */
export interface ListPlace {
  list: string;
  row: number;
}

export function badRow({ list, row }: ListPlace, column: ListColumn, what: string, mend: string): Os2gError {
  return new Os2gError('bad_index', `${list}, row ${row}, column ${column}: ${what}`, mend, {
    key: list,
    row,
    option: column,
  });
}

/** @throws Os2gError `bad_index` with row and column */
export function keyOf(place: ListPlace, value: unknown): string {
  const mend =
    'write the whole key of an object in the bucket of the list, without the bucket and without s3://';
  if (typeof value !== 'string') throw badRow(place, 'key', 'it is null', mend);
  if (value === '') throw badRow(place, 'key', 'it is empty', mend);
  if (/^[a-z][a-z0-9]*:\/\//.test(value)) {
    throw badRow(place, 'key', `${JSON.stringify(value)} is an address, not a key`, mend);
  }
  if (Buffer.byteLength(value) > LONGEST_KEY_BYTES) {
    throw badRow(
      place,
      'key',
      `it has ${Buffer.byteLength(value)} bytes, a key has at most ${LONGEST_KEY_BYTES}`,
      mend,
    );
  }
  return value;
}

/** Bytes or pixels. @throws Os2gError `bad_index` with row and column for null, NaN, fractions, negative numbers and those beyond 2^53 - 1 */
export function sizeOf(place: ListPlace, column: ListColumn, value: unknown): number {
  if (value === null) throw badRow(place, column, 'it is null', SIZE_MEND);
  const number = Number(value);
  if (number < 0) throw badRow(place, column, `${value} is negative`, SIZE_MEND);
  if (!Number.isSafeInteger(number)) {
    throw badRow(place, column, `${value} is not a whole number up to 2^53 - 1`, SIZE_MEND);
  }
  return number;
}

/** Null stays null. */
export function optionalSize(place: ListPlace, column: ListColumn, value: unknown): number | null {
  return value === null || value === undefined ? null : sizeOf(place, column, value);
}

/** Null stays null, and so does empty text. */
export function optionalText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Text as it is, whole numbers and booleans written out. @throws Os2gError `bad_index` for fractions */
export function labelOf(place: ListPlace, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || typeof value === 'boolean' || Number.isSafeInteger(value))
    return `${value}`;
  throw badRow(
    place,
    'label',
    `${shown(value)} is not a whole number`,
    'write labels as text or whole numbers',
  );
}
