/**
 * What a request costs as much as, in bytes: at 25 Gbit/s and the 5500 GET requests a second that a prefix of S3 answers, a
 * client that is bound by both moves this much with each request.
 */
export const READ_THROUGH_BYTES = 512 * 1024;
export const LARGEST_READ_BYTES = 4 * 2 ** 20;

/** One request for the sizes of samples `[first, last)`: bytes `[from, to)` of the shard. */
export interface HeadRead {
  first: number;
  last: number;
  from: number;
  to: number;
}

/**
 * Requests that read the sizes at the start of each sample. Neighbours are read in one request where at most `READ_THROUGH_BYTES` lie
 * between them, up to `LARGEST_READ_BYTES` a request. So small samples cost their shard read once, in ranges of 4 MiB; samples
 * above 512 KiB cost one request of a few bytes each.
 *
 * @param bounds where in the shard each sample begins, and the end of the last one
 */
export function* headReads(bounds: Uint32Array, headBytes: number): Generator<HeadRead> {
  const samples = bounds.length - 1;
  for (let first = 0; first < samples; ) {
    const from = bounds[first]!;
    let last = first + 1;
    while (last < samples) {
      const begin = bounds[last]!;
      const isNear = begin - (bounds[last - 1]! + headBytes) <= READ_THROUGH_BYTES;
      if (!isNear || begin + headBytes - from > LARGEST_READ_BYTES) break;
      last++;
    }
    yield { first, last, from, to: bounds[last - 1]! + headBytes };
    first = last;
  }
}
