// How fast requests leave once the store has answered 503: it counts requests, not bytes, so a limit on places would be the
// wrong tool. A token bucket whose rate falls below what the store bore and returns on a cubic (Ha, Rhee, Xu, "CUBIC",
// 2008; the AWS SDKs' adaptive retry mode does the same), scaled so that the plateau is reached in a fixed time at any
// rate. Above the plateau the rate doubles every so often: a cubic of a small rate would stay small long after the store is
// well again. How far it falls depends on how many were refused: a few refusals mean that the rate is nearly right.
import { concurrencyBackOff } from './concurrency';
import { COUNTER_RATE_LIMIT } from './layout';
import { setCounter, state } from './state';

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
const FEW_REFUSED: f64 = 0.1; // share of answers
const FALL_PER_REFUSED: f64 = 2;
const LEAST_FALL: f64 = 0.02;

/** A 503: at most one step down for each round trip, however many answers say so. */
export function rateRefused(): void {
  measure();
  state.refused_since += 1;
  const gap = max(LEAST_BACKOFF_GAP_NS, state.latency_p50_ns);
  if (state.backoff_ns > 0 && state.now_ns - state.backoff_ns < gap) return;
  state.backoff_ns = state.now_ns;
  if (state.rate_adaptive) slowDown();
  else concurrencyBackOff();
}

export function rateSucceeded(): void {
  measure();
  state.done_count += 1;
  state.done_since += 1;
}

/** Successful answers a second, smoothed over windows: what the store bears. */
function measure(): void {
  const span = state.now_ns - state.done_ns;
  if (span < RATE_WINDOW_NS) return;
  const rate = (state.done_count * 1e9) / span;
  state.done_rate = state.done_rate == 0 ? rate : state.done_rate + (rate - state.done_rate) * RATE_SMOOTHING;
  state.done_ns = state.now_ns;
  state.done_count = 0;
}

function slowDown(): void {
  let bore = state.done_rate > 0 ? state.done_rate : state.limit * GUESS_PER_S;
  if (state.rate_limit > 0) bore = min(bore, currentRate());
  state.rate_max = max(LEAST_RATE, bore);
  state.throttled_ns = state.now_ns;
  state.rate_fall = fall();
  state.refused_since = 0;
  state.done_since = 0;
  if (state.rate_limit == 0) {
    state.send_tokens = 0;
    state.send_tokens_ns = state.now_ns;
  }
  state.rate_limit = currentRate();
  setCounter(COUNTER_RATE_LIMIT, state.rate_limit);
}

/** Share of the rate to give up. */
function fall(): f64 {
  const most = 1 - state.concurrency_backoff;
  const refused = state.refused_since / (state.refused_since + state.done_since);
  if (state.rate_limit == 0 || refused > FEW_REFUSED) return most;
  return min(most, LEAST_FALL + FALL_PER_REFUSED * refused);
}

function currentRate(): f64 {
  const after = state.now_ns - state.throttled_ns - PLATEAU_NS;
  if (after < 0) {
    const x = after / PLATEAU_NS;
    return max(LEAST_RATE, state.rate_max * (1 + state.rate_fall * x * x * x));
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
