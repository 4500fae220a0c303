/** Bit-packed runs are padded to eight values, by some writers to the end of a whole run. */
const MOST_PADDING = 512;

/**
 * Goes over the runs of Parquet's hybrid encoding (repeated values and bit-packed ones) without unpacking them: they hold no more values
 * than there are. A run of five bytes can say two thousand million.
 *
 * @param most values that the page has
 * @returns how many values the runs hold
 * @throws RangeError
 */
export function checkRuns(
  bytes: Uint8Array,
  from: number,
  to: number,
  bitWidth: number,
  most: number,
): number {
  if (bitWidth > 32) throw new RangeError(`values of ${bitWidth} bits`);
  let [at, seen] = [from, 0];
  while (at < to && seen < most) {
    const head = varint(bytes, at, to);
    at = head.next;
    const isPacked = head.value % 2 === 1;
    const count = Math.floor(head.value / 2);
    const values = isPacked ? count * 8 : count;
    const limit = isPacked ? most - seen + MOST_PADDING : most - seen;
    if (values > limit) throw new RangeError(`a run of ${values} values where ${most - seen} are left`);
    seen += values;
    at += isPacked ? count * bitWidth : Math.ceil(bitWidth / 8);
  }
  return seen;
}

/** Sizes of blocks that writers use are 128 values in 4 parts. */
const LARGEST_BLOCK = 1 << 16;

/** The head of a delta encoding: sizes of blocks and their parts that can be worked with. @throws RangeError */
export function checkDeltaHead(bytes: Uint8Array, from: number): void {
  const block = varint(bytes, from, bytes.length);
  const parts = varint(bytes, block.next, bytes.length);
  const isPlain =
    block.value > 0 &&
    block.value <= LARGEST_BLOCK &&
    parts.value > 0 &&
    block.value % (8 * parts.value) === 0;
  if (!isPlain) throw new RangeError(`delta blocks of ${block.value} values in ${parts.value} parts`);
}

function varint(bytes: Uint8Array, from: number, to: number): { value: number; next: number } {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = from + i < to ? bytes[from + i] : undefined;
    if (byte === undefined) throw new RangeError('a run is cut off');
    value += (byte & 0x7f) * 128 ** i;
    if (byte < 0x80) return { value, next: from + i + 1 };
  }
  throw new RangeError('a number without an end');
}
