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

/** One epoch's work, as every policy must do it. */
interface Work {
  /** Of the epoch with the fewest bytes. */
  bytes: number;
  /** Per node: bytes and reads, and those that memory cannot have held when the epoch began. */
  nodeBytes: number;
  nodeReads: number;
  reads: number;
  fresh: number; // share of the work that must be done within the epoch
  /** From the start to the first byte of a body, where the run begins with this epoch; else 0. */
  headNs: number;
  /** First step of all GPUs of a node. */
  firstBytes: number;
  /** Compute of one full step, of all steps, and of the last one. */
  stepNs: number;
  computeNs: number;
  lastNs: number;
  lastBytes: number;
  memoryBytes: number;
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
 * Of a run of several epochs, one may begin with its memory full: only the rest must be done within it.
 */
export function boundOf(outcome: RunOutcome): Bound {
  const { machine } = outcome;
  const work = workOf(outcome);
  const candidates: [BoundBy, number][] = [
    ...gpuBound(machine, work),
    ['network', streamNs(work, (work.nodeBytes * work.fresh) / machine.linkRate)],
    ['store_rate', streamNs(work, (work.bytes * work.fresh) / (machine.storeRate * boost(machine)))],
    ['store_requests', requestsNs(machine, work)],
    ...latencyBound(outcome, work),
    ['dpu_cpu', dpuNs(machine, work)],
    ['host_cpu', hostNs(machine, work)],
    ['pcie', pcieNs(machine, work)],
    ['memory', memoryNs(machine, work)],
  ];
  const best = candidates.reduce((a, b) => (b[1] > a[1] ? b : a));
  return { epochNs: Math.floor(best[1]), by: best[0] };
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

function workOf({ machine, plan, trainer, totals }: RunOutcome): Work {
  const { nodes, scenario } = machine;
  const bytes = trainer.epochBytes.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const isCold = plan.epochs === 1;
  const reads = Math.ceil(
    (trainer.samples + trainer.padded) / plan.epochs / scenario.dataset.samples_per_object,
  );
  const isCore = machine.pipeline.client === 'core';
  const memoryBytes = isCore ? machine.memoryBytes : Math.max(machine.memoryBytes, totals.memoryPeakBytes);
  const stepNs = Math.round((plan.batchSamples * 1e9) / scenario.training.gpu_samples_per_s);
  const last = Math.floor(Math.min(plan.shareLength(0, plan.steps - 1), plan.batchSamples));
  const lastNs = Math.round((last * 1e9) / scenario.training.gpu_samples_per_s);
  return {
    bytes,
    nodeBytes: bytes / nodes,
    nodeReads: reads / nodes,
    reads,
    fresh: isCold ? 1 : Math.max(0, 1 - (memoryBytes * nodes) / bytes),
    headNs: isCold ? machine.client.requestNs + machine.rttNs + leastFirstByteNs(machine) : 0,
    firstBytes: isCold ? trainer.firstStepBytes.reduce((a, b) => Math.min(a, b)) : 0,
    stepNs,
    computeNs: (plan.steps - 1) * stepNs + lastNs,
    lastNs,
    lastBytes: lastNs === stepNs ? 0 : trainer.lastStepBytes,
    memoryBytes: isCore ? machine.memoryBytes : Number.POSITIVE_INFINITY,
  };
}

/** All of a station's work after the head, and the last step after it. */
function streamNs(work: Work, workNs: number): number {
  return work.headNs + workNs + work.lastNs;
}

/** What sets the ramp is named where the ramp is longer than the compute. */
function gpuBound(machine: Machine, work: Work): [BoundBy, number][] {
  const { gpus, hostCores, hostWorkNs, scenario } = machine;
  if (work.headNs === 0 && work.firstBytes === 0) return [['gpu', work.computeNs]];
  const linkNs = work.firstBytes / machine.linkRate;
  const storeNs = work.firstBytes / (machine.storeRate * boost(machine));
  const wayNs = Math.max(linkNs, storeNs, work.firstBytes / gpus / pcieRate(machine));
  const hostNs = (scenario.training.batch_samples_per_gpu * hostWorkNs) / hostCores;
  const partialNs = work.lastBytes > 0 && work.computeNs === work.lastNs ? 0 : hostNs;
  const totalNs = work.headNs + wayNs + partialNs + work.computeNs;
  const longest = Math.max(work.computeNs, work.headNs, wayNs);
  const by: BoundBy =
    longest === work.computeNs
      ? 'gpu'
      : longest === work.headNs
        ? 'store_latency'
        : wayNs === linkNs
          ? 'network'
          : wayNs === storeNs
            ? 'store_rate'
            : 'pcie';
  return [[by, totalNs]];
}

function requestsNs(machine: Machine, work: Work): number {
  const perS = machine.requestsPerS * boost(machine);
  if (perS === Number.POSITIVE_INFINITY) return 0;
  const depth = Math.max(1, perS * BUCKET_DEPTH_S);
  const queued = Math.max(0, work.reads * work.fresh - depth - 1);
  const answerNs = work.headNs > 0 ? leastFirstByteNs(machine) : 0;
  return (queued / perS) * 1e9 + answerNs + work.lastNs;
}

function latencyBound({ machine, plan }: RunOutcome, work: Work): [BoundBy, number][] {
  const { access } = machine.scenario.training;
  if (access.kind !== 'zipf') return [];
  const chain = access.lookahead_batches + 1;
  const askNs = machine.client.requestNs + leastFirstByteNs(machine);
  const hops = work.headNs > 0 ? plan.steps / chain : Math.floor(plan.steps / chain);
  const bytesNs = work.headNs > 0 ? work.nodeBytes / machine.linkRate / chain : 0;
  const lastNs = work.lastNs < work.stepNs ? work.stepNs : 0;
  const totalNs = hops * (askNs + work.stepNs) + bytesNs - lastNs;
  const by: BoundBy =
    hops * work.stepNs >= Math.max(bytesNs, hops * askNs)
      ? 'gpu'
      : bytesNs > hops * askNs
        ? 'network'
        : 'store_latency';
  return [[by, totalNs]];
}

/** Durations are rounded to whole nanoseconds: each read may cost half a nanosecond less than its share. */
function cpuNs(reads: number, perReadNs: number, bytes: number, nsPerByte: number): number {
  if (perReadNs === 0 && nsPerByte === 0) return 0;
  return Math.max(0, reads * perReadNs + bytes * nsPerByte - reads);
}

function copyNs(work: Work, rate: number): number {
  return Math.max(0, work.nodeBytes / rate - work.nodeReads);
}

function sideNs(work: Work, cores: number, cpu: number, copies: number): number {
  const workNs = Math.max((cpu + copies) / cores, copies);
  return workNs === 0 ? 0 : workNs * work.fresh + work.lastNs;
}

function dpuNs(machine: Machine, work: Work): number {
  const { pipeline, client } = machine;
  if (pipeline.side !== 'dpu') return 0;
  const copies = machine.clientCopies ? copyNs(work, machine.dpuCopyRate) : 0;
  return sideNs(
    work,
    machine.dpuCores,
    cpuNs(work.nodeReads, client.requestNs, work.nodeBytes, client.nsPerByte),
    copies,
  );
}

function hostNs(machine: Machine, work: Work): number {
  const { pipeline, client, relay, scenario, nodes } = machine;
  const samples = work.reads * scenario.dataset.samples_per_object;
  let cpu = scenario.dataset.samples_per_object === 1 ? (samples / nodes) * machine.hostWorkNs : 0;
  let copies = 0;
  if (pipeline.side === 'host') {
    cpu += cpuNs(work.nodeReads, client.requestNs, work.nodeBytes, client.nsPerByte);
    copies = machine.clientCopies ? copyNs(work, machine.hostCopyRate) : 0;
  } else if (pipeline.way === 'relay') {
    cpu += cpuNs(work.nodeReads, relay.requestNs, work.nodeBytes, relay.nsPerByte);
    copies = copyNs(work, machine.hostCopyRate);
  }
  return sideNs(work, machine.hostCores, cpu, copies);
}

/** Of the last link to each GPU. */
function pcieRate(machine: Machine): number {
  return machine.pipeline.way === 'direct' ? machine.dpuToGpuRate : machine.hostToGpuRate;
}

function pcieNs(machine: Machine, work: Work): number {
  const lastNs = work.nodeBytes / machine.gpus / pcieRate(machine);
  const firstNs = machine.pipeline.way === 'relay' ? work.nodeBytes / machine.dpuToHostRate : 0;
  return streamNs(work, Math.max(0, Math.max(lastNs, firstNs) - work.nodeReads) * work.fresh);
}

function memoryNs(machine: Machine, work: Work): number {
  if (work.memoryBytes === Number.POSITIVE_INFINITY) return 0;
  const heldNs = machine.client.requestNs + leastFirstByteNs(machine) + work.stepNs;
  return (Math.max(0, work.nodeBytes * work.fresh - work.lastBytes) * heldNs) / work.memoryBytes;
}
