/**
 * The URI encoding that SigV4 demands: every byte of the UTF-8 text but `A-Za-z0-9-._~` as `%XX` in capitals; in
 * paths the slash stays. (AWS, "Create a signed AWS API request", step 1: create a canonical request.)
 */
export function encodeUri(text: string, keepSlash: boolean): string {
  if (/^[A-Za-z0-9\-._~]*$/.test(text)) return text;
  const encoded = encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return keepSlash ? encoded.replaceAll('%2F', '/') : encoded;
}

/** The text behind `%XX`; null where it is not UTF-8 or an escape is broken. */
export function decodeUri(encoded: string): string | null {
  if (!encoded.includes('%')) return encoded;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

/** The encoding of `encoding-type=url` in listings: as S3 does it, a space is `+`. */
export function encodeListed(text: string): string {
  return encodeUri(text, true).replaceAll('%20', '+');
}

export interface Query {
  /** Decoded; the last one wins where a name repeats. */
  values: Map<string, string>;
  /** Encoded, sorted by name and value. */
  canonical: string;
  /** False where the sent text was encoded in another way than SigV4's. */
  strict: boolean;
}

const EMPTY: Query = { values: new Map(), canonical: '', strict: true };

/** Null where an escape is broken. */
export function parseQuery(raw: string): Query | null {
  if (raw === '') return EMPTY;
  const values = new Map<string, string>();
  const pairs: [string, string][] = [];
  let strict = true;
  for (const part of raw.split('&')) {
    const equals = part.indexOf('=');
    const rawName = equals < 0 ? part : part.slice(0, equals);
    const rawValue = equals < 0 ? '' : part.slice(equals + 1);
    const name = decodeUri(rawName.replaceAll('+', ' '));
    const value = decodeUri(rawValue.replaceAll('+', ' '));
    if (name === null || value === null) return null;
    values.set(name, value);
    const pair: [string, string] = [encodeUri(name, false), encodeUri(value, false)];
    if (pair[0] !== rawName || pair[1] !== rawValue) strict = false;
    pairs.push(pair);
  }
  pairs.sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0));
  return { values, canonical: pairs.map(([n, v]) => `${n}=${v}`).join('&'), strict };
}
