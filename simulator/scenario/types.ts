import type { Distribution } from '../distribution.js';

export const PIPELINE_NAMES = ['s3fs', 's3connector', 'naive-offload', 'relay', 'os2g', 'os2g-host'] as const;
export type PipelineName = (typeof PIPELINE_NAMES)[number];
export const FAULT_KINDS = ['throttle', 'latency', 'error', 'outage'] as const;

export type Access = { kind: 'epoch' } | { kind: 'zipf'; exponent: number; lookahead_batches: number };

export interface Fault {
  at_s: number;
  for_s: number;
  kind: (typeof FAULT_KINDS)[number];
  /** Of rates, of latency, or the share of errors; an outage has none. */
  factor?: number;
}

/** CPU of a client, on a core of the host. */
export interface ClientCosts {
  cpu_us_per_request: number;
  cpu_us_per_mb: number;
}

export interface S3fsClient extends ClientCosts {
  /** Readers for each GPU, each of them synchronous. */
  concurrency: number;
  /** Parts of one sample that are asked for at once. */
  readahead_parts: number;
  part_mb: number;
  timeout_s: number;
}

export interface S3ConnectorClient extends ClientCosts {
  /** Loader workers for each GPU. */
  workers: number;
  part_mb: number;
  timeout_s: number;
}

/** A scenario with every part filled in (`os2g.scenario/1`); units are in the names, MB and GB decimal, MiB binary. */
export interface Scenario {
  schema: 'os2g.scenario/1';
  name: string;
  profile: string;
  seed: number;
  dataset: { samples: number; sample_bytes: Distribution; samples_per_object: number };
  training: {
    epochs: number;
    gpus: number;
    batch_samples_per_gpu: number;
    gpu_samples_per_s: number;
    shuffle: 'none' | 'sample' | 'block';
    tail: 'drop' | 'pad' | 'partial';
    host_us_per_sample: number;
    access: Access;
    /** A pause of every GPU of a node after each so many steps; null: none. */
    checkpoint: { every_batches: number; pause_s: number } | null;
  };
  store: {
    first_byte_ms: Distribution;
    slow_tail: { share: number; factor: number };
    connection_mb_per_s: number | null;
    total_mb_per_s: number | null;
    requests_per_s: number | null;
    over_limit: '503' | 'queue';
    error_share: number;
    hang_share: number;
  };
  network: { gbit_per_s: number; rtt_ms: number };
  host: { cores: number; memcpy_gb_per_s: number };
  dpu: { cores: number; core_speed: number; memcpy_gb_per_s: number; memory_mib: number };
  pcie: {
    dpu_to_host_gb_per_s: number;
    host_to_gpu_gb_per_s: number;
    dpu_to_gpu_gb_per_s: number;
    direct: boolean;
  };
  clients: {
    s3fs: S3fsClient;
    s3connector: S3ConnectorClient;
    os2g: ClientCosts;
    relay_host: ClientCosts;
    naive: 's3fs' | 's3connector';
  };
  memory_budget_mib: number;
  policy: { preset: string; set: Record<string, unknown> };
  pipelines: PipelineName[];
  faults: Fault[];
  nodes: number;
}
