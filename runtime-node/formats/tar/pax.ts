import { textOf } from './header.js';

/** What extended headers say of a member, as far as it matters here. */
export interface PaxValues {
  path?: string;
  sizeBytes?: number;
  /** Set where the member is stored with holes (GNU sparse formats 0.0 to 1.0). */
  sparse?: boolean;
}

const SPACE = 0x20;
const NEWLINE = 0x0a;
const EQUALS = 0x3d;
const MAX_DIGITS = 10;

/**
 * The records of a pax extended header: `LENGTH KEY=VALUE\n`, the length in bytes, its own digits and the newline included.
 * An empty value takes back what a global header said.
 * @returns null where the bytes are no such records
 */
export function readPax(bytes: Uint8Array): PaxValues | null {
  const values: PaxValues = {};
  let at = 0;
  // Some writers fill the header up with NULs.
  while (at < bytes.length && bytes[at] !== 0) {
    const digitsEnd = bytes.indexOf(SPACE, at);
    if (digitsEnd < 0 || digitsEnd - at > MAX_DIGITS) return null;
    const digits = textOf(bytes.subarray(at, digitsEnd));
    const end = at + Number(digits);
    const equals = bytes.indexOf(EQUALS, digitsEnd);
    const isRecord =
      /^[1-9]\d*$/.test(digits) &&
      end <= bytes.length &&
      bytes[end - 1] === NEWLINE &&
      equals > digitsEnd + 1;
    if (!isRecord || equals >= end) return null;
    const key = textOf(bytes.subarray(digitsEnd + 1, equals));
    if (!take(values, key, textOf(bytes.subarray(equals + 1, end - 1)))) return null;
    at = end;
  }
  return values;
}

function take(values: PaxValues, key: string, value: string): boolean {
  if (key === 'path') values.path = value === '' ? undefined : value;
  else if (key === 'size') {
    const size = Number(value);
    if (value !== '' && !(/^\d+$/.test(value) && Number.isSafeInteger(size))) return false;
    values.sizeBytes = value === '' ? undefined : size;
  } else if (key.startsWith('GNU.sparse.')) values.sparse = true;
  return true;
}
