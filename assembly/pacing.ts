// How fast requests leave once the store has answered 503: it counts requests, not bytes, so a limit on places would be the
// wrong tool. A token bucket whose rate falls below what the store bore and returns on a cubic (Ha, Rhee, Xu, "CUBIC",
// 2008; the AWS SDKs' adaptive retry mode does the same), scaled so that the plateau is reached in a fixed time at any rate, or
// in a few requests where those take longer: one request a second is no reason to try for more each second. Well above the
// plateau the rate doubles every so often: a cubic of a small rate would stay small long after the store is well again. How
// far it falls depends on how many were refused: a few refusals mean that the rate is nearly right. Feeders under one cap see
// the same share refused, so the faster one is told more often, and yields.
import { concurrencyBackOff } from './concurrency';
import { COUNTER_RATE_LIMIT } from './layout';
import { draw, fraction, jitterSeed } from './random';
import { setCounter, state } from './state';

const LEAST_BACKOFF_GAP_NS: f64 = 20e6;
const GAP_REQUESTS: f64 = 2; // at a small rate a step down is seen after some requests, not after a round trip
const MEMORY_ANSWERS: f64 = 3; // of those before a step that count with those after it
const NEARLY_ALL: f64 = 0.9; // refused: the store serves nobody
const PLATEAU_NS: f64 = 1e9; // from a 503 back to the rate before it
const PLATEAU_REQUESTS: f64 = 8; // or as many requests, where that takes longer
const LONGEST_PLATEAU_NS: f64 = 5e9;
const GENTLE: f64 = 0.2; // of the plateau's time: how long the cubic goes on above it
const DOUBLING_NS: f64 = 200e6; // after that; never faster than two round trips can warn
const DOUBLING_REQUESTS: f64 = 4; // nor than some answers can
const MOST_DOUBLINGS: f64 = 30;
const FORGET_NS: f64 = 5e9; // without a 503, pacing ends
const FORGET_UNBOUND_NS: f64 = 2e9; // and without a request that had to wait for it,
const FORGET_UNBOUND: f64 = 4; // or for as many times the wait from one request to the next
const GUESS_PER_S: f64 = 10; // answers that one place is good for while none came
const REFUSED_SHARE: f64 = 0.5; // of the refused answers, by which the pace was more than the store bears
const BURST_S: f64 = 0.02;
const RATE_WINDOW_NS: f64 = 50e6;
const RATE_WINDOW_ANSWERS: f64 = 16;
const LONGEST_WINDOW_NS: f64 = 4e9;
const RATE_SMOOTHING: f64 = 0.3;
const LEAST_RATE: f64 = 0.5; // a request every two seconds tells soon enough that the store is well again
const FEW_REFUSED: f64 = 0.1; // share of answers
const FALL_PER_REFUSED: f64 = 2;
const LEAST_FALL: f64 = 0.02;
const PACE_STREAM: u64 = 0x7061636500000000;

/** A 503: at most one step down for each round trip, however many answers say so. */
export function rateRefused(): void {
  measure();
  state.refused_since += 1;
  const some_requests = state.rate_limit > 0 ? (GAP_REQUESTS * 1e9) / state.rate_limit : 0;
  const gap = max(some_requests, max(LEAST_BACKOFF_GAP_NS, state.latency_p50_ns));
  if (state.backoff_ns > 0 && state.now_ns - state.backoff_ns < gap) return;
  state.backoff_ns = max(state.now_ns, 1); // 0: never
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
  if (span < RATE_WINDOW_NS || (state.done_count < RATE_WINDOW_ANSWERS && span < LONGEST_WINDOW_NS)) return;
  const rate = (state.done_count * 1e9) / span;
  state.done_rate = state.done_rate == 0 ? rate : state.done_rate + (rate - state.done_rate) * RATE_SMOOTHING;
  state.done_ns = state.now_ns;
  state.done_count = 0;
}

function slowDown(): void {
  const answers = state.refused_since + state.done_since;
  const refused = state.refused_since / answers;
  state.rate_max = max(LEAST_RATE, bore(refused));
  state.rate_served = refused < NEARLY_ALL ? 1 : 0;
  state.rate_fall = fall(refused);
  state.throttled_ns = state.now_ns;
  const kept = min(1, MEMORY_ANSWERS / answers);
  state.refused_since *= kept;
  state.done_since *= kept;
  if (state.rate_limit == 0) {
    state.send_tokens = 0;
    state.send_tokens_ns = state.now_ns;
  }
  // Feeders that came to send at the same instants would go on so, and the same one would be refused each time.
  if (state.send_tokens < 1) state.send_tokens = -0.5 * fraction(draw(jitterSeed(PACE_STREAM), state.pace_draws++));
  state.rate_limit = currentRate();
  setCounter(COUNTER_RATE_LIMIT, state.rate_limit);
}

/** The rate that the store bore until now. */
function bore(refused: f64): f64 {
  const seen = state.done_rate > 0 ? state.done_rate : state.limit * GUESS_PER_S;
  if (state.rate_limit == 0) return seen;
  const rate = currentRate();
  // Where requests waited for it, the pace is known better than the answers can be counted.
  const bound = state.now_ns - state.rate_bound_ns <= max(LEAST_BACKOFF_GAP_NS, (GAP_REQUESTS * 1e9) / rate);
  return bound ? rate * (1 - REFUSED_SHARE * max(0, refused - FEW_REFUSED)) : min(seen, rate);
}

/** Share of the rate to give up. */
function fall(refused: f64): f64 {
  const most = 1 - state.concurrency_backoff;
  if (state.rate_limit == 0 || refused > FEW_REFUSED) return most;
  return min(most, LEAST_FALL + FALL_PER_REFUSED * refused);
}

function currentRate(): f64 {
  const plateau = plateauNs();
  const x = (state.now_ns - state.throttled_ns) / plateau - 1;
  const near = min(x, GENTLE);
  const rate = max(LEAST_RATE, state.rate_max * (1 + state.rate_fall * near * near * near));
  return x <= GENTLE ? rate : doubled(rate, (x - GENTLE) * plateau);
}

/** While the store serves nobody, there is no share to be kept and nothing is gained by a longer wait. */
function plateauNs(): f64 {
  if (!state.rate_served) return PLATEAU_NS;
  return max(PLATEAU_NS, min(LONGEST_PLATEAU_NS, (PLATEAU_REQUESTS * 1e9) / state.rate_max));
}

/** What becomes of a rate that has doubled again and again for `ns`, each time within some requests or a least time. */
function doubled(rate: f64, ns: f64): f64 {
  const doubling = max(DOUBLING_NS, 2 * state.latency_p50_ns);
  const fast = (DOUBLING_REQUESTS * 1e9) / doubling;
  let from = rate;
  let left = ns;
  if (state.rate_served && rate < fast) {
    // Within as many requests each time: what one request takes falls evenly.
    const spacing_ns = 1e9 / rate - ns / DOUBLING_REQUESTS;
    if (spacing_ns * fast >= 1e9) return 1e9 / spacing_ns;
    left = ns - DOUBLING_REQUESTS * (1e9 / rate - 1e9 / fast);
    from = fast;
  }
  const doublings = min(MOST_DOUBLINGS, left / doubling);
  const whole = floor(doublings);
  return from * <f64>(<u64>1 << <u64>whole) * (1 + doublings - whole);
}

/** May a request that is needed leave now? Takes nothing. A pace that nothing waited for in a while ends. */
export function rateAllows(): bool {
  if (state.rate_limit == 0) return true;
  const unbound_ns = max(FORGET_UNBOUND_NS, (FORGET_UNBOUND * 1e9) / state.rate_limit);
  if (state.now_ns - state.throttled_ns > FORGET_NS && state.now_ns - state.rate_bound_ns > unbound_ns) {
    state.rate_limit = 0;
    setCounter(COUNTER_RATE_LIMIT, 0);
    return true;
  }
  if (rateSpares()) return true;
  state.rate_bound_ns = state.now_ns;
  return false;
}

/** Is there a token? It does not count as a wait for the pace that there is none. */
export function rateSpares(): bool {
  if (state.rate_limit == 0) return true;
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
