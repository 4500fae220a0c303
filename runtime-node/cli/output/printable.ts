// Control characters of both kinds, and what changes the direction or the line of the text around it.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text of others (keys, answers of stores, names in files) on one line for people: what a terminal would obey instead of showing is
 * written as an escape, `\x1b`. JSON stays exact.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (c) => SHORT[c] ?? escapeOf(c.charCodeAt(0)));
}

/** Likewise; lines stay lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function escapeOf(code: number): string {
  const hex = code.toString(16);
  return code < 256 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
