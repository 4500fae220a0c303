// Late binding: what to request is decided when a place is free, the earliest deadline first. Retries that are due go
// first (their batch is older than anything new), then the consumer whose next batch is earliest, then hedges.
import { actionRoom, beginAction, commitAction, putWide, putWord } from './actions';
import { skipEmptyExtents } from './shape';
import { concurrencyBound, concurrencyLimit } from './concurrency';
import * as L from './layout';
import { backoffOver, cancelQueuePop, placeQueuePop, partsLeft, requestId, takePart, waitPush, waitRemove } from './parts';
import { rateAllows, rateNextNs, rateSpares, rateTake } from './pacing';
import { HEAP_BACKOFF, HEAP_DUE, heapLength, heapPop, heapPush, heapTop } from './heap';
import { retryAllowed, retryEarn, retryNextNs, retryTake } from './retry';
import { stagingTake } from './staging';
import { count, setFlag, state } from './state';
import { BATCH_FETCHING, Batch, LEG_SENT, NONE, PART_ACTIVE, Part, batchAt, consumerAt, extentAt, partAt, segmentAt } from './tables';

// The last tokens are kept for what is later by far than most: a request that hangs.
const HEDGE_RESERVE: f64 = 4;
const HEDGE_HANGS: f64 = 4; // times the usual delay
const HEDGE_LEAST_SAMPLES: f64 = 32;
const HEDGE_MOST_TOKENS: f64 = 256;

// Why the last dispatch ended; the deadline is made from it.
export const BLOCKED_NOT: u32 = 0;
export const BLOCKED_RATE: u32 = 1;

/** Emits FETCH actions while there is a place, a token and room; returns BLOCKED_*. */
export function dispatch(): u32 {
  let retry = retryDue();
  let consumer = retry ? NONE : earliestConsumer();
  while (retry || consumer != NONE) {
    if (state.in_flight >= concurrencyLimit()) {
      concurrencyBound();
      break;
    }
    if (actionRoom() == 0) {
      setFlag(L.FLAG_MORE);
      break;
    }
    if (!rateAllows()) return BLOCKED_RATE;
    if (!(retry ? sendRetry() : sendNext(consumer))) {
      // Staging is full: more than enough is under way.
      concurrencyBound();
      break;
    }
    retry = retryDue();
    consumer = retry ? NONE : earliestConsumer();
  }
  return BLOCKED_NOT;
}

// ---- new parts ----------------------------------------------------------------------------------

/** Batches in the order in which they are needed. */
// @ts-ignore: decorator
@inline
function batchKey(batch: Batch): u64 {
  return (<u64>batch.epoch << 32) | batch.batch;
}

/** The consumer with a part to request whose batch comes first; ties go to the lower rank. */
function earliestConsumer(): u32 {
  let best: u32 = NONE;
  let best_key: u64 = u64.MAX_VALUE;
  for (let index: u32 = 0; index < state.consumers; index++) {
    const c = consumerAt(index);
    while (c.dispatch_at != NONE && batchAt(c.dispatch_at).all_dispatched && batchAt(c.dispatch_at).state >= BATCH_FETCHING) {
      c.dispatch_at = batchAt(c.dispatch_at).next;
    }
    if (c.dispatch_at == NONE) continue;
    const batch = batchAt(c.dispatch_at);
    if (batch.state != BATCH_FETCHING || batch.all_dispatched) continue;
    const key = batchKey(batch);
    if (key < best_key) {
      best_key = key;
      best = index;
    }
  }
  return best;
}

function sendNext(index: u32): bool {
  if (!partsLeft()) return false;
  const id = consumerAt(index).dispatch_at;
  const batch = batchAt(id);
  const extent = extentAt(batch.first + batch.dispatch_extent);
  const length = min(partBytes(), extent.length - batch.dispatch_offset);
  let segment: u32 = NONE;
  if (state.staged) {
    segment = stagingTake(length, false);
    if (segment == NONE) return false;
  }
  const at = takePart();
  const part = partAt(at);
  part.state = PART_ACTIVE;
  part.born = state.sequence++;
  part.batch = id;
  part.consumer = index;
  part.extent = batch.dispatch_extent;
  part.row = extent.row;
  part.offset = extent.offset + batch.dispatch_offset;
  part.length = length;
  part.target = batch.landing_offset + extent.landing + batch.dispatch_offset;
  part.main_segment = segment;
  advance(batch, length, extent.length);
  batch.parts_open += 1;
  retryEarn();
  if (state.hedging) state.hedge_tokens = min(HEDGE_MOST_TOKENS, state.hedge_tokens + state.hedge_share);
  sendMain(at);
  return true;
}

/**
 * A part should take at least as long to move as its request waits: where requests queue, at the store or for a core, fewer and
 * longer ones bring more. While the store refuses requests, parts are as long as they can be.
 */
function partBytes(): u64 {
  if (!state.concurrency_adaptive) return state.split_bytes;
  if (state.rate_limit > 0) return state.split_most;
  return max(state.split_bytes, min(state.split_most, state.part_bytes));
}

function advance(batch: Batch, length: u64, extent_length: u64): void {
  batch.dispatch_offset += length;
  if (batch.dispatch_offset < extent_length) return;
  batch.dispatch_offset = 0;
  batch.dispatch_extent += 1;
  skipEmptyExtents(batch);
}

function sendMain(at: u32): void {
  const part = partAt(at);
  part.attempts += 1;
  part.main_attempt = part.attempts;
  part.main_leg = LEG_SENT;
  part.main_cancelled = 0;
  part.sent_ns = state.now_ns;
  // A part that never fits staging would stand in the way of those behind it.
  if (state.hedging && !part.hedged && part.length <= state.staging_bytes) waitPush(at);
  emitFetch(at, part.main_attempt, part.main_segment, 0);
}

function emitFetch(at: u32, attempt: u32, segment: u32, flags: u32): void {
  const part = partAt(at);
  const record = beginAction(L.ACTION_FETCH, part.consumer);
  putWord(record, L.W_ID, requestId(at));
  putWord(record, L.W_ATTEMPT, attempt);
  putWord(record, L.FETCH_W_FLAGS, segment == NONE ? flags : flags | L.FETCH_TO_STAGING);
  putWide(record, L.FETCH_D_ROW, part.row);
  putWide(record, L.FETCH_D_OFFSET, part.offset);
  putWide(record, L.FETCH_D_LENGTH, part.length);
  putWide(record, L.FETCH_D_TARGET, segment == NONE ? part.target : segmentAt(segment).offset);
  commitAction(record);
  batchAt(part.batch).awaiting_first_byte += 1;
  state.in_flight += 1;
  rateTake();
  count(L.COUNTER_REQUESTS, 1);
}

// ---- retries ------------------------------------------------------------------------------------

/** Parts whose wait is over line up by the batch that needs them; a replay of a stale connection goes first. */
function collectDue(): void {
  while (heapLength(HEAP_BACKOFF) > 0) {
    const at = heapTop(HEAP_BACKOFF);
    const part = partAt(at);
    if (part.heap_key > <u64>state.now_ns) return;
    heapPop(HEAP_BACKOFF);
    heapPush(HEAP_DUE, at, isReplay(part) ? 0 : 1 + batchKey(batchAt(part.batch)), part.born);
  }
}

// @ts-ignore: decorator
@inline
function isReplay(part: Part): bool {
  return part.last_class == L.CLASS_STALE;
}

/** A retry whose time has come and whose budget is there. A replay needs no budget. */
function retryDue(): bool {
  collectDue();
  if (heapLength(HEAP_DUE) == 0) return false;
  return isReplay(partAt(heapTop(HEAP_DUE))) || retryAllowed();
}

function sendRetry(): bool {
  const at = heapTop(HEAP_DUE);
  const part = partAt(at);
  if (state.staged) {
    const segment = stagingTake(part.length, false);
    if (segment == NONE) return false;
    part.main_segment = segment;
  }
  heapPop(HEAP_DUE);
  backoffOver(part);
  if (!isReplay(part)) retryTake();
  count(L.COUNTER_RETRIES, 1);
  sendMain(at);
  return true;
}

// ---- hedges -------------------------------------------------------------------------------------

// Hedges are few, so they go where they count: to outliers, and to parts that a consumer would miss soon. What is a little slow in
// a batch further ahead has time.
const HEDGE_HORIZON: f64 = 2; // times the latency of the tail
const HEDGE_MEDIANS: f64 = 4; // of the first-byte latency: an outlier
const HEDGE_LOOKS: u32 = 8;
const MOST_AHEAD: u32 = 4;

function hedgeAfterNs(): f64 {
  return max(state.hedge_min_ns, state.latency_hedge_ns);
}

export function hedgeReset(): void {
  state.hedge_tokens = HEDGE_RESERVE;
}

/** The consumer will want the part's batch before a second request would surely be answered. */
function isUrgent(part: Part): bool {
  const c = consumerAt(part.consumer);
  const horizon = state.latency_p95_ns * HEDGE_HORIZON;
  let ahead = c.ready;
  let id = c.deliver_at;
  for (let i: u32 = 0; i < MOST_AHEAD && id != NONE; i++) {
    if (<f64>ahead * c.step_ns > horizon) return false;
    if (id == part.batch) return true;
    id = batchAt(id).next;
    ahead += 1;
  }
  return false;
}

function outlierAfterNs(): f64 {
  return max(state.hedge_min_ns, state.latency_p50_ns * HEDGE_MEDIANS);
}

/** An outlier is hedged wherever it stands, so that a slow hedge has time too; others only when they are urgent. */
function hedgeDueNs(at: u32): f64 {
  const part = partAt(at);
  const outlier = outlierAfterNs();
  if (state.hedge_tokens < 1 + HEDGE_RESERVE) return part.sent_ns + outlier * HEDGE_HANGS;
  return part.sent_ns + (isUrgent(part) ? min(hedgeAfterNs(), outlier) : outlier);
}

/**
 * What may be hedged next: the oldest part without a first byte, or an urgent one among those that have waited long enough. Parts
 * stand in the order in which they were sent, so that mostly one look at the oldest says that it is too early for all.
 */
function hedgeCandidate(): u32 {
  const oldest = state.wait_head;
  if (hedgeDueNs(oldest) <= state.now_ns) return oldest;
  const after = hedgeAfterNs();
  let at = oldest;
  for (let i: u32 = 0; i < HEDGE_LOOKS && at != NONE; i++) {
    if (partAt(at).sent_ns + after > state.now_ns) break;
    if (isUrgent(partAt(at))) return at;
    at = partAt(at).wait_next;
  }
  return oldest;
}

function mayHedge(): bool {
  return (
    state.hedging != 0 &&
    state.wait_head != NONE &&
    state.latency_total >= HEDGE_LEAST_SAMPLES &&
    state.hedge_tokens >= 1
  );
}

/**
 * Second requests for the slowest first bytes, into staging, within the budget. Refused first when memory is short, and where the
 * pace leaves no token over.
 */
export function hedge(): void {
  while (mayHedge() && state.in_flight < concurrencyLimit()) {
    const at = hedgeCandidate();
    if (at == NONE || hedgeDueNs(at) > state.now_ns) return;
    const part = partAt(at);
    if (!rateSpares()) return;
    if (actionRoom() == 0) return setFlag(L.FLAG_MORE);
    const segment = stagingTake(part.length, true);
    if (segment == NONE) return;
    sendHedge(at, segment);
  }
}

function sendHedge(at: u32, segment: u32): void {
  const part = partAt(at);
  waitRemove(at);
  state.hedge_tokens -= 1;
  part.hedged = 1;
  part.attempts += 1;
  part.hedge_attempt = part.attempts;
  part.hedge_leg = LEG_SENT;
  part.hedge_cancelled = 0;
  part.hedge_segment = segment;
  part.hedge_sent_ns = state.now_ns;
  count(L.COUNTER_HEDGES, 1);
  emitFetch(at, part.hedge_attempt, segment, L.FETCH_IS_HEDGE);
}

// ---- cancels and transfers ----------------------------------------------------------------------

export function emitCancels(): void {
  while (state.cancel_head != NONE) {
    const at = state.cancel_head;
    const part = partAt(at);
    if (actionRoom() < 2) return setFlag(L.FLAG_MORE);
    if (part.cancel_main) emitCancel(at, part.main_attempt);
    if (part.cancel_hedge) emitCancel(at, part.hedge_attempt);
    cancelQueuePop();
  }
}

function emitCancel(at: u32, attempt: u32): void {
  const record = beginAction(L.ACTION_CANCEL, partAt(at).consumer);
  putWord(record, L.W_ID, requestId(at));
  putWord(record, L.W_ATTEMPT, attempt);
  commitAction(record);
}

export function emitPlaces(): void {
  while (state.place_head != NONE) {
    const at = state.place_head;
    const part = partAt(at);
    if (actionRoom() == 0) return setFlag(L.FLAG_MORE);
    const record = beginAction(L.ACTION_PLACE, part.consumer);
    putWord(record, L.W_ID, requestId(at));
    putWord(record, L.W_ATTEMPT, part.attempts);
    putWide(record, L.PLACE_D_ROW, part.row);
    putWide(record, L.PLACE_D_FROM, segmentAt(part.place_from).offset);
    putWide(record, L.PLACE_D_LENGTH, part.length);
    putWide(record, L.PLACE_D_TARGET, part.target);
    commitAction(record);
    placeQueuePop();
  }
}

// ---- the next deadline --------------------------------------------------------------------------

/** When dispatch could do more though no event comes; Infinity: only an event helps. Always later than now. */
export function dispatchDeadline(blocked: u32): f64 {
  let deadline: f64 = Infinity;
  if (blocked == BLOCKED_RATE) deadline = rateNextNs();
  if (heapLength(HEAP_BACKOFF) > 0) {
    const at = <f64>partAt(heapTop(HEAP_BACKOFF)).heap_key;
    if (at > state.now_ns) deadline = min(deadline, at);
  }
  if (heapLength(HEAP_DUE) > 0 && !isReplay(partAt(heapTop(HEAP_DUE))) && state.retry_tokens < 1) {
    deadline = min(deadline, retryNextNs());
  }
  const candidate = mayHedge() ? hedgeCandidate() : NONE;
  if (candidate != NONE) {
    const at = hedgeDueNs(candidate);
    if (at > state.now_ns) deadline = min(deadline, ceil(at));
    else if (!rateSpares()) deadline = min(deadline, rateNextNs());
  }
  return deadline;
}

