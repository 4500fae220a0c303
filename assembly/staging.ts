// Staging memory: bodies that cannot be received in place, and hedges, which must never write where the first request
// still writes. Bodies end in any order, so this is a general allocator: two-level segregated fit (Masmano, Ripoll, Crespo,
// Real, "TLSF", ECRTS 2004), constant time, with its tags in a table beside the memory. A ring would be simpler, and one slow
// body would hold up everything behind it.
import { memoryGive, memoryTake, state } from './state';
import { MAX_SEGMENTS, NONE, STAGING_LISTS, STAGING_MAPS, Segment, segmentAt } from './tables';

const ALIGN: u64 = 64;
const SUB_BITS: u32 = 3;
const SUBS: u32 = 1 << SUB_BITS;
const LEAST_LEVEL: u32 = 6; // blocks are multiples of 64 bytes

export function stagingReset(): void {
  state.staging_map = 0;
  memory.fill(STAGING_MAPS, 0, 64);
  memory.fill(STAGING_LISTS, 0xff, 64 * SUBS * 4);
  state.segments_used = 0;
  state.free_segment = NONE;
  state.staging_used = 0;
  if (state.staging_bytes == 0) return;
  const id = takeRecord();
  const segment = segmentAt(id);
  segment.offset = 0;
  segment.length = state.staging_bytes;
  segment.before = NONE;
  segment.after = NONE;
  listInsert(id);
}

/**
 * A segment of at least `length` bytes, or NONE. Bodies have a share of the budget that landing memory never takes, or a
 * budget full of batches to fetch could fetch none; speculation has only what is left.
 */
export function stagingTake(length: u64, speculative: bool): u32 {
  const size = (length + ALIGN - 1) & ~(ALIGN - 1);
  if (state.staging_used + size > state.staging_limit) return NONE;
  if (speculative && state.memory_used + size > state.memory_limit) return NONE;
  const id = find(size);
  if (id == NONE) return NONE;
  listRemove(id);
  const segment = segmentAt(id);
  if (segment.length > size && recordsLeft()) split(id, size);
  segment.free = 0;
  state.staging_used += segment.length;
  memoryTake(segment.length);
  return id;
}

export function stagingFree(id: u32): void {
  if (id == NONE) return;
  const segment = segmentAt(id);
  assert(segment.free == 0);
  state.staging_used -= segment.length;
  memoryGive(segment.length);
  let whole = id;
  if (segment.after != NONE && segmentAt(segment.after).free) {
    listRemove(segment.after);
    join(id, segment.after);
  }
  if (segment.before != NONE && segmentAt(segment.before).free) {
    whole = segment.before;
    listRemove(whole);
    join(whole, id);
  }
  listInsert(whole);
}

// ---- neighbours ---------------------------------------------------------------------------------

function split(id: u32, size: u64): void {
  const rest = takeRecord();
  const segment = segmentAt(id);
  const behind = segmentAt(rest);
  behind.offset = segment.offset + size;
  behind.length = segment.length - size;
  behind.before = id;
  behind.after = segment.after;
  if (segment.after != NONE) segmentAt(segment.after).before = rest;
  segment.after = rest;
  segment.length = size;
  listInsert(rest);
}

/** The second one's bytes go to the first. */
function join(first: u32, second: u32): void {
  const segment = segmentAt(first);
  const behind = segmentAt(second);
  segment.length += behind.length;
  segment.after = behind.after;
  if (behind.after != NONE) segmentAt(behind.after).before = first;
  behind.next = state.free_segment;
  state.free_segment = second;
}

function recordsLeft(): bool {
  return state.free_segment != NONE || state.segments_used < MAX_SEGMENTS;
}

function takeRecord(): u32 {
  const id = state.free_segment;
  if (id != NONE) {
    state.free_segment = segmentAt(id).next;
    return id;
  }
  state.segments_used += 1;
  return state.segments_used - 1;
}

// ---- lists of free segments, by size class ------------------------------------------------------

// @ts-ignore: decorator
@inline
function levelOf(size: u64): u32 {
  return <u32>(63 - clz<u64>(size));
}

// @ts-ignore: decorator
@inline
function subOf(size: u64, level: u32): u32 {
  return <u32>(size >> (level - SUB_BITS)) & (SUBS - 1);
}

// @ts-ignore: decorator
@inline
function headAt(level: u32, sub: u32): usize {
  return STAGING_LISTS + <usize>(((level << SUB_BITS) | sub) << 2);
}

/** The first segment of the smallest class in which all are large enough; else one of the size's own class that is. */
function find(size: u64): u32 {
  const level = levelOf(size);
  const step = (<u64>1 << (level - SUB_BITS)) - 1;
  const rounded = size + step;
  const from = levelOf(rounded);
  const subs = <u32>load<u8>(STAGING_MAPS + <usize>from) & ~((1 << subOf(rounded, from)) - 1);
  if (subs != 0) return load<u32>(headAt(from, ctz<u32>(subs)));
  const levels = from >= 63 ? 0 : state.staging_map & ~((<u64>2 << from) - 1);
  if (levels != 0) {
    const next = <u32>ctz<u64>(levels);
    return load<u32>(headAt(next, ctz<u32>(<u32>load<u8>(STAGING_MAPS + <usize>next))));
  }
  return firstFit(size, level);
}

const LOOKS: u32 = 16;

function firstFit(size: u64, level: u32): u32 {
  let id = load<u32>(headAt(level, subOf(size, level)));
  for (let i: u32 = 0; i < LOOKS && id != NONE; i++) {
    if (segmentAt(id).length >= size) return id;
    id = segmentAt(id).next;
  }
  return NONE;
}

function listInsert(id: u32): void {
  const segment: Segment = segmentAt(id);
  const level = levelOf(segment.length);
  assert(level >= LEAST_LEVEL);
  const sub = subOf(segment.length, level);
  const head = load<u32>(headAt(level, sub));
  segment.free = 1;
  segment.next = head;
  segment.previous = NONE;
  if (head != NONE) segmentAt(head).previous = id;
  store<u32>(headAt(level, sub), id);
  state.staging_map |= <u64>1 << level;
  store<u8>(STAGING_MAPS + <usize>level, load<u8>(STAGING_MAPS + <usize>level) | (<u8>1 << <u8>sub));
}

function listRemove(id: u32): void {
  const segment = segmentAt(id);
  const level = levelOf(segment.length);
  const sub = subOf(segment.length, level);
  if (segment.next != NONE) segmentAt(segment.next).previous = segment.previous;
  if (segment.previous != NONE) {
    segmentAt(segment.previous).next = segment.next;
  } else {
    store<u32>(headAt(level, sub), segment.next);
    if (segment.next == NONE) {
      const subs = load<u8>(STAGING_MAPS + <usize>level) & ~((<u8>1 << <u8>sub));
      store<u8>(STAGING_MAPS + <usize>level, subs);
      if (subs == 0) state.staging_map &= ~(<u64>1 << level);
    }
  }
  segment.free = 0;
}
