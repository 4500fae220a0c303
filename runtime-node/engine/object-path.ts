/**
 * An object's key as the path of a request: every byte but RFC 3986's unreserved ones and the slash is percent-encoded,
 * exactly once. Nothing is normalised: `a//b` and `a/../b` are names of their own.
 *
 * @returns null where the key cannot be said in UTF-8 (a lone surrogate) or is empty
 */
export function encodeObjectPath(pathPrefix: string, key: string): string | null {
  if (key === '' || LONE_SURROGATE.test(key)) return null;
  return `${pathPrefix}/${encodeKey(key)}`;
}

const LONE_SURROGATE = /\p{Surrogate}/u;
// encodeURIComponent leaves these five besides the unreserved characters.
const LEFT_BY_JAVASCRIPT = /[!'()*]/g;
const PLAIN = /^[A-Za-z0-9\-_.~/]*$/;

function encodeKey(key: string): string {
  if (PLAIN.test(key)) return key;
  return encodeURIComponent(key)
    .replace(LEFT_BY_JAVASCRIPT, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/');
}

/**
 * Whether a server or proxy that tidies paths would take this key for another one: a leading or double slash, a `.` or
 * `..` segment. Such a key is read only where an ETag proves whose bytes came.
 */
export function mayBeFolded(key: string): boolean {
  return /^\/|\/\/|(?:^|\/)\.\.?(?:\/|$)/.test(key);
}
