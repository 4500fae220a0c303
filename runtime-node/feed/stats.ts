import * as layout from '../../assembly/layout.js';
import type { Core } from '../core.js';
import type { LandingChoice } from '../landing/choose.js';
import { describePolicy, type SettingValue } from '../policy/resolve.js';
import { type Cursor, droppedPerEpoch } from './cursor.js';
import type { FeedParts } from './parts.js';
import type { SkippedSample, Tally } from './tally.js';

/** Causes that waiting time is charged to, in the order of the core's counters. */
export const STALL_NAMES = [
  'start',
  'store',
  'throttle',
  'network',
  'client_cpu',
  'host_work',
  'memory',
  'transfer',
  'barrier',
] as const;
export type StallName = (typeof STALL_NAMES)[number];

/** The feed's result, `os2g.feed-result/1`: times in seconds, sizes in bytes. */
export interface FeedStats {
  schema: 'os2g.feed-result/1';
  /** Handed out; pads and skipped samples not counted. */
  samples: number;
  padded: number;
  /** Of each epoch, all ranks together: what `tail: 'drop'` leaves out. */
  dropped: number;
  batches: number;
  bytes: number;
  /** Object reads sent, retries and hedges included. */
  requests: number;
  list_requests: number;
  retries: number;
  hedges: number;
  /** Of the batches that were handed out. */
  skipped: SkippedSample[];
  wall_s: number;
  /** Of the whole process, since the feed was opened. */
  cpu_s: number;
  samples_per_s: number;
  bytes_per_s: number;
  stall_s: Record<StallName, number>;
  /** Answers of whole objects that carried a checksum to check, and all the others. */
  checksums: { checked: number; unchecked: number };
  /** Reported compute time (`feed.busy`) over the time since the first `next()`; null where none was reported. */
  gpu_busy_share: number | null;
  memory_budget_bytes: number;
  memory_peak_bytes: number;
  /** Of the whole process, since it started. */
  rss_peak_bytes: number;
  engine: string;
  engine_reason: string;
  landing: LandingChoice;
  policy: { preset: string; set: Record<string, SettingValue> };
  core_sha256: string;
  run_hash: string;
  cursor: Cursor;
}

/** Cheap numbers for a progress display. */
export interface FeedSnapshot {
  samples: number;
  batches: number;
  bytes: number;
  wallNs: number;
  windowBytes: number;
  memoryBytes: number;
  inFlight: number;
  concurrencyLimit: number;
  readyBatches: number;
  /** Part of the time since the feed was opened in which its consumer waited, 0..1. */
  stallShare: number;
  /** Median time to the first byte. */
  latencyP50Ns: number;
}

export function feedStats(parts: FeedParts, tally: Tally, cursor: Cursor): FeedStats {
  const { core, engine } = parts;
  const { counters } = core;
  const { samples, padded, batches, bytes, busyNs } = tally;
  const wallS = tally.wallNs / 1e9;
  return {
    schema: 'os2g.feed-result/1',
    samples,
    padded,
    dropped: droppedPerEpoch(parts.base),
    batches,
    bytes,
    requests: counters[layout.COUNTER_REQUESTS]!,
    list_requests: parts.listRequests(),
    retries: counters[layout.COUNTER_RETRIES]!,
    hedges: counters[layout.COUNTER_HEDGES]!,
    skipped: [...tally.skipped],
    wall_s: wallS,
    cpu_s: tally.cpuNs / 1e9,
    samples_per_s: wallS > 0 ? samples / wallS : 0,
    bytes_per_s: wallS > 0 ? bytes / wallS : 0,
    stall_s: stallSeconds(core),
    checksums: { ...engine.checksums },
    gpu_busy_share: busyShare(busyNs, tally.trainingNs(parts.clock.nowNs())),
    memory_budget_bytes: parts.memoryBytes,
    memory_peak_bytes: counters[layout.COUNTER_MEMORY_PEAK_BYTES]!,
    rss_peak_bytes: process.resourceUsage().maxRSS * 1024,
    engine: engine.name,
    engine_reason: parts.engineReason,
    landing: parts.landingChoice,
    policy: describePolicy(parts.policy),
    core_sha256: core.sha256,
    run_hash: core.runHash,
    cursor,
  };
}

export function feedSnapshot({ core }: FeedParts, tally: Tally): FeedSnapshot {
  const { counters } = core;
  const { samples, batches, bytes, wallNs } = tally;
  return {
    samples,
    batches,
    bytes,
    wallNs,
    windowBytes: counters[layout.COUNTER_WINDOW_BYTES]!,
    memoryBytes: counters[layout.COUNTER_MEMORY_BYTES]!,
    inFlight: counters[layout.COUNTER_IN_FLIGHT]!,
    concurrencyLimit: counters[layout.COUNTER_CONCURRENCY_LIMIT]!,
    readyBatches: counters[layout.COUNTER_READY_BATCHES]!,
    stallShare: wallNs > 0 ? Math.min(stallNs(core) / wallNs, 1) : 0,
    latencyP50Ns: counters[layout.COUNTER_LATENCY_P50_NS]!,
  };
}

/** A step's time may be rounded up, and its last one may not have passed whole: never above 1. */
function busyShare(busyNs: number, trainingNs: number): number | null {
  return busyNs > 0 ? busyNs / Math.max(busyNs, trainingNs) : null;
}

function stallSeconds({ counters }: Core): Record<StallName, number> {
  const entries = STALL_NAMES.map((name, cause) => [name, counters[layout.COUNTER_STALL_NS + cause]! / 1e9]);
  return Object.fromEntries(entries) as Record<StallName, number>;
}

function stallNs({ counters }: Core): number {
  let sum = 0;
  for (let cause = 0; cause < layout.STALL_CAUSES; cause++) sum += counters[layout.COUNTER_STALL_NS + cause]!;
  return sum;
}
