// From the f64 slots that the host wrote to the core's state. The host has checked ranges and named them; here stands what
// the core's arithmetic relies on.
import * as L from './layout';
import { setError, state } from './state';

// @ts-ignore: decorator
@inline
function slot(index: i32): f64 {
  return load<f64>(L.CONFIG_OFFSET + 8 * index);
}

/** Integers only up to `most`; false sets the error. */
function whole(index: i32, least: f64, most: f64): bool {
  const value = slot(index);
  // A comparison with NaN is false, so NaN ends here too.
  if (value >= least && value <= most && trunc(value) == value) return true;
  setError(L.ERROR_CONFIG, index);
  return false;
}

function real(index: i32, least: f64, most: f64): bool {
  const value = slot(index);
  if (value >= least && value <= most) return true;
  setError(L.ERROR_CONFIG, index);
  return false;
}

function powerOfTwo(index: i32, most: f64): bool {
  if (!whole(index, 1, most)) return false;
  if (popcnt<u32>(<u32>slot(index)) == 1) return true;
  setError(L.ERROR_CONFIG, index);
  return false;
}

const TWO_32: f64 = 4294967296.0;
const BYTES: f64 = 35184372088832.0; // 32 TiB
const NANOSECONDS: f64 = 86400e9;

function jobIsSound(): bool {
  return (
    whole(L.CONFIG_SAMPLES, 1, 281474976710656.0) &&
    whole(L.CONFIG_BATCH_SAMPLES, 1, L.MAX_SAMPLES) &&
    whole(L.CONFIG_WORLD_SIZE, 1, 1048576) &&
    whole(L.CONFIG_CONSUMERS, 1, L.MAX_CONSUMERS) &&
    whole(L.CONFIG_FIRST_RANK, 0, slot(L.CONFIG_WORLD_SIZE) - slot(L.CONFIG_CONSUMERS)) &&
    whole(L.CONFIG_BATCH_SAMPLES, 1, trunc(<f64>L.MAX_SAMPLES / slot(L.CONFIG_CONSUMERS))) &&
    whole(L.CONFIG_EPOCHS, 1, 2147483647) &&
    whole(L.CONFIG_START_EPOCH, 0, 2147483647) &&
    whole(L.CONFIG_START_BATCH, 0, TWO_32 - 2) &&
    whole(L.CONFIG_SEED_LO, 0, TWO_32 - 1) &&
    whole(L.CONFIG_SEED_HI, 0, TWO_32 - 1) &&
    whole(L.CONFIG_ORDER, 0, 3) &&
    whole(L.CONFIG_TAIL, 0, 2) &&
    whole(L.CONFIG_MEMORY_BYTES, 4096, 70368744177664.0) &&
    whole(L.CONFIG_STAGED, 0, 1) &&
    whole(L.CONFIG_ON_ERROR, 0, 1) &&
    whole(L.CONFIG_MAX_SKIPS, 0, TWO_32)
  );
}

function policyIsSound(): bool {
  return (
    whole(L.CONFIG_WINDOW_MODE, 0, 1) &&
    whole(L.CONFIG_WINDOW_BYTES, 1, BYTES) &&
    whole(L.CONFIG_WINDOW_SAMPLES, 1, L.MAX_SAMPLES) &&
    whole(L.CONFIG_WINDOW_INITIAL_BYTES, 1, BYTES) &&
    whole(L.CONFIG_CONCURRENCY_MODE, 0, 1) &&
    whole(L.CONFIG_CONCURRENCY_MAX, 1, L.MAX_REQUESTS) &&
    whole(L.CONFIG_CONCURRENCY_INITIAL, 1, L.MAX_REQUESTS) &&
    real(L.CONFIG_CONCURRENCY_BACKOFF, 0.1, 0.99) &&
    real(L.CONFIG_CONCURRENCY_GAIN, 1, 16) &&
    whole(L.CONFIG_RATE_MODE, 0, 1) &&
    whole(L.CONFIG_SPLIT_BYTES, 4096, BYTES) &&
    whole(L.CONFIG_MERGE_GAP_BYTES, 0, BYTES) &&
    whole(L.CONFIG_MERGE_BYTES, 0, BYTES) &&
    whole(L.CONFIG_RETRY_ATTEMPTS, 1, 1000) &&
    real(L.CONFIG_RETRY_BUDGET, 0, 10) &&
    real(L.CONFIG_RETRY_BASE_NS, 1, NANOSECONDS) &&
    real(L.CONFIG_RETRY_CAP_NS, 1, NANOSECONDS) &&
    real(L.CONFIG_HEDGE_SHARE, 0, 1) &&
    real(L.CONFIG_HEDGE_QUANTILE, 0.5, 0.999) &&
    real(L.CONFIG_HEDGE_MIN_NS, 1, NANOSECONDS) &&
    real(L.CONFIG_STAGING_SHARE, 0, 0.9) &&
    powerOfTwo(L.CONFIG_ALIGN_BYTES, 4096) &&
    whole(L.CONFIG_BLOCK_SAMPLES, 1, TWO_32 - 1) &&
    whole(L.CONFIG_GROUP_BLOCKS, 1, TWO_32 - 1) &&
    whole(L.CONFIG_LOOKAHEAD_SAMPLES, 1, L.MAX_SAMPLES)
  );
}

/** Reads and checks the whole configuration; false: the header says which slot is wrong. */
export function readConfig(): bool {
  if (!jobIsSound() || !policyIsSound()) return false;
  readJob();
  readPolicy();
  divideMemory();
  return true;
}

function readJob(): void {
  state.samples = <u64>slot(L.CONFIG_SAMPLES);
  state.batch_samples = <u64>slot(L.CONFIG_BATCH_SAMPLES);
  state.world_size = <u64>slot(L.CONFIG_WORLD_SIZE);
  state.global_batch = state.batch_samples * state.world_size;
  state.consumers = <u32>slot(L.CONFIG_CONSUMERS);
  state.first_rank = <u32>slot(L.CONFIG_FIRST_RANK);
  state.epochs = <u32>slot(L.CONFIG_EPOCHS);
  state.seed = (<u64>slot(L.CONFIG_SEED_HI) << 32) | <u64>slot(L.CONFIG_SEED_LO);
  state.order = <u32>slot(L.CONFIG_ORDER);
  state.tail = <u32>slot(L.CONFIG_TAIL);
  state.staged = <u32>slot(L.CONFIG_STAGED);
  state.on_error = <u32>slot(L.CONFIG_ON_ERROR);
  state.max_skips = <u64>slot(L.CONFIG_MAX_SKIPS);
}

function readPolicy(): void {
  state.window_adaptive = <u32>slot(L.CONFIG_WINDOW_MODE);
  state.window_bytes = slot(L.CONFIG_WINDOW_BYTES);
  state.window_samples = <u64>slot(L.CONFIG_WINDOW_SAMPLES);
  state.window_initial_bytes = min(slot(L.CONFIG_WINDOW_INITIAL_BYTES), state.window_bytes);
  state.concurrency_adaptive = <u32>slot(L.CONFIG_CONCURRENCY_MODE);
  state.concurrency_max = slot(L.CONFIG_CONCURRENCY_MAX);
  state.concurrency_backoff = slot(L.CONFIG_CONCURRENCY_BACKOFF);
  state.concurrency_gain = slot(L.CONFIG_CONCURRENCY_GAIN);
  state.rate_adaptive = <u32>slot(L.CONFIG_RATE_MODE);
  state.split_bytes = <u64>slot(L.CONFIG_SPLIT_BYTES);
  state.merge_gap = <u64>slot(L.CONFIG_MERGE_GAP_BYTES);
  state.merge_bytes = <u64>slot(L.CONFIG_MERGE_BYTES);
  state.retry_attempts = <u32>slot(L.CONFIG_RETRY_ATTEMPTS);
  state.retry_budget = slot(L.CONFIG_RETRY_BUDGET);
  state.retry_base_ns = slot(L.CONFIG_RETRY_BASE_NS);
  state.retry_cap_ns = slot(L.CONFIG_RETRY_CAP_NS);
  state.hedge_share = slot(L.CONFIG_HEDGE_SHARE);
  state.hedging = state.hedge_share > 0 ? 1 : 0;
  state.hedge_quantile = slot(L.CONFIG_HEDGE_QUANTILE);
  state.hedge_min_ns = slot(L.CONFIG_HEDGE_MIN_NS);
  state.align = <u32>slot(L.CONFIG_ALIGN_BYTES);
  state.block_samples = <u64>slot(L.CONFIG_BLOCK_SAMPLES);
  state.group_blocks = <u64>slot(L.CONFIG_GROUP_BLOCKS);
  state.lookahead = <u64>slot(L.CONFIG_LOOKAHEAD_SAMPLES);
  state.limit = state.concurrency_adaptive ? min(slot(L.CONFIG_CONCURRENCY_INITIAL), state.concurrency_max) : state.concurrency_max;
}

const LEAST_STAGED_SHARE: f64 = 0.25;
const REGION_ALIGN: u64 = 64;

// Landing memory is cut evenly between the consumers: what one holds back never starves another. Staging holds every body
// when landing memory cannot be received into, else hedges only.
function divideMemory(): void {
  const memory = <u64>slot(L.CONFIG_MEMORY_BYTES);
  let share = slot(L.CONFIG_STAGING_SHARE);
  if (state.staged) share = max(share, LEAST_STAGED_SHARE);
  else if (!state.hedging) share = 0;
  state.staging_bytes = (<u64>(<f64>memory * share)) & ~(REGION_ALIGN - 1);
  state.landing_bytes = ((memory - state.staging_bytes) / state.consumers) & ~(REGION_ALIGN - 1);
  state.split_most = u64.MAX_VALUE;
  if (state.staged) {
    // Several parts must fit side by side, or transfers would run one by one.
    state.split_most = max<u64>(1024, state.staging_bytes / 4);
    state.split_bytes = min(state.split_bytes, state.split_most);
  }
  shareMemory(memory);
}

/** Shares a budget, at most the one of init, out as init divided the first: staging never holds less than one part needs. */
export function shareMemory(limit: u64): void {
  const memory = slot(L.CONFIG_MEMORY_BYTES);
  let staging = <u64>(<f64>state.staging_bytes * (<f64>limit / memory));
  if (state.staged) staging = max(staging, state.split_bytes + REGION_ALIGN);
  state.memory_limit = limit;
  state.staging_limit = min(staging, state.staging_bytes);
  const landing = limit > state.staging_limit ? (limit - state.staging_limit) / state.consumers : 0;
  state.landing_limit = min(landing, state.landing_bytes);
}
