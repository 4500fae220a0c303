// The one retry layer. A part that failed waits in a heap for its time: exponential backoff with seeded jitter, never
// before what the store asked for. Retries may be at most a share of first attempts (plus a trickle, so that the last part
// of a run cannot starve): beyond it they wait, they do not fail. An attempt that met a stale connection is replayed once at
// once and counts for nothing.
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
import { draw, fraction } from './random';
import { state } from './state';
import { Part, RETRY_HEAP, partAt } from './tables';

const TRICKLE_PER_S: f64 = 10;
const MOST_TOKENS: f64 = 256;
// Wrong bodies are mostly deterministic: a few tries, not a long wait for the same answer.
const WRONG_BODY_ATTEMPTS: u32 = 4;
const LONGEST_RETRY_AFTER_NS: f64 = 60e9;
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

/** Wait before the attempt that follows `tries` failed ones. */
export function backoffNs(tries: u32, retry_after_ns: f64): f64 {
  let wait = state.retry_base_ns;
  for (let i: u32 = 1; i < tries && wait < state.retry_cap_ns; i++) wait *= 2;
  wait = min(wait, state.retry_cap_ns);
  const jitter = fraction(draw(state.seed ^ JITTER_STREAM, state.jitter_draws++));
  wait *= 0.5 + 0.5 * jitter;
  return ceil(max(wait, min(retry_after_ns, LONGEST_RETRY_AFTER_NS)));
}

// ---- budget -------------------------------------------------------------------------------------

export function retryReset(): void {
  state.retry_tokens = MOST_TOKENS;
  state.retry_tokens_ns = 0;
}

export function retryEarn(): void {
  state.retry_tokens = min(MOST_TOKENS, state.retry_tokens + state.retry_budget);
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

// ---- heap by (time, sequence) -------------------------------------------------------------------

// @ts-ignore: decorator
@inline
function heapAt(index: u32): u32 {
  return load<u32>(RETRY_HEAP + <usize>(index << 2));
}

// @ts-ignore: decorator
@inline
function heapSet(index: u32, part: u32): void {
  store<u32>(RETRY_HEAP + <usize>(index << 2), part);
}

function before(a: Part, b: Part): bool {
  return a.retry_at_ns < b.retry_at_ns || (a.retry_at_ns == b.retry_at_ns && a.sequence < b.sequence);
}

export function heapPush(part: u32): void {
  let at = state.heap_length;
  state.heap_length += 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!before(partAt(part), partAt(heapAt(parent)))) break;
    heapSet(at, heapAt(parent));
    at = parent;
  }
  heapSet(at, part);
}

/** The part whose time comes first; only while the heap is not empty. */
// @ts-ignore: decorator
@inline
export function heapTop(): u32 {
  return heapAt(0);
}

export function heapPop(): u32 {
  const top = heapAt(0);
  state.heap_length -= 1;
  const length = state.heap_length;
  const last = heapAt(length);
  let at: u32 = 0;
  for (;;) {
    let child: u32 = 2 * at + 1;
    if (child >= length) break;
    if (child + 1 < length && before(partAt(heapAt(child + 1)), partAt(heapAt(child)))) child += 1;
    if (!before(partAt(heapAt(child)), partAt(last))) break;
    heapSet(at, heapAt(child));
    at = child;
  }
  if (length > 0) heapSet(at, last);
  return top;
}
