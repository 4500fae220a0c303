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
    const { bytes, taken } = (tag & 3) === 0 ? literal(block, at, tag >> 2) : copy(tag);
    at += taken;
    made += bytes;
    if (at > block.length || made > size) throw new RangeError('an element beyond the end of a Snappy block');
  }
  if (made !== size) throw new RangeError(`a Snappy block of ${made} bytes instead of ${size}`);
}

function literal(block: Uint8Array, at: number, code: number): { bytes: number; taken: number } {
  if (code < 60) return { bytes: code + 1, taken: code + 1 };
  const lengthBytes = code - 59;
  let length = 1;
  for (let i = 0; i < lengthBytes; i++) length += (block[at + i] ?? 0) * 256 ** i;
  return { bytes: length, taken: lengthBytes + length };
}

function copy(tag: number): { bytes: number; taken: number } {
  if ((tag & 3) === 1) return { bytes: ((tag >> 2) & 7) + 4, taken: 1 };
  return { bytes: (tag >> 2) + 1, taken: (tag & 3) === 2 ? 2 : 4 };
}
