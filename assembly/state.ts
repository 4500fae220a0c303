// The core's scalars: configuration as init checked it, cursors of lists, and what the controllers remember. All of it
// lies in linear memory, so that a copy of the memory is a copy of the core.
import {
  COUNTER_MEMORY_BYTES,
  COUNTER_MEMORY_PEAK_BYTES,
  HEADER_OFFSET,
  HEAD_COUNTERS,
  HEAD_ERROR,
  HEAD_ERROR_DETAIL,
  HEAD_FLAGS,
} from './layout';
import { STATE } from './tables';

@unmanaged
export class State {
  // job
  samples: u64;
  batch_samples: u64;
  global_batch: u64;
  world_size: u64;
  seed: u64;
  consumers: u32;
  first_rank: u32;
  epochs: u32;
  order: u32;
  tail: u32;
  staged: u32;
  on_error: u32;
  initialised: u32;
  max_skips: u64;
  skips_counted: u64; // against max_skips
  batches_per_epoch: u64;
  // memory
  memory_limit: u64;
  landing_bytes: u64; // of each consumer
  staging_bytes: u64;
  memory_used: u64;
  landing_limit: u64; // of each consumer, under the budget that holds now
  staging_limit: u64;
  staging_used: u64;
  // policy
  window_adaptive: u32;
  concurrency_adaptive: u32;
  rate_adaptive: u32;
  hedging: u32;
  window_bytes: f64;
  window_samples: u64;
  window_initial_bytes: f64;
  concurrency_max: f64;
  concurrency_backoff: f64;
  concurrency_gain: f64;
  split_bytes: u64;
  split_most: u64; // longest part
  part_bytes: u64; // what moves on one connection while a request waits
  merge_gap: u64;
  merge_bytes: u64;
  retry_attempts: u32;
  align: u32;
  retry_budget: f64;
  retry_base_ns: f64;
  retry_cap_ns: f64;
  hedge_share: f64;
  hedge_quantile: f64;
  hedge_min_ns: f64;
  block_samples: u64;
  group_blocks: u64;
  lookahead: u64;
  // order: where the short block stands in this epoch
  short_block_epoch: u64; // epoch + 1; 0: not known
  short_block_slot: u64;
  // time
  now_ns: f64;
  deadline_ns: f64;
  // parts
  free_part: u32;
  parts_used: u32; // records that were ever used
  in_flight: u32; // attempts
  generation: u32;
  wait_head: u32; // parts without a first byte, oldest first
  wait_tail: u32;
  cancel_head: u32;
  cancel_tail: u32;
  place_head: u32;
  place_tail: u32;
  // batches
  free_batch: u32;
  batches_used: u32;
  skips_to_emit: u32;
  ready_batches: u32; // complete and not yet consumed
  // staging
  free_segment: u32;
  segments_used: u32;
  staging_map: u64; // levels with a free segment
  // retries
  success_ns: f64; // of the last attempt that brought its bytes
  success_gap_ns: f64; // usual time between two of them
  failed_since: u32; // attempts that failed since then
  backoff_length: u32;
  due_length: u32;
  sequence: u32;
  retry_tokens: f64;
  retry_tokens_ns: f64;
  jitter_draws: u64;
  // hedges
  hedge_tokens: f64;
  // failure
  fail_code: u32;
  fail_class: u32;
  fail_request: u32;
  fail_consumer: u32;
  fail_epoch: u32;
  fail_batch: u32;
  fail_row: u64;
  fail_needed: u64;
  fail_limit: u64;
  fail_emitted: u32;
  latency_samples: u32;
  // latency of the first byte: quantiles are refreshed every so many samples
  latency_p50_ns: f64;
  latency_p95_ns: f64;
  latency_hedge_ns: f64;
  latency_total: f64;
  // concurrency control
  limit: f64;
  model_ns: f64; // when the last descent ended
  least_wait_ns: f64; // to the first byte, of recent rounds
  connection_rate: f64; // bytes per nanosecond of one body, of the best recent round
  mean_bytes: f64;
  round_wait_ns: f64;
  round_body_ns: f64;
  best_rate: f64;
  round_start_ns: f64;
  round_bytes: f64;
  phase: u32;
  round_done: u32;
  round_limited: u32;
  rounds_held: u32;
  backoff_ns: f64;
  overdue_ns: f64; // last step down because first bytes did not come in time
  overdue_count: f64; // such attempts since then, and answers
  overdue_done: f64;
  // pacing
  rate_limit: f64; // requests per second; 0: not limited
  rate_served: u32; // answers came before the last step down
  pace_draws: u64;
  rate_fall: f64; // share of the rate that the last 503 cost
  refused_since: f64; // answers since the last step down
  done_since: f64;
  rate_max: f64; // what the store bore at the last 503
  throttled_ns: f64;
  rate_bound_ns: f64; // when a request last waited for a token
  send_tokens: f64;
  send_tokens_ns: f64;
  done_rate: f64; // answered requests per second, smoothed
  done_count: f64;
  done_ns: f64;
}

export const state = changetype<State>(STATE);

// @ts-ignore: decorator
@inline
export function counter(index: i32): f64 {
  return load<f64>(HEADER_OFFSET + 8 * (HEAD_COUNTERS + index));
}

// @ts-ignore: decorator
@inline
export function setCounter(index: i32, value: f64): void {
  store<f64>(HEADER_OFFSET + 8 * (HEAD_COUNTERS + index), value);
}

// @ts-ignore: decorator
@inline
export function count(index: i32, by: f64): void {
  setCounter(index, counter(index) + by);
}

// @ts-ignore: decorator
@inline
export function headWord(index: i32): u32 {
  return load<u32>(HEADER_OFFSET + 4 * index);
}

// @ts-ignore: decorator
@inline
export function setHeadWord(index: i32, value: u32): void {
  store<u32>(HEADER_OFFSET + 4 * index, value);
}

// @ts-ignore: decorator
@inline
export function hasFlag(flag: u32): bool {
  return (headWord(HEAD_FLAGS) & flag) != 0;
}

// @ts-ignore: decorator
@inline
export function setFlag(flag: u32): void {
  setHeadWord(HEAD_FLAGS, headWord(HEAD_FLAGS) | flag);
}

/** Records an error in the header; the first one stays. */
export function setError(code: u32, detail: u32): void {
  if (headWord(HEAD_ERROR) != 0) return;
  setHeadWord(HEAD_ERROR, code);
  setHeadWord(HEAD_ERROR_DETAIL, detail);
}

/** The one limiter: whatever is taken or given back of landing and staging memory passes here. */
export function memoryTake(bytes: u64): void {
  state.memory_used += bytes;
  assert(state.memory_used <= state.memory_limit || state.memory_used <= state.landing_bytes * state.consumers + state.staging_bytes);
  const used = <f64>state.memory_used;
  setCounter(COUNTER_MEMORY_BYTES, used);
  if (used > counter(COUNTER_MEMORY_PEAK_BYTES)) setCounter(COUNTER_MEMORY_PEAK_BYTES, used);
}

export function memoryGive(bytes: u64): void {
  assert(state.memory_used >= bytes);
  state.memory_used -= bytes;
  setCounter(COUNTER_MEMORY_BYTES, <f64>state.memory_used);
}
