// Staging memory: bodies that cannot be received in place, and hedges, which must never write where the first request
// still writes. Handed out in ring order, freed in any order.
import { memoryGive, memoryTake, state } from './state';
import { MAX_SEGMENTS, NONE, ringFind, ringRelease, ringReset, ringTake, segmentAt, stagingRing } from './tables';

const ALIGN: u64 = 64;

export function stagingReset(): void {
  ringReset(stagingRing(), state.staging_bytes);
  state.segment_head = 0;
  state.segment_tail = 0;
}

/**
 * A segment of at least `length` bytes, or NONE. Bodies have a share of the budget that landing memory never takes, or a
 * budget full of batches to fetch could fetch none; speculation has only what is left.
 */
export function stagingTake(length: u64, speculative: bool): u32 {
  const size = (length + ALIGN - 1) & ~(ALIGN - 1);
  if (state.segment_tail - state.segment_head >= MAX_SEGMENTS) return NONE;
  if (state.staging_used + size > state.staging_limit) return NONE;
  if (speculative && state.memory_used + size > state.memory_limit) return NONE;
  const at = ringFind(stagingRing(), size);
  if (at == u64.MAX_VALUE) return NONE;
  ringTake(stagingRing(), at, size);
  state.staging_used += size;
  memoryTake(size);
  const id = state.segment_tail % MAX_SEGMENTS;
  state.segment_tail += 1;
  const segment = segmentAt(id);
  segment.offset = at;
  segment.length = size;
  segment.freed = 0;
  return id;
}

export function stagingFree(id: u32): void {
  if (id == NONE) return;
  const segment = segmentAt(id);
  assert(segment.freed == 0);
  segment.freed = 1;
  state.staging_used -= segment.length;
  memoryGive(segment.length);
  while (state.segment_head != state.segment_tail) {
    const oldest = segmentAt(state.segment_head % MAX_SEGMENTS);
    if (!oldest.freed) return;
    state.segment_head += 1;
    const next = segmentAt(state.segment_head % MAX_SEGMENTS);
    ringRelease(stagingRing(), oldest.length, next.offset);
  }
}
