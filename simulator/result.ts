import { hashText } from '../runtime-node/feed/trace-format.js';
import type { SettingValue } from '../runtime-node/policy/resolve.js';
import { type BoundBy, boundOf } from './bound.js';
import { failureReason } from './failure-reason.js';
import type { ParameterNote } from './profiles/parameter.js';
import { type RunOutcome, STALL_NAMES } from './run.js';
import type { PipelineName, Scenario } from './scenario/types.js';

export type StallSeconds = Record<(typeof STALL_NAMES)[number], number>;

/** One pipeline's part of the result; counters are totals over epochs, GPUs and nodes. */
export interface PipelineResult {
  pipeline: PipelineName;
  epoch_s: number[];
  samples: number;
  padded: number;
  samples_per_s: number;
  gpu_busy_share: number;
  /** Of all GPUs: what the causes of `stall_s` add up to. */
  gpu_idle_s: number;
  host_cpu_s: number;
  dpu_cpu_s: number;
  host_bytes_copied: number;
  stall_s: StallSeconds;
  requests: number;
  head_requests: number;
  retries: number;
  hedges: number;
  throttles: number;
  /** Reads of a loader that failed after all their attempts and were begun again. */
  given_up: number;
  bytes_fetched: number;
  bytes_delivered: number;
  memory_peak_bytes: number;
  bound: { epoch_s: number; by: BoundBy };
  run_hash: string;
  core_events: number;
  simulated_events: number;
  /** Several nodes: how evenly the store served them. */
  fairness?: Fairness;
  /** Why the run ended before its last batch; the other fields then say how far it came. */
  failed?: { reason: string; code: number; class: number; row: number; at_s: number };
  wall_s: number;
  core_events_per_s: number;
}

export interface Fairness {
  /** Jain's index of the nodes' samples a second: 1 where all are equal. */
  jain: number;
  first_node_s: number;
  last_node_s: number;
}

export interface SimulateResult {
  schema: 'os2g.simulate-result/1';
  scenario_sha256: string;
  core_sha256: string;
  scenario: Scenario;
  policy: { preset: string; set: Record<string, SettingValue> };
  /** Parameters of machine, store and clients with what each rests on. */
  parameters: readonly ParameterNote[];
  results: PipelineResult[];
}

const NS_PER_S = 1e9;

/** @param wallS wall time of the run; not part of what is reproducible */
export function pipelineResult(outcome: RunOutcome, wallS: number): PipelineResult {
  const { machine, trainer, sides, totals, failure } = outcome;
  const { nodes, gpus } = machine;
  const ends = Array.from({ length: nodes }, (_, node) => trainer.endNs(node));
  const lastNs = ends.reduce((a, b) => Math.max(a, b));
  const gpuNs = ends.reduce((sum, endNs) => sum + endNs * gpus, 0);
  const stallNs = Array.from(STALL_NAMES, (_, i) => trainer.stallNs[i]! + totals.stallNs[i]!);
  const bound = failure ? { epochNs: 0, by: 'gpu' as const } : boundOf(outcome);
  return {
    pipeline: machine.pipeline.name,
    epoch_s: failure ? [] : epochsOf(outcome),
    samples: trainer.samples,
    padded: trainer.padded,
    samples_per_s: (trainer.samples / lastNs) * NS_PER_S,
    gpu_busy_share: trainer.busyNs / gpuNs,
    gpu_idle_s: (gpuNs - trainer.busyNs) / NS_PER_S,
    host_cpu_s: sides.hostBusyAt(outcome.endNs) / NS_PER_S,
    dpu_cpu_s: sides.dpuBusyAt(outcome.endNs) / NS_PER_S,
    host_bytes_copied: sides.hostCopiedBytes,
    stall_s: Object.fromEntries(STALL_NAMES.map((name, i) => [name, stallNs[i]! / NS_PER_S])) as StallSeconds,
    requests: totals.requests,
    head_requests: totals.headRequests,
    retries: totals.retries,
    hedges: totals.hedges,
    throttles: totals.throttles,
    given_up: totals.givenUp,
    bytes_fetched: totals.bytesFetched,
    bytes_delivered: trainer.bytesDelivered,
    memory_peak_bytes: totals.memoryPeakBytes,
    bound: { epoch_s: bound.epochNs / NS_PER_S, by: bound.by },
    run_hash: foldHashes(totals.hashes),
    core_events: totals.coreEvents,
    simulated_events: outcome.events,
    ...(nodes > 1 && !failure ? { fairness: fairnessOf(ends) } : {}),
    ...(failure ? { failed: failedOf(outcome) } : {}),
    wall_s: wallS,
    core_events_per_s: wallS > 0 ? totals.coreEvents / wallS : 0,
  };

  function failedOf({ failure }: RunOutcome) {
    const { code, failureClass, row, atNs } = failure!;
    return { reason: failureReason(failure!), code, class: failureClass, row, at_s: atNs / NS_PER_S };
  }
}

/** An epoch ends when the last node has computed its last step. */
function epochsOf({ machine, plan, trainer }: RunOutcome): number[] {
  let beforeNs = 0;
  return Array.from({ length: plan.epochs }, (_, epoch) => {
    let endNs = 0;
    for (let node = 0; node < machine.nodes; node++) {
      endNs = Math.max(endNs, trainer.epochEndNs[node * plan.epochs + epoch]!);
    }
    const spanNs = endNs - beforeNs;
    beforeNs = endNs;
    return spanNs / NS_PER_S;
  });
}

/** All nodes compute the same number of samples, so rates are as the inverses of times. */
function fairnessOf(ends: readonly number[]): Fairness {
  const rates = ends.map((endNs) => 1 / endNs);
  const sum = rates.reduce((a, b) => a + b, 0);
  const squares = rates.reduce((a, b) => a + b * b, 0);
  return {
    jain: (sum * sum) / (rates.length * squares),
    first_node_s: Math.min(...ends) / NS_PER_S,
    last_node_s: Math.max(...ends) / NS_PER_S,
  };
}

/** One node: the hash of its run. Several: MurmurHash3's 32-bit mixing over the nodes' words, in order of the nodes. */
function foldHashes(hashes: readonly { lo: number; hi: number }[]): string {
  if (hashes.length === 1) return hashText(hashes[0]!.lo, hashes[0]!.hi);
  let lo = 0x6f733267;
  let hi = 0x6e6f6465;
  for (const hash of hashes) {
    lo = fold(fold(lo, hash.lo), hash.hi);
    hi = fold(fold(hi, hash.hi), lo);
  }
  return hashText(lo >>> 0, hi >>> 0);
}

function fold(hash: number, word: number): number {
  const k = Math.imul(word, 0xcc9e2d51);
  const mixed = hash ^ Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}
