import * as layout from '../../assembly/layout.js';
import type { Core } from '../../runtime-node/core.js';
import type { ActionOf } from './records.js';
import { STALL_NAMES } from './world.js';

/** A batch as a trainer got it. */
export interface DeliveredBatch {
  consumer: number;
  epoch: number;
  batch: number;
  atNs: number;
  rows: number[];
  pads: number;
  skipped: number[];
}

/** What a run came to. */
export interface RunReport {
  endNs: number;
  batches: DeliveredBatch[];
  ended: boolean;
  failed: ActionOf<'fail'> | null;
  skips: ActionOf<'skip'>[];
  /** Nanoseconds that consumers stalled, as the world saw it, and as the core charged it. */
  stalledNs: number;
  stallsNs: Record<(typeof STALL_NAMES)[number], number>;
  counter: (index: number) => number;
  mostInFlight: number;
  memoryPeakBytes: number;
  throttled: number;
  runHash: string;
  steps: number;
}

export function emptyReport(core: Core): RunReport {
  return {
    endNs: 0,
    batches: [],
    ended: false,
    failed: null,
    skips: [],
    stalledNs: 0,
    stallsNs: stallsOf(core),
    counter: (index) => core.counters[index]!,
    mostInFlight: 0,
    memoryPeakBytes: 0,
    throttled: 0,
    runHash: '',
    steps: 0,
  };
}

/** What the core charged to each cause so far. */
export function stallsOf(core: Core): RunReport['stallsNs'] {
  const entries = STALL_NAMES.map((name, cause) => [name, core.counters[layout.COUNTER_STALL_NS + cause]!]);
  return Object.fromEntries(entries) as RunReport['stallsNs'];
}
