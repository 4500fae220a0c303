// First-byte latency as a histogram with logarithmic buckets (8 for each power of two, so within 12.5 %) that forgets:
// when it holds enough samples all counts are halved. Only integer arithmetic, the same on every machine.
import { COUNTER_LATENCY_P50_NS, COUNTER_LATENCY_P95_NS } from './layout';
import { setCounter, state } from './state';
import { LATENCY, LATENCY_BUCKETS } from './tables';

const SUB_BITS: u32 = 3;
const REFRESH_EVERY: u32 = 32;
const FORGET_AT: f64 = 4096;

// @ts-ignore: decorator
@inline
function bucketOf(ns: u64): u32 {
  if (ns < 8) return <u32>ns;
  const exponent = <u32>(63 - clz<u64>(ns));
  const sub = <u32>(ns >> (exponent - SUB_BITS)) & 7;
  return min<u32>(((exponent - SUB_BITS + 1) << SUB_BITS) | sub, LATENCY_BUCKETS - 1);
}

/** Upper edge of a bucket. */
function edgeOf(bucket: u32): f64 {
  if (bucket < 8) return <f64>(bucket + 1);
  const exponent = (bucket >> SUB_BITS) + SUB_BITS - 1;
  const sub = bucket & 7;
  return <f64>((<u64>(8 + sub + 1)) << (exponent - SUB_BITS));
}

export function latencyAdd(ns: f64): void {
  const at = LATENCY + <usize>(bucketOf(<u64>max<f64>(ns, 0)) << 2);
  store<u32>(at, load<u32>(at) + 1);
  state.latency_total += 1;
  state.latency_samples += 1;
  if (state.latency_samples % REFRESH_EVERY == 0 || state.latency_total == 1) refresh();
  if (state.latency_total >= FORGET_AT) forget();
}

export function latencyQuantile(q: f64): f64 {
  const wanted = state.latency_total * q;
  let seen: f64 = 0;
  for (let bucket: u32 = 0; bucket < LATENCY_BUCKETS; bucket++) {
    seen += <f64>load<u32>(LATENCY + <usize>(bucket << 2));
    if (seen >= wanted && seen > 0) return edgeOf(bucket);
  }
  return 0;
}

function refresh(): void {
  state.latency_p50_ns = latencyQuantile(0.5);
  state.latency_p95_ns = latencyQuantile(0.95);
  state.latency_hedge_ns = latencyQuantile(state.hedge_quantile);
  setCounter(COUNTER_LATENCY_P50_NS, state.latency_p50_ns);
  setCounter(COUNTER_LATENCY_P95_NS, state.latency_p95_ns);
}

function forget(): void {
  let total: f64 = 0;
  for (let bucket: u32 = 0; bucket < LATENCY_BUCKETS; bucket++) {
    const at = LATENCY + <usize>(bucket << 2);
    const kept = load<u32>(at) >> 1;
    store<u32>(at, kept);
    total += <f64>kept;
  }
  state.latency_total = total;
}
