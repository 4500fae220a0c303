// How many requests are in flight. The controller keeps a model of the path, as BBR does (Cardwell et al., "BBR:
// congestion-based congestion control", 2016), with Little's law in place of the bandwidth-delay product: the places that
// are needed are the best rate of answers seen (from bytes, since parts may change their length), times the time that an answer takes when nothing queues. That time is the
// least first-byte latency of recent rounds and the body at the best rate of one connection. The limit is `concurrency.gain`
// times the need. More would only spread the link over more batches at once, and make the earliest one late.
//
// It starts by doubling each round while the rate still grows. Then it halves for as long as the rate does not suffer: only
// with few requests in flight does the store show how long an answer takes when nothing queues. After that it follows the
// model. A round is one turnover of the requests in flight.
import { COUNTER_CONCURRENCY_LIMIT } from './layout';
import { setCounter, state } from './state';
import { windowFollowsRate } from './window';

const PHASE_CLIMB: u32 = 0;
const PHASE_DESCEND: u32 = 1;
const PHASE_FOLLOW: u32 = 2;

const LEAST_ROUND: u32 = 32;
const SHORT_ROUND: u32 = 8;
const LONGEST_ROUND_NS: f64 = 2e9;
const CLIMB_GAIN: f64 = 1.2; // of the rate, that justifies another doubling
const CLIMB_PATIENCE: u32 = 2; // rounds without it
const DESCEND_KEEPS: f64 = 0.85; // of the best rate
const LEAST_DESCENT: f64 = 4;
const STEP_UP: f64 = 1.5;
const STEP_DOWN: f64 = 0.7;
const SPARE: f64 = 4;
const LONGEST_PART: f64 = 17179869184.0; // 16 GiB
const FORGET: f64 = 0.97; // of the best rate, each round
// How long an answer takes when nothing queues is only seen with few requests in flight, so it is measured anew by a descent
// every so often, and believed in between: to let it drift would feed the queue that it is to keep away.
const MODEL_AGE_NS: f64 = 20e9;
const OVERDUE_LEAST: f64 = 3; // attempts without a first byte in time
const OVERDUE_SHARE: f64 = 0.1; // of those that were answered meanwhile
const OVERDUE_KEEPS: f64 = 0.5; // of the answers that came while one waited: a queue half as long as the limit on waits

export function concurrencyReset(): void {
  state.phase = PHASE_CLIMB;
  setCounter(COUNTER_CONCURRENCY_LIMIT, state.limit);
}

// @ts-ignore: decorator
@inline
export function concurrencyLimit(): u32 {
  return <u32>state.limit;
}

/** Requests wait for a place: the round that runs says something about the limit. */
// @ts-ignore: decorator
@inline
export function concurrencyBound(): void {
  state.round_limited = 1;
}

/** An attempt brought its bytes: `wait_ns` to the first one, `body_ns` from there to the last. */
export function concurrencyDone(bytes: f64, wait_ns: f64, body_ns: f64): void {
  state.round_bytes += bytes;
  state.round_wait_ns += max(wait_ns, 0);
  state.round_body_ns += max(body_ns, 0);
  state.round_done += 1;
  state.overdue_done += 1;
  const span = state.now_ns - state.round_start_ns;
  const turned = state.round_done >= max<u32>(LEAST_ROUND, <u32>state.limit);
  if (turned || (state.round_done >= SHORT_ROUND && span >= LONGEST_ROUND_NS)) endRound(span);
}

function endRound(span: f64): void {
  // Completions of one instant say nothing about a rate.
  if (span <= 0) return;
  windowFollowsRate(state.round_bytes / span);
  const grew = observe(span);
  if (state.round_limited && state.concurrency_adaptive) adjust(grew, state.round_bytes / span);
  restartRound();
  setCounter(COUNTER_CONCURRENCY_LIMIT, state.limit);
}

function restartRound(): void {
  state.round_start_ns = state.now_ns;
  state.round_bytes = 0;
  state.round_wait_ns = 0;
  state.round_body_ns = 0;
  state.round_done = 0;
  state.round_limited = 0;
}

/** Takes the round into the model; true: the rate grew. */
function observe(span: f64): bool {
  const done = <f64>state.round_done;
  const rate = max(state.round_bytes, 1) / span;
  const grew = rate > state.best_rate * CLIMB_GAIN;
  state.best_rate = max(rate, state.best_rate * FORGET);
  const wait = state.round_wait_ns / done;
  state.least_wait_ns = state.least_wait_ns == 0 ? wait : min(wait, state.least_wait_ns);
  if (state.round_body_ns > 0) {
    state.connection_rate = max(state.round_bytes / state.round_body_ns, state.connection_rate);
  }
  state.mean_bytes = max(state.round_bytes / done, 1);
  const movable = state.round_body_ns > 0 ? (wait * state.round_bytes) / state.round_body_ns : 0;
  state.part_bytes = <u64>min(movable, LONGEST_PART);
  return grew;
}

/** Places that keep the best rate going when nothing queues. */
function placesNeeded(): f64 {
  const body = state.connection_rate > 0 ? state.mean_bytes / state.connection_rate : 0;
  return (state.best_rate / state.mean_bytes) * (state.least_wait_ns + body);
}

function adjust(grew: bool, rate: f64): void {
  if (state.phase == PHASE_CLIMB) {
    if (grew) state.rounds_held = 0;
    else state.rounds_held += 1;
    if (state.rounds_held < CLIMB_PATIENCE) {
      if (grew) setLimit(state.limit * 2);
      return;
    }
    return descend();
  }
  if (state.phase == PHASE_DESCEND) {
    if (rate >= state.best_rate * DESCEND_KEEPS && state.limit > LEAST_DESCENT) return setLimit(state.limit / 2);
    setLimit(state.limit * 2);
    state.phase = PHASE_FOLLOW;
    state.model_ns = state.now_ns;
    return;
  }
  if (state.now_ns - state.model_ns > MODEL_AGE_NS) return descend();
  const wanted = placesNeeded() * state.concurrency_gain + SPARE;
  setLimit(max(state.limit * STEP_DOWN, min(state.limit * STEP_UP, wanted)));
}

function descend(): void {
  state.phase = PHASE_DESCEND;
  state.least_wait_ns = 0;
  state.connection_rate = 0;
  setLimit(state.limit / 2);
}

function setLimit(places: f64): void {
  state.limit = max(1, min(state.concurrency_max, ceil(places)));
}

/**
 * An attempt without a first byte within its limit. A store that hangs now and then does so whatever is in flight; where
 * many wait too long, the store queues requests, and fewer of them in flight wait less. What the store answered meanwhile
 * says how many. One step for all that were sent before it.
 */
export function concurrencyOverdue(sent_ns: f64): void {
  if (!state.concurrency_adaptive || sent_ns < state.overdue_ns) return;
  state.overdue_count += 1;
  if (state.overdue_count < max(OVERDUE_LEAST, state.overdue_done * OVERDUE_SHARE)) return;
  const span = max(state.now_ns - state.overdue_ns, 1);
  const answered = (state.overdue_done / span) * (state.now_ns - sent_ns);
  state.best_rate = (state.overdue_done / span) * state.mean_bytes;
  descend();
  setLimit(min(state.limit, answered * OVERDUE_KEEPS));
  state.overdue_ns = state.now_ns;
  state.overdue_count = 0;
  state.overdue_done = 0;
  restartRound();
  setCounter(COUNTER_CONCURRENCY_LIMIT, state.limit);
}

/** A 503 where no pacing is wanted: fewer places. The model forgets the rate that the store does not bear. */
export function concurrencyBackOff(): void {
  if (!state.concurrency_adaptive) return;
  setLimit(floor(state.limit * state.concurrency_backoff));
  state.best_rate *= state.concurrency_backoff;
  state.phase = PHASE_FOLLOW;
  restartRound();
  setCounter(COUNTER_CONCURRENCY_LIMIT, state.limit);
}
