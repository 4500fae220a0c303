import type { LateEpoch } from './epoch-work.js';
import type { Machine } from './machine.js';
import type { RunOutcome } from './run.js';

export type BoundBy =
  | 'gpu'
  | 'network'
  | 'store_rate'
  | 'store_requests'
  | 'store_latency'
  | 'dpu_cpu'
  | 'host_cpu'
  | 'pcie'
  | 'memory';

/** The least time of an epoch that any policy could need on a pipeline's way, and the station that sets it. */
export interface Bound {
  epochNs: number;
  by: BoundBy;
}

const BUCKET_DEPTH_S = 0.1;
/** The bucket takes a token for whole when it misses this much: it may give as much more with each one. */
const TOKEN_SLACK = 2e-9;

/** What one node must do within an epoch, whatever its policy. */
interface NodeWork {
  bytes: number;
  samples: number;
  reads: number;
  /** Of the first step; 0 where it may be there when the epoch begins. */
  firstBytes: number;
  /** Of a last step that is shorter than the others, else 0. */
  tailBytes: number;
  /** Compute of one full step, of the last one, and of all. */
  stepNs: number;
  lastNs: number;
  computeNs: number;
}

/** What must be done within one epoch: from the end of the one before, or the start of the run, to the end at the last node. */
interface EpochLoad {
  /** From the start to the first byte of a body, where the run begins with this epoch; else 0. */
  headNs: number;
  isFirst: boolean;
  /** All nodes together. */
  bytes: number;
  reads: number;
  /** Compute of the last step, of the node that has the least. */
  lastNs: number;
  /** Each of these ends no later than the epoch. */
  nodes: readonly NodeWork[];
}

/**
 * The greatest of these, each of which no policy can beat (docs/simulator.md derives them):
 * - gpu: the first batch cannot be there before `head` and its own bytes' way; then all steps follow without a gap;
 * - network, store_rate, pcie: all bytes cross the station after `head`, and the last step is computed after the last of them;
 * - store_requests: the bucket's depth at once, the rest at its rate, then a first byte and the last step;
 * - store_latency: with a known look-ahead of L batches, batch b is asked for when batch b-L-1 is computed, so each chain of
 *   every (L+1)-th batch pays latency, its bytes' way and compute in turn;
 * - dpu_cpu, host_cpu: CPU of the client, of the relay, of copies (one at a time) and of the host's work over the side's cores;
 * - memory: each byte is held from its request to the end of its batch's compute (Little's law).
 * Of several epochs the one with the least work counts. A later one may begin with what memory holds and with nodes that are in
 * it already: only the rest must be done within it (`EpochWork`).
 */
export function boundOf(outcome: RunOutcome): Bound {
  const lastNs = leastLastNs(outcome);
  let least = boundOfEpoch(outcome, firstEpoch(outcome, lastNs));
  for (const late of outcome.work.late) {
    const bound = boundOfEpoch(outcome, lateEpoch(outcome, late, lastNs));
    if (bound[1] < least[1]) least = bound;
  }
  return { epochNs: Math.floor(least[1]), by: least[0] };
}

type Candidate = readonly [BoundBy, number];

const greatest = (candidates: readonly Candidate[]): Candidate =>
  candidates.reduce((a, b) => (b[1] > a[1] ? b : a));

function boundOfEpoch(outcome: RunOutcome, load: EpochLoad): Candidate {
  const { machine } = outcome;
  const stream = (node: NodeWork, workNs: number): number => load.headNs + workNs + node.lastNs;
  const ofNode = (node: NodeWork): Candidate =>
    greatest([
      gpuBound(machine, load, node),
      ['network', stream(node, node.bytes / machine.linkRate)],
      ...latencyBound(outcome, load, node),
      ['dpu_cpu', dpuNs(machine, node)],
      ['host_cpu', hostNs(machine, node)],
      ['pcie', stream(node, pcieNs(machine, node))],
      ['memory', memoryNs(machine, node)],
    ]);
  return greatest([
    greatest(load.nodes.map(ofNode)),
    ['store_rate', load.headNs + load.bytes / (machine.storeRate * boost(machine)) + load.lastNs],
    ['store_requests', requestsNs(machine, load)],
  ]);
}

/** Faults may also make a station faster; a bound must allow for it. */
function boost({ scenario }: Machine): number {
  let factor = 1;
  for (const fault of scenario.faults) if (fault.kind === 'throttle') factor *= Math.max(1, fault.factor!);
  return factor;
}

function leastFirstByteNs({ firstByte, scenario }: Machine): number {
  let factor = 1;
  for (const fault of scenario.faults) if (fault.kind === 'latency') factor *= Math.min(1, fault.factor!);
  return Math.floor(firstByte.least * 1e6 * factor);
}

// ---- what an epoch must do ------------------------------------------------------------------------

/** The run begins with it: nothing is there, and it ends when each node has done its share. */
function firstEpoch(outcome: RunOutcome, lastNs: number): EpochLoad {
  const { machine, work } = outcome;
  const nodes = Array.from(work.bytes, (bytes, node): NodeWork => {
    const compute = computeOf(outcome, node);
    const firstBytes = work.firstStepBytes[node]!;
    const samples = samplesOf(outcome, node);
    return nodeWork(outcome, compute, { bytes, samples, firstBytes, tailBytes: work.tailBytes[node]! });
  });
  const sum = (of: (node: NodeWork) => number): number => nodes.reduce((total, node) => total + of(node), 0);
  return {
    headNs: machine.client.requestNs + machine.rttNs + leastFirstByteNs(machine),
    isFirst: true,
    bytes: sum(({ bytes }) => bytes),
    reads: sum(({ reads }) => reads),
    lastNs,
    nodes,
  };
}

/** Only the node that came last has all its steps before it. */
function lateEpoch(outcome: RunOutcome, late: LateEpoch, lastNs: number): EpochLoad {
  const { node, nodeBytes, nodeSamples, tailBytes, bytes, samples } = late;
  const own = { bytes: nodeBytes, samples: nodeSamples, firstBytes: 0, tailBytes };
  return {
    headNs: 0,
    isFirst: false,
    bytes,
    reads: readsOf(outcome, samples),
    lastNs,
    nodes: [nodeWork(outcome, computeOf(outcome, node), own)],
  };
}

type Compute = Pick<NodeWork, 'stepNs' | 'lastNs' | 'computeNs'>;

function nodeWork(
  outcome: RunOutcome,
  compute: Compute,
  own: Pick<NodeWork, 'bytes' | 'samples' | 'firstBytes' | 'tailBytes'>,
): NodeWork {
  const tailBytes = compute.lastNs === compute.stepNs ? 0 : own.tailBytes;
  return { ...compute, ...own, tailBytes, reads: readsOf(outcome, own.samples) };
}

/** One a sample, or one an object where several samples lie in one. */
function readsOf({ machine }: RunOutcome, samples: number): number {
  return Math.ceil(samples / machine.scenario.dataset.samples_per_object);
}

/** A step takes the longest of its shares. */
function lastShare({ machine, plan }: RunOutcome, node: number): number {
  let longest = 0;
  for (let gpu = 0; gpu < machine.gpus; gpu++) {
    longest = Math.max(longest, plan.shareLength(node * machine.gpus + gpu, plan.steps - 1));
  }
  return longest;
}

function computeOf(outcome: RunOutcome, node: number): Compute {
  const { gpu_samples_per_s } = outcome.machine.scenario.training;
  const { batchSamples, steps } = outcome.plan;
  const stepNs = Math.round((batchSamples * 1e9) / gpu_samples_per_s);
  const lastNs = Math.round((lastShare(outcome, node) * 1e9) / gpu_samples_per_s);
  return { stepNs, lastNs, computeNs: (steps - 1) * stepNs + lastNs };
}

function leastLastNs(outcome: RunOutcome): number {
  let least = Number.POSITIVE_INFINITY;
  for (let node = 0; node < outcome.machine.nodes; node++) {
    least = Math.min(least, computeOf(outcome, node).lastNs);
  }
  return least;
}

/** Samples of an epoch's batches of one node, pads included. */
function samplesOf({ machine, plan }: RunOutcome, node: number): number {
  let samples = (plan.steps - 1) * plan.batchSamples * machine.gpus;
  for (let gpu = 0; gpu < machine.gpus; gpu++) {
    samples += plan.shareLength(node * machine.gpus + gpu, plan.steps - 1);
  }
  return samples;
}

// ---- stations -------------------------------------------------------------------------------------

/** What sets the ramp is named where the ramp is longer than the compute. */
function gpuBound(machine: Machine, { isFirst, headNs }: EpochLoad, node: NodeWork): Candidate {
  if (!isFirst) return ['gpu', node.computeNs];
  const { gpus, hostCores, hostWorkNs, scenario } = machine;
  const linkNs = node.firstBytes / machine.linkRate;
  const storeNs = node.firstBytes / (machine.storeRate * boost(machine));
  const wayNs = Math.max(linkNs, storeNs, node.firstBytes / gpus / pcieRate(machine));
  const isShort = node.computeNs === node.lastNs && node.lastNs < node.stepNs;
  const hostNs = isShort ? 0 : (scenario.training.batch_samples_per_gpu * hostWorkNs) / hostCores;
  const totalNs = headNs + wayNs + hostNs + node.computeNs;
  const longest = Math.max(node.computeNs, headNs, wayNs);
  if (longest === node.computeNs) return ['gpu', totalNs];
  if (longest === headNs) return ['store_latency', totalNs];
  return [wayNs === linkNs ? 'network' : wayNs === storeNs ? 'store_rate' : 'pcie', totalNs];
}

/** Of N reads the last is admitted when the bucket's depth and what came in since make N; then comes its first byte. */
function requestsNs(machine: Machine, { reads, lastNs }: EpochLoad): number {
  const perS = machine.requestsPerS * boost(machine);
  if (perS === Number.POSITIVE_INFINITY) return 0;
  const depth = Math.max(1, perS * BUCKET_DEPTH_S);
  const queued = reads * (1 - TOKEN_SLACK) - TOKEN_SLACK - depth;
  return queued <= 0 ? 0 : (queued / perS) * 1e9 + leastFirstByteNs(machine) + lastNs;
}

function latencyBound({ machine, plan }: RunOutcome, load: EpochLoad, node: NodeWork): readonly Candidate[] {
  const { access } = machine.scenario.training;
  if (access.kind !== 'zipf') return [];
  const chain = access.lookahead_batches + 1;
  const askNs = machine.client.requestNs + leastFirstByteNs(machine);
  const hops = load.isFirst ? plan.steps / chain : Math.floor(plan.steps / chain);
  const bytesNs = load.isFirst ? node.bytes / machine.linkRate / chain : 0;
  const lastNs = node.lastNs < node.stepNs ? node.stepNs : 0;
  const totalNs = hops * (askNs + node.stepNs) + bytesNs - lastNs;
  if (hops * node.stepNs >= Math.max(bytesNs, hops * askNs)) return [['gpu', totalNs]];
  return [[bytesNs > hops * askNs ? 'network' : 'store_latency', totalNs]];
}

/** Durations are rounded to whole nanoseconds: each read may cost half a nanosecond less than its share. */
function cpuNs({ reads, bytes }: NodeWork, perReadNs: number, nsPerByte: number): number {
  if (perReadNs === 0 && nsPerByte === 0) return 0;
  return Math.max(0, reads * perReadNs + bytes * nsPerByte - reads);
}

function copyNs({ bytes, reads }: NodeWork, rate: number): number {
  return Math.max(0, bytes / rate - reads);
}

function sideNs({ lastNs }: NodeWork, cores: number, cpu: number, copies: number): number {
  const workNs = Math.max((cpu + copies) / cores, copies);
  return workNs === 0 ? 0 : workNs + lastNs;
}

function dpuNs(machine: Machine, node: NodeWork): number {
  const { pipeline, client } = machine;
  if (pipeline.side !== 'dpu') return 0;
  const copies = machine.clientCopies ? copyNs(node, machine.dpuCopyRate) : 0;
  return sideNs(node, machine.dpuCores, cpuNs(node, client.requestNs, client.nsPerByte), copies);
}

function hostNs(machine: Machine, node: NodeWork): number {
  const { pipeline, client, relay } = machine;
  let cpu = node.samples * machine.hostWorkNs;
  let copies = 0;
  if (pipeline.side === 'host') {
    cpu += cpuNs(node, client.requestNs, client.nsPerByte);
    copies = machine.clientCopies ? copyNs(node, machine.hostCopyRate) : 0;
  } else if (pipeline.way === 'relay') {
    cpu += cpuNs(node, relay.requestNs, relay.nsPerByte);
    copies = copyNs(node, machine.hostCopyRate);
  }
  return sideNs(node, machine.hostCores, cpu, copies);
}

/** Of the last link to each GPU. */
function pcieRate(machine: Machine): number {
  return machine.pipeline.way === 'direct' ? machine.dpuToGpuRate : machine.hostToGpuRate;
}

function pcieNs(machine: Machine, { bytes, reads }: NodeWork): number {
  const lastNs = bytes / machine.gpus / pcieRate(machine);
  const firstNs = machine.pipeline.way === 'relay' ? bytes / machine.dpuToHostRate : 0;
  return Math.max(0, Math.max(lastNs, firstNs) - reads);
}

/** The peers know no memory budget. */
function memoryNs(machine: Machine, { bytes, tailBytes, stepNs }: NodeWork): number {
  if (machine.pipeline.client !== 'core') return 0;
  const heldNs = machine.client.requestNs + leastFirstByteNs(machine) + stepNs;
  return (Math.max(0, bytes - tailBytes) * heldNs) / machine.memoryBytes;
}
