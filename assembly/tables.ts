// Where everything lives. Each table is a run of fixed-size records in linear memory; nothing is allocated after init.
// Records are @unmanaged classes: typed windows on memory that cost nothing.
import {
  MAX_BATCHES,
  MAX_CONSUMERS,
  MAX_REQUESTS,
  MAX_SAMPLES,
  TABLES_OFFSET,
} from './layout';

export const NONE: u32 = 0xffffffff;

/** A region handed out front to back and freed in the same order; an allocation never wraps. */
@unmanaged
export class Ring {
  capacity: u64;
  head: u64; // start of the oldest live allocation
  tail: u64; // where the next one would begin
  used: u64; // sum of live allocations
  live: u32;
  reserved: u32;
}

/** One rank that is fed. Its batches form a list in delivery order; the pointers move along it and never back. */
@unmanaged
export class Consumer {
  rank: u32;
  next_epoch: u32; // the next batch to open
  next_batch: u32;
  opened_all: u32;
  oldest: u32; // oldest batch not yet freed
  newest: u32;
  resolve_at: u32; // first batch with RESOLVE actions to emit
  grant_at: u32; // first batch without landing memory
  dispatch_at: u32; // first batch with parts that were never requested
  deliver_at: u32; // first batch not yet delivered
  waiting: u32; // 1 between WAITING and DELIVER
  cause: u32; // STALL_* that a wait is charged to now
  delivered: u32; // 1 once any batch was delivered
  ended: u32; // END was emitted
  ends_external: u32; // external order: no position follows
  ready: u32; // batches delivered and not yet consumed
  consumed_ns: f64; // when the last batch was consumed
  step_ns: f64; // what a consumer takes for a batch, smoothed
  open_samples: u32; // samples of batches that hold landing memory
  batches: f64; // delivered
  window_bytes: f64; // adaptive window now
  open_bytes: u64; // landing bytes of batches that hold landing memory
  outstanding_positions: u32; // external order: positions taken and not yet delivered
  window_bound: u32; // the window was what held the next batch back
  open_batches: u32; // records in use
  reserved: u32;
}

export const BATCH_FREE: u32 = 0;
export const BATCH_RESOLVING: u32 = 1; // places of samples are being asked for
export const BATCH_SEALED: u32 = 2; // laid out; wants landing memory
export const BATCH_FETCHING: u32 = 3;
export const BATCH_READY: u32 = 4;
export const BATCH_DELIVERED: u32 = 5;
export const BATCH_CONSUMED: u32 = 6; // waits for older ones to be freed

@unmanaged
export class Batch {
  state: u32;
  consumer: u32;
  epoch: u32;
  batch: u32;
  next: u32;
  first: u32; // first sample slot, and first extent
  slots: u32; // sample slots held
  samples: u32;
  open: u32; // external order: positions may still be added
  resolve_emitted: u32;
  resolved: u32;
  pads: u32;
  extents: u32;
  dispatch_extent: u32; // the next part to request begins here ...
  dispatch_offset: u64; // ... and this far into the extent
  all_dispatched: u32;
  parts_open: u32; // requested and not yet in place
  awaiting_first_byte: u32; // attempts sent without an answer
  moving: u32; // attempts whose body moves
  backing_off: u32; // parts that wait for a retry
  throttled: u32; // ... because of a 503
  placing: u32;
  skipped: u32;
  skips_to_emit: u32;
  emitted: u32; // SAMPLE records emitted
  emitting: u32; // DELIVER was emitted, SAMPLE records are under way
  delivered_ns: f64;
  landing_offset: u64;
  landing_bytes: u64;
  bytes: u64; // sum of samples' lengths, holes excluded
}

@unmanaged
export class Sample {
  row: u64;
  offset: u64;
  length: u64;
  object: u32;
  extent: u32; // index within the batch
  flags: u32; // SAMPLE_IS_*
  skip_class: u32; // CLASS_* of a skip that is still to be told, else 0
  skip_request: u32;
  resolved: u32;
}

/** A range of one object that one or several samples of a batch share; cut into parts when it is requested. */
@unmanaged
export class Extent {
  row: u64;
  offset: u64; // in the object
  length: u64;
  landing: u64; // from the start of the batch
}

export const PART_FREE: u32 = 0;
export const PART_ACTIVE: u32 = 1; // one or two attempts under way
export const PART_BACKOFF: u32 = 2; // in a heap: waits for its time, or for its turn
export const PART_PLACING: u32 = 3;
export const PART_DRAINING: u32 = 4; // done or given up; a cancelled attempt has not reported yet

export const LEG_NONE: u32 = 0;
export const LEG_SENT: u32 = 1;
export const LEG_MOVING: u32 = 2; // the first byte came
export const LEG_WON: u32 = 3; // all bytes are in staging

/** One part of an extent, with up to two attempts ("legs") at once: the main one and a hedge. */
@unmanaged
export class Part {
  state: u32;
  generation: u32;
  batch: u32;
  extent: u32; // index within the batch
  row: u64;
  offset: u64; // in the object
  length: u64;
  target: u64; // in landing memory
  consumer: u32;
  tries: u32; // attempts that count against retry.attempts, those refused with 503 excepted
  refusals: u32; // with 503, in a row and with no answer to any other attempt in between
  refusals_all: u32;
  attempts: u32; // numbers given out, replays and hedges included
  main_attempt: u32;
  hedge_attempt: u32;
  main_leg: u32;
  hedge_leg: u32;
  main_cancelled: u32; // CANCEL is wanted or was sent
  hedge_cancelled: u32;
  main_segment: u32; // in staging, or NONE
  hedge_segment: u32;
  cancel_main: u32; // CANCEL still to be emitted
  cancel_hedge: u32;
  place_from: u32; // staging segment to PLACE, or NONE
  place_emitted: u32;
  last_class: u32;
  replayed: u32; // a stale connection was replayed already
  hedged: u32;
  sent_ns: f64;
  first_ns: f64; // first byte of the main attempt
  hedge_sent_ns: f64;
  heap_key: u64;
  heap_tie: u32;
  not_before_ns: f64; // what the store asked for
  refused_ns: f64; // last 503
  born: u32; // age among the parts of a batch
  list_next: u32; // free list, cancel queue or place queue
  wait_prev: u32; // list of parts without a first byte, oldest first
  wait_next: u32;
  in_wait_list: u32;
  in_queue: u32;
}

/** A run of staging memory, in use or free; the runs follow each other without gaps. */
@unmanaged
export class Segment {
  offset: u64;
  length: u64;
  free: u32;
  before: u32; // neighbours in memory
  after: u32;
  previous: u32; // in a list of free segments; `next` also links unused records
  next: u32;
  reserved: u32;
}

export const MAX_SEGMENTS: u32 = 2 * MAX_REQUESTS;
export const LATENCY_BUCKETS: u32 = 512;
export const STATE_BYTES: usize = 4096;

export const STATE: usize = TABLES_OFFSET;
export const LATENCY: usize = STATE + STATE_BYTES;
export const STAGING_LISTS: usize = LATENCY + 4 * LATENCY_BUCKETS; // heads: 64 levels of 8
export const STAGING_MAPS: usize = STAGING_LISTS + 64 * 8 * 4; // one byte a level: lists that hold something
export const RINGS: usize = STAGING_MAPS + 64;
export const CONSUMERS: usize = RINGS + 2 * MAX_CONSUMERS * offsetof<Ring>();
export const BATCHES: usize = CONSUMERS + MAX_CONSUMERS * offsetof<Consumer>();
export const SAMPLES: usize = BATCHES + MAX_BATCHES * offsetof<Batch>();
export const EXTENTS: usize = SAMPLES + MAX_SAMPLES * offsetof<Sample>();
export const SORT_INDEX: usize = EXTENTS + MAX_SAMPLES * offsetof<Extent>();
export const SORT_SCRATCH: usize = SORT_INDEX + MAX_SAMPLES * 4;
export const PARTS: usize = SORT_SCRATCH + MAX_SAMPLES * 4;
export const RETRY_HEAP: usize = PARTS + MAX_REQUESTS * offsetof<Part>();
export const SEGMENTS: usize = RETRY_HEAP + MAX_REQUESTS * 4;
export const DUE_HEAP: usize = SEGMENTS + MAX_SEGMENTS * offsetof<Segment>();
export const TABLES_END: usize = DUE_HEAP + MAX_REQUESTS * 4;

// @ts-ignore: decorator
@inline
export function consumerAt(index: u32): Consumer {
  return changetype<Consumer>(CONSUMERS + index * offsetof<Consumer>());
}

// @ts-ignore: decorator
@inline
export function batchAt(index: u32): Batch {
  return changetype<Batch>(BATCHES + index * offsetof<Batch>());
}

// @ts-ignore: decorator
@inline
export function sampleAt(index: u32): Sample {
  return changetype<Sample>(SAMPLES + index * offsetof<Sample>());
}

// @ts-ignore: decorator
@inline
export function extentAt(index: u32): Extent {
  return changetype<Extent>(EXTENTS + index * offsetof<Extent>());
}

// @ts-ignore: decorator
@inline
export function partAt(index: u32): Part {
  return changetype<Part>(PARTS + index * offsetof<Part>());
}

// @ts-ignore: decorator
@inline
export function segmentAt(index: u32): Segment {
  return changetype<Segment>(SEGMENTS + index * offsetof<Segment>());
}

/** Slots of the sample table that a consumer's batches take. */
// @ts-ignore: decorator
@inline
export function sampleRing(consumer: u32): Ring {
  return changetype<Ring>(RINGS + consumer * offsetof<Ring>());
}

/** Bytes of a consumer's landing memory. */
// @ts-ignore: decorator
@inline
export function landingRing(consumer: u32): Ring {
  return changetype<Ring>(RINGS + (MAX_CONSUMERS + consumer) * offsetof<Ring>());
}

// ---- Ring ---------------------------------------------------------------------------------------

export function ringReset(ring: Ring, capacity: u64): void {
  ring.capacity = capacity;
  ring.head = 0;
  ring.tail = 0;
  ring.used = 0;
  ring.live = 0;
}

/** Where `size` (> 0) would go, or u64.MAX_VALUE. */
export function ringFind(ring: Ring, size: u64): u64 {
  if (ring.live == 0) return size <= ring.capacity ? 0 : u64.MAX_VALUE;
  if (ring.tail > ring.head) {
    if (ring.capacity - ring.tail >= size) return ring.tail;
    return ring.head >= size ? 0 : u64.MAX_VALUE;
  }
  return ring.head - ring.tail >= size ? ring.tail : u64.MAX_VALUE;
}

export function ringTake(ring: Ring, at: u64, size: u64): void {
  if (ring.live == 0) ring.head = at;
  ring.tail = at + size;
  ring.used += size;
  ring.live += 1;
}

/** Frees the oldest allocation; `nextStart` is where the one after it begins (any value if there is none). */
export function ringRelease(ring: Ring, size: u64, nextStart: u64): void {
  ring.used -= size;
  ring.live -= 1;
  if (ring.live == 0) {
    ring.head = 0;
    ring.tail = 0;
  } else {
    ring.head = nextStart;
  }
}
