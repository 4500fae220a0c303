// The core: one state machine, driven by one call. The host writes events into a ring, calls step(now), and reads actions
// from another ring; nothing else crosses the border. What it does depends on its configuration and on the events only.
//
// A step has the same order always: charge stalls, take every event (each only changes state), then emit what follows from
// the state, most urgent first. Emission stops where the ring is full and goes on in the next step (FLAG_MORE).
import { emitResolves, consumersReset, grant, onConsumed, onRequested, onResolved, openNext } from './batches';
import { concurrencyReset } from './concurrency';
import { readConfig, shareMemory } from './config';
import { deliver, finishDelivery } from './delivery';
import { BLOCKED_RATE, dispatch, dispatchDeadline, emitCancels, emitPlaces, hedge, hedgeReset } from './dispatch';
import { emitFailure, emitSkips } from './failure';
import { hashRecord, hashReset, hashTime } from './hash';
import * as L from './layout';
import { batchesPerEpoch, rowAt } from './order';
import { onFetchFailed, onFetched, onFirstByte, onPlaceFailed, onPlaced, partsReset } from './parts';
import { retryReset } from './retry';
import { stagingReset } from './staging';
import { hasFlag, headWord, setCounter, setError, setFlag, setHeadWord, state } from './state';
import { CONSUMERS, NONE, STATE, TABLES_END, consumerAt } from './tables';
import { chargeStalls, findCauses } from './stalls';
import { windowReport, windowShrinks, windowStalled } from './window';

const MOST_BATCHES: u64 = 0xfffffffe; // batches are numbered with 32 bits
const MOST_WHOLE: f64 = 9007199254740991.0; // 2^53 - 1

/** Starts a run from the configuration at CONFIG_OFFSET; returns ERROR_*, with HEAD_ERROR_DETAIL naming the slot. */
export function init(): i32 {
  assert(TABLES_END <= <usize>memory.size() << 16);
  memory.fill(L.HEADER_OFFSET, 0, L.HEADER_BYTES);
  memory.fill(STATE, 0, CONSUMERS - STATE);
  setHeadWord(L.HEAD_ABI, L.ABI_VERSION);
  setDeadline(Infinity);
  hashReset();
  if (!readConfig()) return headWord(L.HEAD_ERROR);
  state.batches_per_epoch = state.order == L.ORDER_EXTERNAL ? 0 : batchesPerEpoch();
  if (state.batches_per_epoch > MOST_BATCHES) {
    setError(L.ERROR_CONFIG, L.CONFIG_SAMPLES);
    return headWord(L.HEAD_ERROR);
  }
  state.free_batch = NONE;
  partsReset();
  stagingReset();
  retryReset();
  hedgeReset();
  concurrencyReset();
  consumersReset(<u32>configSlot(L.CONFIG_START_EPOCH), <u32>configSlot(L.CONFIG_START_BATCH));
  for (let i: i32 = 0; i < L.CONFIG_SLOTS; i++) hashTime(configSlot(i));
  windowReport();
  state.initialised = 1;
  return L.ERROR_NONE;
}

// @ts-ignore: decorator
@inline
function configSlot(index: i32): f64 {
  return load<f64>(L.CONFIG_OFFSET + 8 * index);
}

/** Takes all events in the ring at `now_ns`; returns how many actions wait to be read. */
export function step(now_ns: f64): i32 {
  if (!state.initialised) {
    setError(L.ERROR_NOT_READY, 0);
    return 0;
  }
  const events = headWord(L.HEAD_EVENT_TAIL) - headWord(L.HEAD_EVENT_HEAD);
  if (events > <u32>L.EVENT_RING_RECORDS) {
    // The host wrote over records that were never read.
    setError(L.ERROR_CAPACITY, 0);
    return 0;
  }
  const actions_before = headWord(L.HEAD_ACTION_TAIL);
  if (!advanceClock(now_ns)) return 0;
  setHeadWord(L.HEAD_FLAGS, headWord(L.HEAD_FLAGS) & ~L.FLAG_MORE);
  takeEvents(events);
  if (isOver()) {
    setDeadline(Infinity);
  } else {
    const blocked = emit();
    setDeadline(hasFlag(L.FLAG_MORE) ? now_ns : isOver() ? Infinity : dispatchDeadline(blocked));
    report(blocked == BLOCKED_RATE);
  }
  if (events > 0 || headWord(L.HEAD_ACTION_TAIL) != actions_before) hashTime(now_ns);
  return headWord(L.HEAD_ACTION_TAIL) - headWord(L.HEAD_ACTION_HEAD);
}

/** Row at a position of an epoch's order; NaN where there is none (external order, or past the end). */
export function orderRow(epoch: f64, position: f64): f64 {
  if (!state.initialised || state.order == L.ORDER_EXTERNAL || !(epoch >= 0 && epoch <= 2147483647)) return NaN;
  if (!(position >= 0 && position < <f64>state.samples)) return NaN;
  return <f64>rowAt(<u32>epoch, <u64>position);
}

export function landingBytes(): f64 {
  return <f64>state.landing_bytes;
}

export function stagingBytes(): f64 {
  return <f64>state.staging_bytes;
}

// ---- time ---------------------------------------------------------------------------------------

function advanceClock(now_ns: f64): bool {
  if (!(now_ns >= state.now_ns) || now_ns > MOST_WHOLE) {
    setError(L.ERROR_CLOCK, 0);
    return false;
  }
  chargeStalls(now_ns);
  state.now_ns = now_ns;
  store<f64>(L.HEADER_OFFSET + 8 * L.HEAD_NOW_NS, now_ns);
  return true;
}

function setDeadline(ns: f64): void {
  store<f64>(L.HEADER_OFFSET + 8 * L.HEAD_DEADLINE_NS, ns);
}

/** Stopped or failed: the core is silent. */
function isOver(): bool {
  return hasFlag(L.FLAG_STOPPED) || state.fail_emitted != 0;
}

// ---- events in ----------------------------------------------------------------------------------

function takeEvents(events: u32): void {
  for (let i: u32 = 0; i < events; i++) {
    const head = headWord(L.HEAD_EVENT_HEAD);
    const record: usize = <usize>L.EVENT_RING_OFFSET + <usize>((head & (L.EVENT_RING_RECORDS - 1)) * L.RECORD_BYTES);
    hashRecord(record);
    if (!hasFlag(L.FLAG_STOPPED)) takeEvent(record);
    setHeadWord(L.HEAD_EVENT_HEAD, head + 1);
  }
  setCounter(L.COUNTER_EVENTS, load<f64>(L.HEADER_OFFSET + 8 * (L.HEAD_COUNTERS + L.COUNTER_EVENTS)) + <f64>events);
}

// @ts-ignore: decorator
@inline
function word(record: usize, index: i32): u32 {
  return load<u32>(record + 4 * index);
}

// @ts-ignore: decorator
@inline
function wide(record: usize, half: i32): u64 {
  const value = load<f64>(record + 8 * half);
  return value >= 0 && value <= MOST_WHOLE ? <u64>value : u64.MAX_VALUE;
}

// @ts-ignore: decorator
@inline
function duration(record: usize, half: i32): f64 {
  const value = load<f64>(record + 8 * half);
  return value > 0 ? value : 0;
}

function eventTime(record: usize): f64 {
  const at = load<f64>(record + 8 * L.D_TIME_NS);
  return at >= 0 && at <= state.now_ns ? at : state.now_ns;
}

function takeEvent(record: usize): void {
  const id = word(record, L.W_ID);
  const attempt = word(record, L.W_ATTEMPT);
  const consumer = word(record, L.W_CONSUMER);
  switch (word(record, L.W_KIND)) {
    case L.EVENT_RESOLVED:
      return onResolved(id, attempt, wide(record, L.RESOLVED_D_OFFSET), wide(record, L.RESOLVED_D_LENGTH));
    case L.EVENT_FIRST_BYTE:
      return onFirstByte(id, attempt, eventTime(record));
    case L.EVENT_FETCHED:
      return onFetched(id, attempt, wide(record, L.FETCHED_D_BYTES), eventTime(record));
    case L.EVENT_FETCH_FAILED:
      return onFetchFailed(
        id,
        attempt,
        word(record, L.FAILED_W_CLASS),
        duration(record, L.FAILED_D_RETRY_AFTER_NS),
        <u64>min(duration(record, L.FAILED_D_BYTES), MOST_WHOLE),
      );
    case L.EVENT_PLACED:
      return onPlaced(id);
    case L.EVENT_PLACE_FAILED:
      return onPlaceFailed(id);
    case L.EVENT_CONSUMED:
      return onConsumed(consumer, word(record, L.W_EPOCH), word(record, L.W_BATCH));
    case L.EVENT_WAITING:
      return onWaiting(consumer);
    case L.EVENT_REQUESTED:
      return onRequested(consumer, wide(record, L.REQUESTED_D_ROW), word(record, L.REQUESTED_W_FLAGS));
    case L.EVENT_LIMIT:
      return onLimit(wide(record, L.LIMIT_D_BYTES));
    case L.EVENT_STOP:
      return setFlag(L.FLAG_STOPPED);
    default:
      setError(L.ERROR_EVENT, word(record, L.W_KIND));
  }
}

function onWaiting(index: u32): void {
  if (index >= state.consumers) return setError(L.ERROR_EVENT, L.EVENT_WAITING);
  const c = consumerAt(index);
  if (c.ended || c.waiting) return;
  c.waiting = 1;
  c.cause = c.delivered ? L.STALL_CLIENT_CPU : L.STALL_START;
  windowStalled(c);
}

/** A new budget: at most what init divided; what is in use above it runs off first. */
function onLimit(bytes: u64): void {
  const most = <u64>configSlot(L.CONFIG_MEMORY_BYTES);
  if (bytes == 0 || bytes == u64.MAX_VALUE) return setError(L.ERROR_EVENT, L.EVENT_LIMIT);
  shareMemory(min(bytes, most));
  windowShrinks();
}

// ---- actions out --------------------------------------------------------------------------------

/** Emits what follows from the state; returns why dispatch ended. */
function emit(): u32 {
  if (!finishDelivery()) return 0;
  if (state.fail_code != 0) {
    emitFailure();
    return 0;
  }
  emitSkips();
  emitCancels();
  emitPlaces();
  if (!deliver()) return 0;
  for (let index: u32 = 0; index < state.consumers; index++) prepare(index);
  if (state.fail_code != 0) {
    emitFailure();
    return 0;
  }
  const blocked = dispatch();
  if (blocked != BLOCKED_RATE) hedge();
  // A batch without bytes is ready as soon as it has its place.
  deliver();
  return blocked;
}

/** Opens, places and grants for as long as one of them makes the other possible. */
function prepare(index: u32): void {
  do {
    emitResolves(index);
  } while (grant(index) || openNext(index));
}

function report(rate_blocked: bool): void {
  findCauses(rate_blocked);
  windowReport();
  setCounter(L.COUNTER_IN_FLIGHT, <f64>state.in_flight);
  setCounter(L.COUNTER_READY_BATCHES, <f64>state.ready_batches);
}
