/** Bytes of a copy's offset, by the two low bits of its tag. */
const OFFSET_BYTES = [0, 1, 2, 4];

/**
 * Goes over the elements of a Snappy block (https://github.com/google/snappy/blob/main/format_description.txt) without unpacking: each lies
 * within the block, and together they make `size` bytes. A decoder that trusts lengths can be given it then, and comes to an end.
 * @throws RangeError
 */
export function checkSnappy(block: Uint8Array, size: number): void {
  let at = block.findIndex((byte) => byte < 0x80) + 1;
  if (at < 1 || at > 5) throw new RangeError('no length at the start of a Snappy block');
  let made = 0;
  while (at < block.length) {
    const tag = block[at++]!;
    const kind = tag & 3;
    const code = tag >> 2;
    if (kind === 0) {
      const lengthBytes = code < 60 ? 0 : code - 59;
      const length = lengthBytes === 0 ? code + 1 : longLiteral(block, at, lengthBytes);
      at += lengthBytes + length;
      made += length;
    } else {
      at += OFFSET_BYTES[kind]!;
      made += kind === 1 ? (code & 7) + 4 : code + 1;
    }
    if (at > block.length || made > size) throw new RangeError('an element beyond the end of a Snappy block');
  }
  if (made !== size) throw new RangeError(`a Snappy block of ${made} bytes instead of ${size}`);
}

function longLiteral(block: Uint8Array, at: number, lengthBytes: number): number {
  let length = 1;
  for (let i = 0; i < lengthBytes; i++) length += (block[at + i] ?? 0) * 256 ** i;
  return length;
}
