/** A value of any kind, as an error shows it. Never throws. */
export function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' || typeof value === 'symbol' || value === undefined) return String(value);
  if (typeof value === 'function') return 'a function';
  try {
    return JSON.stringify(value) ?? typeof value;
  } catch {
    // It goes round in a circle, or holds a bigint.
    return Array.isArray(value) ? 'an array' : 'an object';
  }
}
