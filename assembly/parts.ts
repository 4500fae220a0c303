// Parts: one range request each, from its dispatch to its bytes in place. A part has a main attempt and perhaps a hedge;
// each attempt ends in exactly one FETCHED or FETCH_FAILED, also after a CANCEL, and memory that an attempt may write to is
// never given away before that.
import * as L from './layout';
import { batchSettled } from './batches';
import { concurrencyDone, concurrencyOverdue } from './concurrency';
import { giveUp } from './failure';
import { latencyAdd } from './latency';
import { HEAP_BACKOFF, heapPush } from './heap';
import {
  LONGEST_RETRY_AFTER_NS,
  attemptsFor,
  backoffNs,
  retryRefusals,
  retryRefused,
  retryRefusedTooOften,
  retrySawFailure,
  retrySawSuccess,
  retrySucceeded,
} from './retry';
import { rateRefused, rateSucceeded } from './pacing';
import { stagingFree } from './staging';
import { count, state } from './state';
import {
  LEG_MOVING,
  LEG_NONE,
  LEG_SENT,
  LEG_WON,
  NONE,
  PART_ACTIVE,
  PART_BACKOFF,
  PART_DRAINING,
  PART_FREE,
  PART_PLACING,
  Part,
  batchAt,
  partAt,
} from './tables';

// A request id is a part's index and a generation, so that a late answer to an old request is known as such.
const INDEX_BITS: u32 = 14;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
const GENERATION_MASK: u32 = (1 << (32 - INDEX_BITS)) - 1;

export function partsReset(): void {
  state.free_part = NONE;
  state.parts_used = 0;
  state.wait_head = NONE;
  state.wait_tail = NONE;
  state.cancel_head = NONE;
  state.cancel_tail = NONE;
  state.place_head = NONE;
  state.place_tail = NONE;
}

// @ts-ignore: decorator
@inline
export function requestId(index: u32): u32 {
  return ((partAt(index).generation & GENERATION_MASK) << INDEX_BITS) | index;
}

export function partsLeft(): bool {
  return state.free_part != NONE || state.parts_used < <u32>L.MAX_REQUESTS;
}

/** A part record; only while `partsLeft`. */
export function takePart(): u32 {
  let index = state.free_part;
  if (index != NONE) {
    state.free_part = partAt(index).list_next;
  } else {
    assert(state.parts_used < <u32>L.MAX_REQUESTS);
    index = state.parts_used;
    state.parts_used += 1;
    partAt(index).generation = 0;
  }
  const generation = partAt(index).generation + 1;
  memory.fill(changetype<usize>(partAt(index)), 0, offsetof<Part>());
  const part = partAt(index);
  // Generation 0 never names a live request, and the all-ones id stands for "no request".
  part.generation = (generation & GENERATION_MASK) == GENERATION_MASK || (generation & GENERATION_MASK) == 0 ? 1 : generation;
  part.main_segment = NONE;
  part.hedge_segment = NONE;
  part.place_from = NONE;
  return index;
}

function freePart(index: u32): void {
  const part = partAt(index);
  if (part.in_queue) {
    // It stands in a queue of actions to emit: whoever drains the queue frees it.
    part.state = PART_DRAINING;
    return;
  }
  part.state = PART_FREE;
  part.list_next = state.free_part;
  state.free_part = index;
}

/** The part that an event names, or NONE if it is of the past. */
function livePart(id: u32): u32 {
  const index = id & INDEX_MASK;
  if (index >= state.parts_used) return NONE;
  const part = partAt(index);
  if (part.state == PART_FREE || requestId(index) != id) return NONE;
  return index;
}

// ---- list of parts without a first byte, oldest first: what may be hedged -------------------------

export function waitPush(index: u32): void {
  const part = partAt(index);
  part.wait_prev = state.wait_tail;
  part.wait_next = NONE;
  if (state.wait_tail == NONE) state.wait_head = index;
  else partAt(state.wait_tail).wait_next = index;
  state.wait_tail = index;
  part.in_wait_list = 1;
}

export function waitRemove(index: u32): void {
  const part = partAt(index);
  if (!part.in_wait_list) return;
  part.in_wait_list = 0;
  if (part.wait_prev == NONE) state.wait_head = part.wait_next;
  else partAt(part.wait_prev).wait_next = part.wait_next;
  if (part.wait_next == NONE) state.wait_tail = part.wait_prev;
  else partAt(part.wait_next).wait_prev = part.wait_prev;
}

// ---- legs ---------------------------------------------------------------------------------------

// @ts-ignore: decorator
@inline
function alive(leg: u32): bool {
  return leg == LEG_SENT || leg == LEG_MOVING;
}

/** Takes a leg out of the batch's picture of what it waits for. */
function uncountLeg(part: Part, leg: u32): void {
  const batch = batchAt(part.batch);
  if (leg == LEG_SENT) batch.awaiting_first_byte -= 1;
  else if (leg == LEG_MOVING) batch.moving -= 1;
}

function cancelMain(index: u32): void {
  const part = partAt(index);
  if (!alive(part.main_leg) || part.main_cancelled) return;
  uncountLeg(part, part.main_leg);
  waitRemove(index);
  part.main_cancelled = 1;
  part.cancel_main = 1;
  queueCancel(index);
}

function cancelHedge(index: u32): void {
  const part = partAt(index);
  if (!alive(part.hedge_leg) || part.hedge_cancelled) return;
  uncountLeg(part, part.hedge_leg);
  part.hedge_cancelled = 1;
  part.cancel_hedge = 1;
  queueCancel(index);
}

function queueCancel(index: u32): void {
  const part = partAt(index);
  if (part.in_queue) return;
  part.in_queue = 1;
  part.list_next = NONE;
  if (state.cancel_tail == NONE) state.cancel_head = index;
  else partAt(state.cancel_tail).list_next = index;
  state.cancel_tail = index;
}

/** Takes the first part of the cancel queue off; its cancels were emitted or have no object any more. */
export function cancelQueuePop(): void {
  const index = state.cancel_head;
  const part = partAt(index);
  state.cancel_head = part.list_next;
  if (state.cancel_head == NONE) state.cancel_tail = NONE;
  part.in_queue = 0;
  part.cancel_main = 0;
  part.cancel_hedge = 0;
  if (part.state == PART_DRAINING) releaseIfDrained(index);
  else if (part.state == PART_PLACING && !part.place_emitted) queuePlace(index);
}

function queuePlace(index: u32): void {
  const part = partAt(index);
  // One list link a part: a part whose cancel is still to be told places after it.
  if (part.in_queue) return;
  part.in_queue = 1;
  part.list_next = NONE;
  if (state.place_tail == NONE) state.place_head = index;
  else partAt(state.place_tail).list_next = index;
  state.place_tail = index;
}

export function placeQueuePop(): void {
  const index = state.place_head;
  const part = partAt(index);
  state.place_head = part.list_next;
  if (state.place_head == NONE) state.place_tail = NONE;
  part.in_queue = 0;
  part.place_emitted = 1;
  if (part.cancel_main || part.cancel_hedge) queueCancel(index);
}

function releaseIfDrained(index: u32): void {
  const part = partAt(index);
  if (alive(part.main_leg) || alive(part.hedge_leg)) return;
  stagingFree(part.main_segment);
  stagingFree(part.hedge_segment);
  part.main_segment = NONE;
  part.hedge_segment = NONE;
  freePart(index);
}

// ---- events -------------------------------------------------------------------------------------

export function onFirstByte(id: u32, attempt: u32, at_ns: f64): void {
  const index = livePart(id);
  if (index == NONE) return;
  const part = partAt(index);
  const batch = batchAt(part.batch);
  if (attempt == part.main_attempt && part.main_leg == LEG_SENT) {
    latencyAdd(at_ns - part.sent_ns);
    waitRemove(index);
    part.main_leg = LEG_MOVING;
    part.first_ns = at_ns;
    if (part.main_cancelled) return;
  } else if (attempt == part.hedge_attempt && part.hedge_leg == LEG_SENT) {
    latencyAdd(at_ns - part.hedge_sent_ns);
    part.hedge_leg = LEG_MOVING;
    if (part.hedge_cancelled) return;
  } else {
    return;
  }
  batch.awaiting_first_byte -= 1;
  batch.moving += 1;
}

/** Ends a leg: whether it was cancelled by us comes back in bit 1, whether it is the hedge in bit 0. */
const END_UNKNOWN: u32 = 4;
const END_CANCELLED: u32 = 2;
const END_HEDGE: u32 = 1;

function endLeg(index: u32, attempt: u32): u32 {
  const part = partAt(index);
  if (attempt == part.main_attempt && alive(part.main_leg)) {
    const cancelled = part.main_cancelled != 0;
    if (!cancelled) uncountLeg(part, part.main_leg);
    waitRemove(index);
    part.main_leg = LEG_NONE;
    part.cancel_main = 0;
    state.in_flight -= 1;
    return cancelled ? END_CANCELLED : 0;
  }
  if (attempt == part.hedge_attempt && alive(part.hedge_leg)) {
    const cancelled = part.hedge_cancelled != 0;
    if (!cancelled) uncountLeg(part, part.hedge_leg);
    part.hedge_leg = LEG_NONE;
    part.cancel_hedge = 0;
    state.in_flight -= 1;
    return END_HEDGE | (cancelled ? END_CANCELLED : 0);
  }
  return END_UNKNOWN;
}

export function onFetched(id: u32, attempt: u32, bytes: u64, at_ns: f64): void {
  const index = livePart(id);
  if (index == NONE) return;
  const part = partAt(index);
  const silent = attempt == part.main_attempt ? part.main_leg == LEG_SENT : part.hedge_leg == LEG_SENT;
  const end = endLeg(index, attempt);
  if (end & END_UNKNOWN) return;
  const hedge = (end & END_HEDGE) != 0;
  if (silent) latencyAdd(at_ns - (hedge ? part.hedge_sent_ns : part.sent_ns));
  const received = min(bytes, part.length); // a host that reports more, or nonsense, does not enter the sums
  count(L.COUNTER_BYTES_FETCHED, <f64>received);
  rateSucceeded();
  retrySawSuccess();
  const first_ns = hedge || silent ? at_ns : part.first_ns;
  concurrencyDone(<f64>received, first_ns - (hedge ? part.hedge_sent_ns : part.sent_ns), at_ns - first_ns);
  if (bytes != part.length) return legFailed(index, hedge, L.CLASS_SHORT, 0);
  if (part.tries > 0 || part.refusals_all > 0) retrySucceeded();
  if (part.state == PART_DRAINING) return releaseIfDrained(index);
  if (part.state == PART_PLACING) return;
  if (hedge) return hedgeWon(index);
  // The main attempt has it all, also if a hedge was about to take over.
  cancelHedge(index);
  if (!state.staged) {
    stagingDropHedge(part);
    return finish(index);
  }
  startPlacing(index, part.main_segment);
}

function hedgeWon(index: u32): void {
  const part = partAt(index);
  count(L.COUNTER_HEDGE_WINS, 1);
  if (!state.staged && alive(part.main_leg)) {
    // The main attempt may still write to the landing slot: only after its end is the slot ours.
    part.hedge_leg = LEG_WON;
    return cancelMain(index);
  }
  cancelMain(index);
  startPlacing(index, part.hedge_segment);
}

function startPlacing(index: u32, segment: u32): void {
  const part = partAt(index);
  part.state = PART_PLACING;
  part.place_from = segment;
  part.place_emitted = 0;
  batchAt(part.batch).placing += 1;
  queuePlace(index);
}

/** A hedge that has ended gives its staging back; one that lives gives it back at its end. */
function stagingDropHedge(part: Part): void {
  if (alive(part.hedge_leg)) return;
  stagingFree(part.hedge_segment);
  part.hedge_segment = NONE;
}

export function onFetchFailed(id: u32, attempt: u32, failure: u32, retry_after_ns: f64, bytes: u64): void {
  const index = livePart(id);
  if (index == NONE) return;
  const sent_ns = attempt == partAt(index).main_attempt ? partAt(index).sent_ns : partAt(index).hedge_sent_ns;
  const end = endLeg(index, attempt);
  if (end & END_UNKNOWN) return;
  count(L.COUNTER_BYTES_FETCHED, <f64>bytes);
  if (failure == L.CLASS_TIMEOUT_FIRST_BYTE) concurrencyOverdue(sent_ns);
  if (failure == L.CLASS_THROTTLED) {
    count(L.COUNTER_THROTTLES, 1);
    rateRefused();
  }
  if (!(end & END_CANCELLED)) retrySawFailure();
  // An attempt that the host ended by itself is as good as one that was cut.
  const asked = (end & END_CANCELLED) != 0;
  const known = failure > 0 && failure < <u32>L.CLASS_COUNT ? failure : <u32>L.CLASS_INTERNAL;
  const cause = known == L.CLASS_CANCELLED && !asked ? L.CLASS_RESET : known;
  legFailed(index, (end & END_HEDGE) != 0, cause, retry_after_ns);
}

function legFailed(index: u32, hedge: bool, failure: u32, retry_after_ns: f64): void {
  const part = partAt(index);
  if (part.state == PART_DRAINING) return releaseIfDrained(index);
  if (part.state == PART_PLACING) return;
  if (hedge) {
    stagingDropHedge(part);
    if (alive(part.main_leg)) return;
  } else {
    stagingFree(part.main_segment);
    part.main_segment = NONE;
    if (part.hedge_leg == LEG_WON) {
      part.hedge_leg = LEG_NONE;
      return startPlacing(index, part.hedge_segment);
    }
    if (alive(part.hedge_leg)) {
      part.last_class = failure;
      return;
    }
  }
  retryOrGiveUp(index, failure, retry_after_ns, L.ERROR_FETCH);
}

function retryOrGiveUp(index: u32, failure: u32, retry_after_ns: f64, code: u32): void {
  const part = partAt(index);
  const batch = batchAt(part.batch);
  part.last_class = failure;
  const refused = failure == L.CLASS_THROTTLED;
  const replay = failure == L.CLASS_STALE && !part.replayed;
  if (replay) part.replayed = 1;
  else if (refused) retryRefused(part);
  else part.tries += 1;
  if (!replay && (refused ? retryRefusedTooOften(part) : part.tries >= attemptsFor(failure))) {
    giveUp(part, requestId(index), failure, code);
    return finish(index);
  }
  part.state = PART_BACKOFF;
  batch.backing_off += 1;
  if (refused) batch.throttled += 1;
  part.not_before_ns = state.now_ns + min(retry_after_ns, LONGEST_RETRY_AFTER_NS);
  const at_ns = replay ? state.now_ns : state.now_ns + backoffNs(refused ? retryRefusals(part) : part.tries, retry_after_ns);
  heapPush(HEAP_BACKOFF, index, <u64>at_ns, state.sequence++);
}

/** The part leaves the heaps. */
export function backoffOver(part: Part): void {
  const batch = batchAt(part.batch);
  batch.backing_off -= 1;
  if (part.last_class == L.CLASS_THROTTLED) batch.throttled -= 1;
  part.state = PART_ACTIVE;
}

export function onPlaced(id: u32): void {
  const index = livePart(id);
  if (index == NONE || partAt(index).state != PART_PLACING || !partAt(index).place_emitted) return;
  batchAt(partAt(index).batch).placing -= 1;
  finish(index);
}

export function onPlaceFailed(id: u32): void {
  const index = livePart(id);
  if (index == NONE || partAt(index).state != PART_PLACING || !partAt(index).place_emitted) return;
  const part = partAt(index);
  batchAt(part.batch).placing -= 1;
  part.tries += 1;
  if (part.tries >= attemptsFor(L.CLASS_TRANSFER)) {
    giveUp(part, requestId(index), L.CLASS_TRANSFER, L.ERROR_PLACE);
    return finish(index);
  }
  // The bytes are still in staging: only the transfer is done again.
  part.place_emitted = 0;
  batchAt(part.batch).placing += 1;
  queuePlace(index);
}

/** The part is in place, or given up. */
function finish(index: u32): void {
  const part = partAt(index);
  const batch = batchAt(part.batch);
  part.state = PART_DRAINING;
  batch.parts_open -= 1;
  batchSettled(batch);
  releaseIfDrained(index);
}
