// How many requests are in flight, and how fast new ones leave.
//
// Concurrency climbs as TCP's slow start does, by doubling a round for as long as the delivered rate grows, then holds and
// probes upward now and then. A 503 means that the store counts requests, not bytes: then pacing takes over, a token bucket
// whose rate falls to a share of what the store bore and returns on a cubic (Ha, Rhee, Xu, "CUBIC", 2008; the AWS
// SDKs' adaptive retry mode does the same), scaled so that the plateau is reached in a fixed time at any rate. Above the
// plateau the rate doubles every so often: a cubic of a small rate would stay small long after the store is well again.
import { COUNTER_CONCURRENCY_LIMIT, COUNTER_RATE_LIMIT } from './layout';
import { setCounter, state } from './state';
import { windowFollowsRate } from './window';

const PHASE_CLIMB: u32 = 0;
const PHASE_HOLD: u32 = 1;
const PHASE_PROBE: u32 = 2;

const LEAST_ROUND: u32 = 8;
const HOLD_ROUNDS: u32 = 4;
const PROBE_FACTOR: f64 = 1.25;
const LEAST_BACKOFF_GAP_NS: f64 = 20e6;

const PLATEAU_NS: f64 = 1e9; // from a 503 back to the rate before it
const DOUBLING_NS: f64 = 200e6; // above the plateau; never faster than two round trips can warn
const MOST_DOUBLINGS: f64 = 30;
const FORGET_NS: f64 = 5e9; // without a 503, pacing ends
const GUESS_PER_S: f64 = 10; // answers that one place is good for while none came
const BURST_S: f64 = 0.02;
const RATE_WINDOW_NS: f64 = 50e6;
const RATE_SMOOTHING: f64 = 0.3;
const LEAST_RATE: f64 = 4;

export function concurrencyReset(): void {
  state.phase = PHASE_CLIMB;
  state.slow_start_limit = state.concurrency_max;
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

export function concurrencyDone(bytes: f64): void {
  countDone();
  state.round_bytes += bytes;
  state.round_done += 1;
  if (state.round_done >= max<u32>(LEAST_ROUND, <u32>state.limit)) endRound();
}

function endRound(): void {
  const span = state.now_ns - state.round_start_ns;
  // Completions of one instant say nothing about a rate.
  if (span <= 0) return;
  const rate = state.round_bytes / span;
  const limited = state.round_limited != 0;
  state.round_start_ns = state.now_ns;
  state.round_bytes = 0;
  state.round_done = 0;
  state.round_limited = 0;
  windowFollowsRate(rate);
  if (limited && state.concurrency_adaptive) judge(rate);
  setCounter(COUNTER_CONCURRENCY_LIMIT, state.limit);
}

function judge(rate: f64): void {
  const better = rate > state.best_rate * (1 + state.concurrency_gain);
  if (state.phase == PHASE_CLIMB) {
    if (!better) return hold(rate);
    state.best_rate = rate;
    grow(2);
    if (state.limit >= state.slow_start_limit) state.phase = PHASE_PROBE;
    return;
  }
  if (state.phase == PHASE_PROBE) {
    if (!better) {
      state.limit = state.limit_before;
      return hold(rate);
    }
    state.best_rate = rate;
    grow(PROBE_FACTOR);
    return;
  }
  state.best_rate += (rate - state.best_rate) * 0.25;
  state.rounds_held += 1;
  if (state.rounds_held < HOLD_ROUNDS || state.limit >= state.concurrency_max) return;
  state.phase = PHASE_PROBE;
  grow(PROBE_FACTOR);
}

function hold(rate: f64): void {
  state.phase = PHASE_HOLD;
  state.rounds_held = 0;
  state.best_rate = max(rate, state.best_rate * 0.9);
}

function grow(factor: f64): void {
  state.limit_before = state.limit;
  state.limit = min(state.concurrency_max, floor(state.limit * factor) + 1);
}

/** A 503: at most one step down for each round trip, however many answers say so. */
export function concurrencyThrottled(): void {
  countDone();
  const gap = max(LEAST_BACKOFF_GAP_NS, state.latency_p50_ns);
  if (state.backoff_ns > 0 && state.now_ns - state.backoff_ns < gap) return;
  state.backoff_ns = state.now_ns;
  if (state.rate_adaptive) return throttleRate();
  if (!state.concurrency_adaptive) return;
  state.slow_start_limit = max(1, state.limit * state.concurrency_backoff);
  state.limit = max(1, floor(state.limit * state.concurrency_backoff));
  state.best_rate = 0;
  state.phase = PHASE_CLIMB;
  state.round_start_ns = state.now_ns;
  state.round_bytes = 0;
  state.round_done = 0;
  setCounter(COUNTER_CONCURRENCY_LIMIT, state.limit);
}

// ---- pacing -------------------------------------------------------------------------------------

/** Successful answers a second, smoothed over windows: what the store bears. */
function countDone(): void {
  const span = state.now_ns - state.done_ns;
  if (span >= RATE_WINDOW_NS) {
    const rate = (state.done_count * 1e9) / span;
    state.done_rate = state.done_rate == 0 ? rate : state.done_rate + (rate - state.done_rate) * RATE_SMOOTHING;
    state.done_ns = state.now_ns;
    state.done_count = 0;
  }
}

export function rateSucceeded(): void {
  state.done_count += 1;
}

function throttleRate(): void {
  let bore = state.done_rate > 0 ? state.done_rate : state.limit * GUESS_PER_S;
  if (state.rate_limit > 0) bore = min(bore, currentRate());
  state.rate_max = max(LEAST_RATE, bore);
  state.throttled_ns = state.now_ns;
  if (state.rate_limit == 0) {
    state.send_tokens = 0;
    state.send_tokens_ns = state.now_ns;
  }
  state.rate_limit = currentRate();
  setCounter(COUNTER_RATE_LIMIT, state.rate_limit);
}

function currentRate(): f64 {
  const after = state.now_ns - state.throttled_ns - PLATEAU_NS;
  if (after < 0) {
    const x = after / PLATEAU_NS;
    return max(LEAST_RATE, state.rate_max * (1 + (1 - state.concurrency_backoff) * x * x * x));
  }
  const doublings = min(MOST_DOUBLINGS, after / max(DOUBLING_NS, 2 * state.latency_p50_ns));
  const whole = floor(doublings);
  return state.rate_max * <f64>(<u64>1 << <u64>whole) * (1 + doublings - whole);
}

/** May a request leave now? Takes nothing. */
export function rateAllows(): bool {
  if (state.rate_limit == 0) return true;
  if (state.now_ns - state.throttled_ns > FORGET_NS) {
    state.rate_limit = 0;
    setCounter(COUNTER_RATE_LIMIT, 0);
    return true;
  }
  const rate = currentRate();
  state.rate_limit = rate;
  setCounter(COUNTER_RATE_LIMIT, rate);
  const burst = max(1, rate * BURST_S);
  state.send_tokens = min(burst, state.send_tokens + ((state.now_ns - state.send_tokens_ns) * rate) / 1e9);
  state.send_tokens_ns = state.now_ns;
  return state.send_tokens >= 1;
}

export function rateTake(): void {
  if (state.rate_limit > 0) state.send_tokens -= 1;
}

/** When the next token is there, given that none is now. */
export function rateNextNs(): f64 {
  return ceil(state.now_ns + ((1 - state.send_tokens) * 1e9) / state.rate_limit) + 1;
}
