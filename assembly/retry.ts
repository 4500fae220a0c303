// The one retry layer. A part that failed waits in a heap for its time: exponential backoff with seeded jitter, never
// before what the store asked for. Each retry takes a token. First attempts earn a share of one, and a retry that brings
// the bytes gives its token back with that share on top: so retries that fail again are bounded, and after an outage those
// that waited go out as fast as the store answers. A trickle keeps the last part of a run from starving. Without a token
// retries wait, they do not fail. Those whose time has come go in the order in which their batches are needed: when tokens
// are scarce, the first part uses up its attempts first, so a store that is gone for good ends the run within the waits of
// one part, however many others failed. An attempt that met a stale connection is replayed once at once and counts for nothing;
// one that a store refused while it serves others (503) counts only in a row.
import {
  CLASS_ARCHIVED,
  CLASS_CHANGED,
  CLASS_CHECKSUM,
  CLASS_EXPIRED,
  CLASS_FORBIDDEN,
  CLASS_INTERNAL,
  CLASS_LONG,
  CLASS_MOVED,
  CLASS_NOT_FOUND,
  CLASS_RANGE,
  CLASS_REFUSED,
  CLASS_SHORT,
  CLASS_TLS,
} from './layout';
import { HEAP_BACKOFF, heapLength, heapPart, heapRebuild } from './heap';
import { draw, fraction, jitterSeed } from './random';
import { state } from './state';
import { Part, partAt } from './tables';

const TRICKLE_PER_S: f64 = 10;
const MOST_TOKENS: f64 = 256;
// Wrong bodies are mostly deterministic: a few tries, not a long wait for the same answer.
const WRONG_BODY_ATTEMPTS: u32 = 4;
export const LONGEST_RETRY_AFTER_NS: f64 = 60e9;
const JITTER_STREAM: u64 = 0x6a69747465720000;

/** Attempts that a failure of this class may use up; 1: it is final. */
export function attemptsFor(failure: u32): u32 {
  switch (failure) {
    case CLASS_NOT_FOUND:
    case CLASS_FORBIDDEN:
    case CLASS_CHANGED:
    case CLASS_MOVED:
    case CLASS_ARCHIVED:
    case CLASS_REFUSED:
    case CLASS_TLS:
    case CLASS_INTERNAL:
      return 1;
    case CLASS_SHORT:
    case CLASS_LONG:
    case CLASS_RANGE:
    case CLASS_CHECKSUM:
    case CLASS_EXPIRED:
      return min<u32>(state.retry_attempts, WRONG_BODY_ATTEMPTS);
    default:
      return state.retry_attempts;
  }
}

// ---- 503 ----------------------------------------------------------------------------------------

// A part that is refused has bad luck; a store that refuses everything for long ends the run. So refusals count against
// `retry.attempts` only in a row, with no answer to any attempt in between, and over a time in which an answer was due.
const GAPS_WITHOUT_ANSWER: f64 = 20;
const LONGEST_WITHOUT_ANSWER_NS: f64 = 120e9;
const REFUSALS_FACTOR: u32 = 10; // times retry.attempts: one part is refused while others are served
const GAP_SMOOTHING: f64 = 0.0625;

/** An attempt of the part ended in a 503. */
export function retryRefused(part: Part): void {
  if (state.success_ns > part.refused_ns) part.refusals = 0;
  part.refusals += 1;
  part.refusals_all += 1;
  part.refused_ns = state.now_ns;
}

/** Refusals that the next wait doubles for. Where requests are paced, the pace is the brake, and bad luck makes no wait longer. */
export function retryRefusals(part: Part): u32 {
  return state.rate_adaptive ? part.refusals : part.refusals_all;
}

export function retryRefusedTooOften(part: Part): bool {
  if (part.refusals_all >= state.retry_attempts * REFUSALS_FACTOR) return true;
  const patience = min(LONGEST_WITHOUT_ANSWER_NS, state.success_gap_ns * GAPS_WITHOUT_ANSWER);
  return part.refusals >= state.retry_attempts && state.now_ns - state.success_ns >= patience;
}

/** Wait before the attempt that follows `tries` failed ones. */
export function backoffNs(tries: u32, retry_after_ns: f64): f64 {
  let wait = state.retry_base_ns;
  for (let i: u32 = 1; i < tries && wait < state.retry_cap_ns; i++) wait *= 2;
  wait = min(wait, state.retry_cap_ns);
  const jitter = fraction(draw(jitterSeed(JITTER_STREAM), state.jitter_draws++));
  wait *= 0.5 + 0.5 * jitter;
  return ceil(max(wait, min(retry_after_ns, LONGEST_RETRY_AFTER_NS)));
}

// ---- the end of an outage -----------------------------------------------------------------------

const OUTAGE_NS: f64 = 500e6;
const OUTAGE_FAILURES: u32 = 8;
const OUTAGE_STREAM: u64 = 0x6f75746167650000;

export function retrySawFailure(): void {
  state.failed_since += 1;
}

/**
 * The first success after an outage: waits that grew while nothing answered have lost their reason, and one part that sleeps
 * on holds up its whole batch. They are drawn anew, as if these were first retries; what the store asked for stays.
 */
export function retrySawSuccess(): void {
  if (state.failed_since >= OUTAGE_FAILURES && state.now_ns - state.success_ns >= OUTAGE_NS) hurry();
  state.failed_since = 0;
  const gap = state.now_ns - state.success_ns;
  state.success_gap_ns = state.success_gap_ns == 0 ? gap : state.success_gap_ns + (gap - state.success_gap_ns) * GAP_SMOOTHING;
  state.success_ns = state.now_ns;
}

function hurry(): void {
  for (let i: u32 = 0; i < heapLength(HEAP_BACKOFF); i++) {
    const part = partAt(heapPart(HEAP_BACKOFF, i));
    const wait = state.retry_base_ns * fraction(draw(jitterSeed(OUTAGE_STREAM), state.jitter_draws++));
    const at = <u64>max(part.not_before_ns, ceil(state.now_ns + wait));
    part.heap_key = min(part.heap_key, at);
  }
  heapRebuild(HEAP_BACKOFF);
}

// ---- budget -------------------------------------------------------------------------------------

export function retryReset(): void {
  state.retry_tokens = MOST_TOKENS;
  state.retry_tokens_ns = 0;
}

export function retryEarn(): void {
  state.retry_tokens = min(MOST_TOKENS, state.retry_tokens + state.retry_budget);
}

/** A part that had failed before is there. */
export function retrySucceeded(): void {
  state.retry_tokens = min(MOST_TOKENS, state.retry_tokens + 1 + state.retry_budget);
}

export function retryAllowed(): bool {
  state.retry_tokens = min(MOST_TOKENS, state.retry_tokens + ((state.now_ns - state.retry_tokens_ns) * TRICKLE_PER_S) / 1e9);
  state.retry_tokens_ns = state.now_ns;
  return state.retry_tokens >= 1;
}

export function retryTake(): void {
  state.retry_tokens -= 1;
}

export function retryNextNs(): f64 {
  return ceil(state.now_ns + ((1 - state.retry_tokens) * 1e9) / TRICKLE_PER_S) + 1;
}
