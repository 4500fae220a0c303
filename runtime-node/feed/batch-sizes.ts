import type { Manifest } from '../manifest/manifest.js';
import type { Shuffle, Tail } from '../policy/job.js';
import { Largest } from './largest.js';

/** What decides which samples come together in a batch, and how they lie in landing memory. */
export interface BatchLayout {
  readonly shuffle: Shuffle;
  readonly tail: Tail;
  readonly batchSamples: number;
  readonly rank: number;
  readonly worldSize: number;
  /** `layout.align`: each range of a batch begins at a multiple of it, in bytes. */
  readonly alignBytes: number;
  /** Most bytes between two samples that one request reads over; 0: requests are not merged. */
  readonly gapBytes: number;
}

/** How large this rank's batches can be in landing memory, in bytes. */
export interface BatchSizes {
  /** No batch takes more. */
  readonly largestBytes: number;
  /** No full batch takes less. */
  readonly smallestBytes: number;
  /** Of what one sample takes: mean, standard deviation, most. */
  readonly meanBytes: number;
  readonly deviationBytes: number;
  readonly longestBytes: number;
}

/**
 * Bounds from the lengths of all rows, in O(rows log batchSamples) and O(batchSamples) of memory. In the order of the manifest the batches
 * are known, and `largestBytes` is of one of them; shuffled, any samples may come together.
 */
export function batchSizes(manifest: Manifest, layout: BatchLayout): BatchSizes {
  const { rows } = manifest;
  const most = Math.min(layout.batchSamples, rows);
  const [largest, smallest] = [new Largest(most), new Largest(most)];
  const taken = takenBytes(manifest, layout);
  let [sum, squares, longest] = [0, 0, 0];
  for (let row = 0; row < rows; row++) {
    const bytes = taken(row);
    largest.add(bytes);
    smallest.add(-manifest.length(row));
    sum += bytes;
    squares += bytes * bytes;
    longest = Math.max(longest, bytes);
  }
  // Padding repeats samples where a batch is longer than the data set.
  const turns = layout.tail === 'pad' ? Math.floor(layout.batchSamples / rows) : 0;
  const rest = layout.tail === 'pad' ? layout.batchSamples % rows : most;
  const mean = sum / rows;
  return {
    largestBytes:
      layout.shuffle === 'none' ? largestInOrder(rows, taken, layout) : turns * sum + largest.sum(rest),
    smallestBytes: turns * manifest.totalLength - smallest.sum(rest),
    meanBytes: mean,
    deviationBytes: Math.sqrt(Math.max(0, squares / rows - mean * mean)),
    longestBytes: longest,
  };
}

/** Most that a sample takes of its batch. */
function takenBytes(manifest: Manifest, { alignBytes, gapBytes }: BatchLayout): (row: number) => number {
  return (row) => {
    const gap = gapBytes > 0 && manifest.objectHandle(row) !== row ? gapBytes : 0;
    return Math.ceil(manifest.length(row) / alignBytes) * alignBytes + gap;
  };
}

function largestInOrder(rows: number, taken: (row: number) => number, layout: BatchLayout): number {
  const { tail, batchSamples, rank, worldSize } = layout;
  const global = batchSamples * worldSize;
  let largest = 0;
  for (let start = 0; start < rows; start += global) {
    const isFull = start + global <= rows;
    if (!isFull && tail === 'drop') break;
    // What is left under `partial` is shared out anew: at most all of it comes to one rank.
    const whole = isFull || tail === 'pad';
    const [from, to] = whole
      ? [start + rank * batchSamples, start + (rank + 1) * batchSamples]
      : [start, Math.min(rows, start + global)];
    let bytes = 0;
    for (let position = from; position < to; position++) bytes += taken(position % rows);
    largest = Math.max(largest, bytes);
  }
  return largest;
}

/**
 * A bound on the chance that one of `batches` batches of samples drawn evenly takes more than `limitBytes` (Bernstein's inequality, which
 * holds for draws without replacement, too: Hoeffding 1963, section 6).
 */
export function chanceAbove(
  sizes: BatchSizes,
  batchSamples: number,
  batches: number,
  limitBytes: number,
): number {
  const excess = limitBytes - batchSamples * sizes.meanBytes;
  if (excess <= 0) return 1;
  const spread = batchSamples * sizes.deviationBytes ** 2;
  const reach = ((sizes.longestBytes - sizes.meanBytes) * excess) / 3;
  return Math.min(1, batches * Math.exp(-(excess * excess) / (2 * (spread + reach))));
}
