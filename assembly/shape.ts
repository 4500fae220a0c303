// The shape of requests: neighbours in one object become one range ("extent"), and each extent gets its place in the
// batch. A merged extent lies in landing memory as it lies in the object, gaps included, so that one body is received in
// one piece. Extents stand in the order of their first sample, so batches without merging are contiguous in batch order.
import { state } from './state';
import { Batch, NONE, SORT_INDEX, SORT_SCRATCH, Sample, extentAt, sampleAt } from './tables';

const UNPLACED: u64 = u64.MAX_VALUE;

// @ts-ignore: decorator
@inline
function indexAt(i: u32): u32 {
  return load<u32>(SORT_INDEX + <usize>(i << 2));
}

// @ts-ignore: decorator
@inline
function setIndex(i: u32, value: u32): void {
  store<u32>(SORT_INDEX + <usize>(i << 2), value);
}

/** Extents, their places, and every sample's extent. */
export function layOut(batch: Batch): void {
  batch.extents = state.merge_bytes > 0 && mayMerge(batch) ? mergeExtents(batch) : singleExtents(batch);
  placeExtents(batch);
  let bytes: u64 = 0;
  for (let i: u32 = 0; i < batch.samples; i++) bytes += sampleAt(batch.first + i).length;
  batch.bytes = bytes;
  skipEmptyExtents(batch);
}

/** Two samples can only merge if an object occurs twice; an object's first row names it, so a cheap look often decides. */
function mayMerge(batch: Batch): bool {
  for (let i: u32 = 0; i < batch.samples; i++) {
    const sample = sampleAt(batch.first + i);
    if (<u64>sample.object != sample.row) return true;
  }
  return false;
}

function singleExtents(batch: Batch): u32 {
  for (let i: u32 = 0; i < batch.samples; i++) startExtent(batch, i, sampleAt(batch.first + i));
  return batch.samples;
}

function startExtent(batch: Batch, index: u32, sample: Sample): void {
  const extent = extentAt(batch.first + index);
  extent.row = sample.row;
  extent.offset = sample.offset;
  extent.length = sample.length;
  extent.landing = UNPLACED;
  sample.extent = index;
}

function mergeExtents(batch: Batch): u32 {
  sortByPlace(batch);
  let extents: u32 = 0;
  let open: u32 = NONE; // the extent that grows; empty samples stand apart and do not end it
  let object: u32 = 0;
  for (let i: u32 = 0; i < batch.samples; i++) {
    const sample = sampleAt(batch.first + indexAt(i));
    if (open != NONE && sample.object == object && joins(batch, open, sample)) {
      const extent = extentAt(batch.first + open);
      extent.length = sample.offset + sample.length - extent.offset;
      sample.extent = open;
      continue;
    }
    startExtent(batch, extents, sample);
    if (sample.length > 0) {
      open = extents;
      object = sample.object;
    }
    extents += 1;
  }
  return extents;
}

// Overlapping ranges stay apart: two samples never share bytes of landing memory.
function joins(batch: Batch, index: u32, sample: Sample): bool {
  const extent = extentAt(batch.first + index);
  const end = extent.offset + extent.length;
  if (sample.length == 0 || sample.offset < end) return false;
  return sample.offset - end <= state.merge_gap && sample.offset + sample.length - extent.offset <= state.merge_bytes;
}

function placeExtents(batch: Batch): void {
  const mask = ~(<u64>state.align - 1);
  let cursor: u64 = 0;
  for (let i: u32 = 0; i < batch.samples; i++) {
    const extent = extentAt(batch.first + sampleAt(batch.first + i).extent);
    if (extent.landing != UNPLACED) continue;
    cursor = (cursor + state.align - 1) & mask;
    extent.landing = cursor;
    cursor += extent.length;
  }
  batch.landing_bytes = cursor;
}

/** Moves the batch's dispatch cursor past extents without bytes: nothing is ever requested for an empty sample. */
export function skipEmptyExtents(batch: Batch): void {
  while (batch.dispatch_extent < batch.extents && extentAt(batch.first + batch.dispatch_extent).length == 0) {
    batch.dispatch_extent += 1;
  }
  if (batch.dispatch_extent >= batch.extents) batch.all_dispatched = 1;
}

// ---- sort by (object, offset, index): bottom-up merge sort, stable, no recursion ------------------

function sortByPlace(batch: Batch): void {
  const n = batch.samples;
  for (let i: u32 = 0; i < n; i++) setIndex(i, i);
  for (let width: u32 = 1; width < n; width *= 2) {
    for (let left: u32 = 0; left < n; left += 2 * width) mergeRuns(batch, left, min(left + width, n), min(left + 2 * width, n));
    memory.copy(SORT_INDEX, SORT_SCRATCH, <usize>(n << 2));
  }
}

function mergeRuns(batch: Batch, left: u32, middle: u32, right: u32): void {
  let a = left;
  let b = middle;
  for (let out = left; out < right; out++) {
    const takeRight = a >= middle || (b < right && precedes(batch, indexAt(b), indexAt(a)));
    store<u32>(SORT_SCRATCH + <usize>(out << 2), takeRight ? indexAt(b++) : indexAt(a++));
  }
}

// @ts-ignore: decorator
@inline
function precedes(batch: Batch, x: u32, y: u32): bool {
  const a = sampleAt(batch.first + x);
  const b = sampleAt(batch.first + y);
  return a.object < b.object || (a.object == b.object && a.offset < b.offset);
}
