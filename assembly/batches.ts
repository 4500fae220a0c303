// The life of a batch until its parts can be requested: opened in order, its samples' places asked for, laid out, and
// given landing memory. Sizes are known before bytes arrive, so every part is fetched straight to its final place.
import { actionRoom, beginAction, commitAction, putWide, putWord } from './actions';
import { memoryGive, memoryTake, setError, setFlag, state } from './state';
import * as L from './layout';
import { layOut } from './shape';
import { rowAt, shareLength, shareStart } from './order';
import {
  BATCH_CONSUMED,
  BATCH_DELIVERED,
  BATCH_FETCHING,
  BATCH_FREE,
  BATCH_READY,
  BATCH_RESOLVING,
  BATCH_SEALED,
  Batch,
  Consumer,
  NONE,
  batchAt,
  consumerAt,
  landingRing,
  ringFind,
  ringRelease,
  ringReset,
  ringTake,
  sampleAt,
  sampleRing,
} from './tables';
import { windowAllows, windowStart } from './window';
import { fail } from './failure';

const LANDING_ALIGN: u64 = 64;
const MOST_BYTES: u64 = 1 << 46;

export function consumersReset(start_epoch: u32, start_batch: u32): void {
  for (let index: u32 = 0; index < state.consumers; index++) {
    const c = consumerAt(index);
    memory.fill(changetype<usize>(c), 0, offsetof<Consumer>());
    c.rank = state.first_rank + index;
    c.next_epoch = start_epoch;
    c.next_batch = start_batch;
    c.oldest = NONE;
    c.newest = NONE;
    c.resolve_at = NONE;
    c.grant_at = NONE;
    c.dispatch_at = NONE;
    c.deliver_at = NONE;
    c.window_bytes = windowStart();
    ringReset(sampleRing(index), L.MAX_SAMPLES / state.consumers);
    ringReset(landingRing(index), state.landing_bytes);
    if (state.order != L.ORDER_EXTERNAL) findNext(c);
  }
}

/** Moves (next_epoch, next_batch) to the next batch in which this rank has a share. */
function findNext(c: Consumer): void {
  for (;;) {
    if (c.next_epoch >= state.epochs || state.batches_per_epoch == 0) {
      c.opened_all = 1;
      return;
    }
    if (<u64>c.next_batch >= state.batches_per_epoch) {
      c.next_epoch += 1;
      c.next_batch = 0;
      continue;
    }
    if (shareLength(c.rank, c.next_batch) > 0) return;
    c.next_batch += 1;
  }
}

// ---- opening ------------------------------------------------------------------------------------

/** Opens the consumer's next batch if it is time; false: nothing was opened. */
export function openNext(index: u32): bool {
  const c = consumerAt(index);
  if (c.opened_all || state.order == L.ORDER_EXTERNAL) return false;
  // One batch at a time waits for memory: to know more of the future than can be held has no use.
  if (c.grant_at != NONE) return false;
  const samples = <u32>shareLength(c.rank, c.next_batch);
  const at = openBatch(index, samples);
  if (at == NONE) return false;
  const batch = batchAt(at);
  batch.samples = samples;
  const start = shareStart(c.rank, batch.batch);
  for (let i: u32 = 0; i < samples; i++) {
    const position = start + i;
    const sample = sampleAt(batch.first + i);
    const pad = position >= state.samples;
    sample.row = rowAt(batch.epoch, pad ? position % state.samples : position);
    sample.flags = pad ? L.SAMPLE_IS_PAD : 0;
    if (pad) batch.pads += 1;
  }
  c.next_batch += 1;
  findNext(c);
  return true;
}

/** Takes a batch record and sample slots; NONE: no room yet. */
function openBatch(index: u32, slots: u32): u32 {
  const c = consumerAt(index);
  if (c.open_batches >= <u32>L.MAX_BATCHES / state.consumers) return NONE;
  const at = ringFind(sampleRing(index), slots);
  if (at == u64.MAX_VALUE) return NONE;
  const id = takeBatch();
  c.open_batches += 1;
  ringTake(sampleRing(index), at, slots);
  const batch = batchAt(id);
  memory.fill(changetype<usize>(batch), 0, offsetof<Batch>());
  batch.state = BATCH_RESOLVING;
  batch.consumer = index;
  batch.epoch = c.next_epoch;
  batch.batch = c.next_batch;
  batch.next = NONE;
  batch.first = index * (L.MAX_SAMPLES / state.consumers) + <u32>at;
  batch.slots = slots;
  for (let i: u32 = 0; i < slots; i++) {
    const sample = sampleAt(batch.first + i);
    sample.resolved = 0;
    sample.skip_class = 0;
    sample.length = 0;
  }
  if (c.newest == NONE) c.oldest = id;
  else batchAt(c.newest).next = id;
  c.newest = id;
  if (c.resolve_at == NONE) c.resolve_at = id;
  if (c.grant_at == NONE) c.grant_at = id;
  if (c.dispatch_at == NONE) c.dispatch_at = id;
  if (c.deliver_at == NONE) c.deliver_at = id;
  return id;
}

function takeBatch(): u32 {
  const id = state.free_batch;
  if (id != NONE) {
    state.free_batch = batchAt(id).next;
    return id;
  }
  assert(state.batches_used < <u32>L.MAX_BATCHES);
  state.batches_used += 1;
  return state.batches_used - 1;
}

/** External order: one more position. */
export function onRequested(index: u32, row: u64, flags: u32): void {
  if (state.order != L.ORDER_EXTERNAL || index >= state.consumers) return setError(L.ERROR_EVENT, L.EVENT_REQUESTED);
  const c = consumerAt(index);
  if (c.ends_external) return setError(L.ERROR_EVENT, L.EVENT_REQUESTED);
  const newest = c.newest;
  let open: u32 = newest != NONE && batchAt(newest).open ? newest : NONE;
  if (flags & L.REQUESTED_ENDS) {
    c.ends_external = 1;
    c.opened_all = 1;
    if (open != NONE) closeBatch(open);
    return;
  }
  if (row >= state.samples) return setError(L.ERROR_EVENT, L.EVENT_REQUESTED);
  if (<u64>c.outstanding_positions >= state.lookahead) return setError(L.ERROR_CAPACITY, L.EVENT_REQUESTED);
  if (open == NONE) {
    open = openBatch(index, <u32>state.batch_samples);
    if (open == NONE) return setError(L.ERROR_CAPACITY, L.EVENT_REQUESTED);
    batchAt(open).open = 1;
    c.next_batch += 1;
  }
  const batch = batchAt(open);
  const sample = sampleAt(batch.first + batch.samples);
  sample.row = row;
  sample.flags = 0;
  batch.samples += 1;
  c.outstanding_positions += 1;
  if (batch.samples == batch.slots || (flags & L.REQUESTED_CLOSES_BATCH) != 0) closeBatch(open);
}

function closeBatch(id: u32): void {
  const batch = batchAt(id);
  batch.open = 0;
  if (batch.resolved == batch.samples) seal(batch);
}

// ---- places -------------------------------------------------------------------------------------

/** Emits RESOLVE actions for as long as there is room. */
export function emitResolves(index: u32): void {
  const c = consumerAt(index);
  while (c.resolve_at != NONE) {
    const batch = batchAt(c.resolve_at);
    while (batch.resolve_emitted < batch.samples) {
      if (actionRoom() == 0) return setFlag(L.FLAG_MORE);
      const slot = batch.first + batch.resolve_emitted;
      const record = beginAction(L.ACTION_RESOLVE, index);
      putWord(record, L.W_ID, slot);
      putWord(record, L.W_EPOCH, batch.epoch);
      putWord(record, L.W_BATCH, batch.batch);
      putWide(record, L.RESOLVE_D_ROW, sampleAt(slot).row);
      commitAction(record);
      batch.resolve_emitted += 1;
    }
    if (batch.open) return;
    c.resolve_at = batch.next;
  }
}

export function onResolved(slot: u32, object: u32, offset: u64, length: u64): void {
  const index = slot / (L.MAX_SAMPLES / state.consumers);
  if (slot >= <u32>L.MAX_SAMPLES || index >= state.consumers) return setError(L.ERROR_EVENT, L.EVENT_RESOLVED);
  const id = resolvingBatch(consumerAt(index), slot);
  if (id == NONE || sampleAt(slot).resolved) return setError(L.ERROR_EVENT, L.EVENT_RESOLVED);
  // Sums of lengths and ends of ranges must be whole numbers that fit; no store holds more than this in one object.
  if (length > MOST_BYTES || offset > MOST_BYTES) return setError(L.ERROR_EVENT, L.EVENT_RESOLVED);
  const sample = sampleAt(slot);
  sample.object = object;
  sample.offset = offset;
  sample.length = length;
  sample.resolved = 1;
  const batch = batchAt(id);
  batch.resolved += 1;
  if (batch.resolved == batch.samples && !batch.open) seal(batch);
}

/** The batch that a slot belongs to, while it still asks for places. */
function resolvingBatch(c: Consumer, slot: u32): u32 {
  for (let id = c.grant_at; id != NONE; id = batchAt(id).next) {
    const batch = batchAt(id);
    if (slot >= batch.first && slot < batch.first + batch.resolve_emitted) {
      return batch.state == BATCH_RESOLVING ? id : NONE;
    }
  }
  return NONE;
}

function seal(batch: Batch): void {
  layOut(batch);
  batch.state = BATCH_SEALED;
}

// ---- landing memory -----------------------------------------------------------------------------

/** Gives landing memory to sealed batches, in order, as far as window and budget allow. */
export function grant(index: u32): bool {
  const c = consumerAt(index);
  let granted = false;
  c.window_bound = 0;
  while (c.grant_at != NONE) {
    const batch = batchAt(c.grant_at);
    if (batch.state != BATCH_SEALED) break;
    // Whole units: so every batch, and every range in it, begins at a multiple of layout.align.
    const unit = max<u64>(LANDING_ALIGN, state.align);
    const size = (max<u64>(batch.landing_bytes, 1) + unit - 1) & ~(unit - 1);
    if (size > state.landing_limit && (size > state.landing_bytes || c.open_bytes == 0)) {
      tooLarge(batch, size, state.landing_limit);
      break;
    }
    if (!windowAllows(c, batch, size)) {
      c.window_bound = 1;
      break;
    }
    const at = ringFind(landingRing(index), size);
    if (at == u64.MAX_VALUE || c.open_bytes + size > state.landing_limit) break;
    // While more than a lowered budget is in use, only who holds nothing is given one batch: ranks that step together would
    // wait for each other for ever.
    if (c.open_bytes > 0 && state.memory_used + size > state.memory_limit) break;
    ringTake(landingRing(index), at, size);
    memoryTake(size);
    batch.landing_offset = at;
    batch.landing_bytes = size;
    c.open_bytes += size;
    c.open_samples += batch.samples;
    batch.state = BATCH_FETCHING;
    c.grant_at = batch.next;
    granted = true;
    if (batch.all_dispatched) batchSettled(batch);
  }
  return granted;
}

function tooLarge(batch: Batch, needed: u64, limit: u64): void {
  let largest = batch.first;
  for (let i = batch.first; i < batch.first + batch.samples; i++) {
    if (sampleAt(i).length > sampleAt(largest).length) largest = i;
  }
  if (state.fail_code == 0) {
    state.fail_needed = needed;
    state.fail_limit = limit;
  }
  fail(L.ERROR_BATCH_TOO_LARGE, 0, L.NO_REQUEST, batch, sampleAt(largest).row);
}

/** Every part was requested and none is open any more. */
export function batchSettled(batch: Batch): void {
  if (batch.all_dispatched && batch.parts_open == 0 && batch.state == BATCH_FETCHING) {
    batch.state = BATCH_READY;
    state.ready_batches += 1;
  }
}

// ---- the end of a batch -------------------------------------------------------------------------

export function onConsumed(index: u32, epoch: u32, number: u32): void {
  if (index >= state.consumers) return setError(L.ERROR_EVENT, L.EVENT_CONSUMED);
  const c = consumerAt(index);
  for (let id = c.oldest; id != NONE && id != c.deliver_at; id = batchAt(id).next) {
    const batch = batchAt(id);
    if (batch.epoch == epoch && batch.batch == number && batch.state == BATCH_DELIVERED) {
      batch.state = BATCH_CONSUMED;
      c.ready -= 1;
      observeStep(c, batch);
      return freeOldest(c);
    }
  }
  setError(L.ERROR_EVENT, L.EVENT_CONSUMED);
}

const STEP_SMOOTHING: f64 = 0.2;

/** How long the consumer worked on a batch: from when it had it, or had done with the one before. */
function observeStep(c: Consumer, batch: Batch): void {
  const took = state.now_ns - max(c.consumed_ns, batch.delivered_ns);
  c.step_ns = c.step_ns == 0 ? took : c.step_ns + (took - c.step_ns) * STEP_SMOOTHING;
  c.consumed_ns = state.now_ns;
}

function freeOldest(c: Consumer): void {
  while (c.oldest != NONE && batchAt(c.oldest).state == BATCH_CONSUMED) {
    const id = c.oldest;
    const batch = batchAt(id);
    const next = batch.next;
    const base = <u64>(batch.consumer * (L.MAX_SAMPLES / state.consumers));
    let next_slots: u64 = 0;
    let next_landing: u64 = 0;
    if (next != NONE) {
      next_slots = <u64>batchAt(next).first - base;
      if (batchAt(next).state >= BATCH_FETCHING) next_landing = batchAt(next).landing_offset;
    }
    ringRelease(sampleRing(batch.consumer), batch.slots, next_slots);
    ringRelease(landingRing(batch.consumer), batch.landing_bytes, next_landing);
    memoryGive(batch.landing_bytes);
    c.open_bytes -= batch.landing_bytes;
    c.open_samples -= batch.samples;
    c.open_batches -= 1;
    c.oldest = next;
    // Dispatch looks at new parts only when no retry is due, so its cursor may still stand here.
    if (c.dispatch_at == id) c.dispatch_at = next;
    if (next == NONE) c.newest = NONE;
    batch.state = BATCH_FREE;
    state.ready_batches -= 1;
    batch.next = state.free_batch;
    state.free_batch = id;
  }
}
