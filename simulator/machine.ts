import { type Sampler, samplerOf } from './distribution.js';
import type { ClientCosts, PipelineName, Scenario } from './scenario/types.js';

export type Side = 'host' | 'dpu';
/** From the client to the GPU: host memory to GPU; DPU to host to GPU; DPU to GPU. */
export type Way = 'host' | 'relay' | 'direct';
export type ClientModel = 'core' | 's3fs' | 's3connector';

/** What a pipeline is: which client, where it runs, and the way of its bytes. */
export interface Pipeline {
  readonly name: PipelineName;
  readonly client: ClientModel;
  readonly side: Side;
  readonly way: Way;
}

export function pipelineOf(name: PipelineName, scenario: Scenario): Pipeline {
  switch (name) {
    case 's3fs':
    case 's3connector':
      return { name, client: name, side: 'host', way: 'host' };
    case 'naive-offload':
      return { name, client: scenario.clients.naive, side: 'dpu', way: 'relay' };
    case 'relay':
      return { name, client: 'core', side: 'dpu', way: 'relay' };
    case 'os2g':
      return { name, client: 'core', side: 'dpu', way: scenario.pcie.direct ? 'direct' : 'relay' };
    case 'os2g-host':
      return { name, client: 'core', side: 'host', way: 'host' };
  }
}

/** CPU of a client on the side where it runs: ns a request and ns a byte of one of its cores. */
export interface CpuCost {
  requestNs: number;
  nsPerByte: number;
}

/** A scenario in base units, for one pipeline: nanoseconds, bytes, bytes a nanosecond. */
export interface Machine {
  readonly scenario: Scenario;
  readonly pipeline: Pipeline;
  readonly nodes: number;
  readonly gpus: number;
  readonly client: CpuCost;
  readonly relay: CpuCost;
  /** The client copies each body once. */
  readonly clientCopies: boolean;
  readonly hostCores: number;
  readonly dpuCores: number;
  readonly hostCopyRate: number;
  readonly dpuCopyRate: number;
  readonly linkRate: number;
  readonly connectionRate: number;
  readonly storeRate: number;
  readonly requestsPerS: number;
  readonly queuesOverLimit: boolean;
  readonly rttNs: number;
  readonly firstByte: Sampler;
  readonly dpuToHostRate: number;
  readonly hostToGpuRate: number;
  readonly dpuToGpuRate: number;
  readonly memoryBytes: number;
  readonly hostWorkNs: number;
}

const NS_PER_MS = 1e6;
const MIB = 1048576;

function costOf(costs: ClientCosts, speed: number): CpuCost {
  return {
    requestNs: Math.round((costs.cpu_us_per_request * 1e3) / speed),
    nsPerByte: costs.cpu_us_per_mb / 1e3 / speed,
  };
}

function costsOf(scenario: Scenario, { client }: Pipeline): ClientCosts {
  return client === 'core' ? scenario.clients.os2g : scenario.clients[client];
}

export function machineOf(scenario: Scenario, pipeline: Pipeline): Machine {
  const { store, network, host, dpu, pcie, training } = scenario;
  const perNs = (mbPerS: number | null): number =>
    mbPerS === null ? Number.POSITIVE_INFINITY : mbPerS / 1e3;
  return {
    scenario,
    pipeline,
    nodes: scenario.nodes,
    gpus: training.gpus,
    client: costOf(costsOf(scenario, pipeline), pipeline.side === 'dpu' ? dpu.core_speed : 1),
    relay: costOf(scenario.clients.relay_host, 1),
    clientCopies: pipeline.side === 'host' || pipeline.client !== 'core',
    hostCores: host.cores,
    dpuCores: dpu.cores,
    hostCopyRate: host.memcpy_gb_per_s,
    dpuCopyRate: dpu.memcpy_gb_per_s,
    linkRate: network.gbit_per_s / 8,
    connectionRate: perNs(store.connection_mb_per_s),
    storeRate: perNs(store.total_mb_per_s),
    requestsPerS: store.requests_per_s ?? Number.POSITIVE_INFINITY,
    queuesOverLimit: store.over_limit === 'queue',
    rttNs: Math.round(network.rtt_ms * NS_PER_MS),
    firstByte: samplerOf(store.first_byte_ms),
    dpuToHostRate: pcie.dpu_to_host_gb_per_s,
    hostToGpuRate: pcie.host_to_gpu_gb_per_s,
    dpuToGpuRate: pcie.dpu_to_gpu_gb_per_s,
    memoryBytes: scenario.memory_budget_mib * MIB,
    hostWorkNs: Math.round(training.host_us_per_sample * 1e3),
  };
}
