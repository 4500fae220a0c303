import type { S3Credentials } from './access.js';

/** Takes what is secret out of a text that a store, a proxy or the caller wrote. */
export type Hide = (text: string) => string;

const HIDDEN = '[hidden]';
/** No store gives shorter ones; of a shorter one every word that looks like it would be cut out. */
const SHORTEST = 8;

const hiders = new WeakMap<S3Credentials, Hide>();

/**
 * Hides secret key and session token of these credentials: as they are, percent-encoded, as XML entities, and cut off at the end of
 * the text. The access key's id is no secret: messages about it name it.
 */
export function hiderOf(credentials: S3Credentials | null): Hide {
  if (credentials === null) return (text) => text;
  let hide = hiders.get(credentials);
  if (hide === undefined) {
    hide = makeHider([credentials.secretAccessKey, credentials.sessionToken ?? '']);
    hiders.set(credentials, hide);
  }
  return hide;
}

function makeHider(given: readonly string[]): Hide {
  const secrets = given.filter((secret) => secret.length >= SHORTEST);
  if (secrets.length === 0) return (text) => text;
  const pattern = new RegExp(secrets.map(patternOf).join('|'), 'giu');
  return (text) => secrets.reduce(withoutBeginning, text.replace(pattern, HIDDEN));
}

function patternOf(secret: string): string {
  return [...secret].map((c) => (/[A-Za-z0-9]/.test(c) ? c : formsOf(c))).join('');
}

function formsOf(c: string): string {
  const code = c.codePointAt(0)!;
  const encoded = code < 128 ? `%${code.toString(16).padStart(2, '0')}` : encodeURIComponent(c);
  return `(?:\\u{${code.toString(16)}}|${encoded}|&#x${code.toString(16)};|&#${code};)`;
}

/** A kept body ends where it was cut, and that may be inside a secret. */
function withoutBeginning(text: string, secret: string): string {
  const at = text.lastIndexOf(secret.slice(0, SHORTEST));
  return at >= 0 && secret.startsWith(text.slice(at)) ? text.slice(0, at) + HIDDEN : text;
}

/** Hides in what an error says and where it says it again; the error stays the same one. */
export function hideInError(cause: unknown, hide: Hide): void {
  if (!(cause instanceof Error)) return;
  const [message, stack] = [hide(cause.message), cause.stack && hide(cause.stack)];
  if (message !== cause.message) cause.message = message;
  if (stack !== cause.stack) cause.stack = stack;
}

/** A URL as it may be shown: without user name and password, and without a query, which may be a signature. */
export function shownUrl(text: string): string {
  return JSON.stringify(text.replace(/^([a-z][a-z0-9+.-]*:\/+)?.*@/is, '$1...@').replace(/[?#].*$/s, '?...'));
}
