const SPACE = 0x20;
const ZERO = 0x30;
const SEVEN = 0x37;
const BASE_256 = 0x80;
const NEGATIVE = 0xff;

/**
 * A number of a tar header: octal digits in ASCII, or, as GNU tar and star write what these cannot hold, big-endian binary behind a
 * byte 0x80. A field of spaces and NULs is 0.
 * @returns null where it is neither, negative, or beyond 2^53 - 1
 */
export function readTarNumber(field: Uint8Array): number | null {
  if (field[0] === BASE_256) return readBinary(field.subarray(1));
  if (field[0] === NEGATIVE) return null;
  let at = 0;
  while (field[at] === SPACE) at++;
  let value = 0;
  for (; at < field.length; at++) {
    const byte = field[at] as number;
    if (byte === 0 || byte === SPACE) break;
    if (byte < ZERO || byte > SEVEN) return null;
    value = value * 8 + (byte - ZERO);
  }
  return isPadding(field.subarray(at)) ? value : null;
}

function readBinary(bytes: Uint8Array): number | null {
  let value = 0;
  for (const byte of bytes) {
    value = value * 256 + byte;
    if (value > Number.MAX_SAFE_INTEGER) return null;
  }
  return value;
}

/** Behind the digits; some writers leave other bytes behind the NUL that ends them. */
function isPadding(rest: Uint8Array): boolean {
  for (const byte of rest) {
    if (byte === 0) return true;
    if (byte !== SPACE) return false;
  }
  return true;
}
