import { Os2gError } from '../errors.js';
import type { ListedObject } from '../s3/listing.js';

/** An object whose bytes are not what its format says: names the key and the byte at which it goes wrong. */
export function badShard(
  { key }: Pick<ListedObject, 'key'>,
  byte: number,
  what: string,
  mend: string,
  cause?: unknown,
): Os2gError {
  return new Os2gError('bad_shard', `${shownKey(key)}, byte ${byte}: ${what}`, mend, {
    key,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A list of samples or shards that is none, contradicts itself, or disagrees with what is in the bucket. */
export function badIndex(key: string, what: string, mend: string, cause?: unknown): Os2gError {
  return new Os2gError('bad_index', `${shownKey(key)}: ${what}`, mend, {
    key,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Data that is whole, and of a kind that is not read. */
export function unsupportedData(key: string, what: string, mend: string): Os2gError {
  return new Os2gError('unsupported_data', `${shownKey(key)}: ${what}`, mend, { key });
}

/** `2 objects (a.json, b.json)`: a count with the first three. */
export function countedKeys(keys: readonly string[], one: string, many: string): string {
  const examples = keys.slice(0, 3).join(', ');
  const more = keys.length > 3 ? ', …' : '';
  return `${keys.length} ${keys.length === 1 ? one : many} (${examples}${more})`;
}

function shownKey(key: string): string {
  // Keys may hold line ends and quotes; a plain one is shown as it is.
  return /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(key) ? key : JSON.stringify(key);
}
