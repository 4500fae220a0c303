// How far a consumer's batches run ahead. The window counts what holds landing memory: requested, complete and in use.
// Adaptive: it starts small, doubles when a stall finds it full, and is never below what Little's law asks for (rate x
// latency), with the slow tail's latency rather than the mean's. The memory budget bounds it in any case.
import { COUNTER_WINDOW_BYTES } from './layout';
import { setCounter, state } from './state';
import { Batch, Consumer, consumerAt } from './tables';

const LITTLE_MARGIN: f64 = 2;

/** One batch is always allowed; beyond it, window.samples and window.bytes hold. */
export function windowAllows(c: Consumer, batch: Batch, bytes: u64): bool {
  if (c.open_samples == 0) return true;
  if (<u64>c.open_samples + <u64>batch.samples > state.window_samples) return false;
  // Adaptive: one batch in use and one on its way is the least that can overlap.
  const least = state.window_adaptive ? <f64>bytes * 2 : 0;
  return <f64>(c.open_bytes + bytes) <= max(c.window_bytes, least);
}

/**
 * Where the window starts: memory that the user gave is there to be used, so a quarter of it, or what the setting says if that
 * is more.
 */
export function windowStart(): f64 {
  if (!state.window_adaptive) return state.window_bytes;
  return max(1, min(max(state.window_initial_bytes, <f64>state.landing_bytes / 4), min(state.window_bytes, <f64>state.landing_bytes)));
}

/** A consumer stalls after its first batch: to have looked further ahead would have helped, or will the next time. */
export function windowStalled(c: Consumer): void {
  if (!state.window_adaptive || !c.delivered) return;
  setWindow(c, c.window_bytes * 2);
}

/** Little's law: the rate of the last round (bytes per nanosecond) times the latency of the tail. */
export function windowFollowsRate(bytes_per_ns: f64): void {
  if (!state.window_adaptive) return;
  const wanted = (bytes_per_ns * state.latency_p95_ns * LITTLE_MARGIN) / <f64>state.consumers;
  for (let index: u32 = 0; index < state.consumers; index++) {
    const c = consumerAt(index);
    if (c.window_bytes < wanted) setWindow(c, wanted);
  }
}

export function windowShrinks(): void {
  if (!state.window_adaptive) return;
  for (let index: u32 = 0; index < state.consumers; index++) {
    const c = consumerAt(index);
    setWindow(c, min(c.window_bytes, <f64>state.memory_limit / <f64>state.consumers));
  }
}

function setWindow(c: Consumer, bytes: f64): void {
  c.window_bytes = max(1, min(bytes, min(state.window_bytes, <f64>state.landing_bytes)));
}

export function windowReport(): void {
  let largest: f64 = 0;
  for (let index: u32 = 0; index < state.consumers; index++) largest = max(largest, consumerAt(index).window_bytes);
  setCounter(COUNTER_WINDOW_BYTES, min(largest, <f64>state.landing_bytes));
}
