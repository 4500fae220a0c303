import { StoreError } from '../errors.js';

/**
 * What a plus sign means in the keys of a listing with encoding-type=url. AWS and most stores write a space so; some
 * leave a plus as it is, or do the one in folders and the other in names. Both look the same.
 */
export type PlusMeaning = 'space' | 'unknown';

/** Decodes a key of a listing with encoding-type=url, exactly once. @throws StoreError where it is not so encoded */
export function decodeListedKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', '%20'));
  } catch (cause) {
    throw new StoreError(
      'listing_broken',
      `the listing holds a key that is not URL-encoded: ${JSON.stringify(encoded)}`,
      'the store claims encoding-type=url and does not keep to it: report it to its makers',
      { cause },
    );
  }
}

/** Whether a plain key is what an encoded one stands for, each plus being a space or a plus. */
export function standsFor(encoded: string, plain: string): boolean {
  const spaces = decodeListedKey(encoded);
  if (spaces === plain) return true;
  if (spaces.length !== plain.length) return false;
  const pluses = decodeListedKey(encoded.replaceAll('+', '%2B'));
  for (let i = 0; i < plain.length; i++) {
    const c = plain.charCodeAt(i);
    if (c !== spaces.charCodeAt(i) && c !== pluses.charCodeAt(i)) return false;
  }
  return true;
}
