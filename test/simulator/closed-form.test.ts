import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PipelineResult } from '../../simulator/result.js';
import type { PipelineName } from '../../simulator/scenario/types.js';
import { ideal, type Parts, runOne, withParts } from './kit.js';

const MS = 1e6;
/** What the ideal world itself costs: nanoseconds of links, copies and compute, and the rounding of each event. */
const SLACK_NS = 400;

const LATENCY = { store: { first_byte_ms: { kind: 'constant', value: 20 } } };
const SYNC = { policy: { preset: 'sync' } };
const one = { dataset: { samples: 1 }, training: { batch_samples_per_gpu: 1 } };

function cpu(client: string, perRequest: number, perMb: number): Parts {
  return { clients: { [client]: { cpu_us_per_request: perRequest, cpu_us_per_mb: perMb } } };
}

type Row = [what: string, pipeline: PipelineName, parts: Parts[], expectedMs: number];

// 8 samples of 1 MB, one batch, one GPU, unless a row says otherwise.
const rows: Row[] = [
  ['a link of 1 Gbit/s: bits, not bytes', 'os2g', [{ network: { gbit_per_s: 1 } }], 64],
  ['a link of 8 Gbit/s moves 1 GB/s', 'os2g', [{ network: { gbit_per_s: 8 } }], 8],
  ['one connection of 90 MB/s, decimal', 'os2g', [one, { store: { connection_mb_per_s: 90 } }], 1e3 / 90],
  [
    'eight connections at once: each has its own rate',
    'os2g',
    [{ store: { connection_mb_per_s: 90 } }],
    1e3 / 90,
  ],
  ['one connection after the other', 'os2g', [SYNC, { store: { connection_mb_per_s: 100 } }], 80],
  ["the store's total is shared", 'os2g', [{ store: { total_mb_per_s: 100 } }], 80],
  [
    'the smallest of total, link and connection rules',
    'os2g',
    [{ store: { total_mb_per_s: 500, connection_mb_per_s: 50 }, network: { gbit_per_s: 2 } }],
    32,
  ],
  [
    'a sample of 1 MiB is 1048576 bytes',
    'os2g',
    [
      one,
      { dataset: { sample_bytes: { kind: 'constant', value: 1048576 } }, store: { connection_mb_per_s: 1 } },
    ],
    1048.576,
  ],
  ['first bytes at once', 'os2g', [LATENCY], 20],
  ['first bytes one after the other', 'os2g', [LATENCY, SYNC], 160],
  ['the round trip sets a connection up once', 'os2g', [LATENCY, SYNC, { network: { rtt_ms: 5 } }], 165],
  ['each of eight connections is set up', 'os2g', [LATENCY, { network: { rtt_ms: 5 } }], 25],
  [
    'the slow tail multiplies the first byte only',
    'os2g',
    [LATENCY, one, { store: { slow_tail: { share: 1, factor: 3 }, connection_mb_per_s: 100 } }],
    70,
  ],
  [
    'a cap that queues: the first is free, then one each 100 ms',
    'os2g',
    [{ store: { requests_per_s: 10, over_limit: 'queue' } }],
    700,
  ],
  ['the bucket is 0.1 s deep', 'os2g', [{ store: { requests_per_s: 50, over_limit: 'queue' } }], 60],
  ['CPU of requests on one host core', 'os2g-host', [{ host: { cores: 1 } }, cpu('os2g', 1000, 0)], 8],
  ['CPU of requests on two host cores', 'os2g-host', [{ host: { cores: 2 } }, cpu('os2g', 1000, 0)], 4],
  ['a DPU core at half speed', 'os2g', [{ dpu: { cores: 1, core_speed: 0.5 } }, cpu('os2g', 1000, 0)], 16],
  ['CPU of bytes: by decimal megabytes', 'os2g', [{ dpu: { cores: 1 } }, cpu('os2g', 0, 1000)], 8],
  [
    'copies share the memory bandwidth however many cores there are',
    'os2g-host',
    [{ host: { memcpy_gb_per_s: 1 } }],
    8,
  ],
  [
    'the relay copies once on the host',
    'relay',
    [{ host: { memcpy_gb_per_s: 1 }, dpu: { memcpy_gb_per_s: 0.001 } }],
    8,
  ],
  [
    'the direct way copies nothing',
    'os2g',
    [{ host: { memcpy_gb_per_s: 0.001 }, dpu: { memcpy_gb_per_s: 0.001 } }],
    0,
  ],
  ['the link from DPU to GPU', 'os2g', [{ pcie: { dpu_to_gpu_gb_per_s: 1 } }], 8],
  ['the link from DPU to host', 'relay', [{ pcie: { dpu_to_host_gb_per_s: 1 } }], 8],
  ['the link from host to GPU', 'os2g-host', [{ pcie: { host_to_gpu_gb_per_s: 1 } }], 8],
  [
    'the two links of a relay overlap but for one sample',
    'relay',
    [{ pcie: { dpu_to_host_gb_per_s: 1, host_to_gpu_gb_per_s: 1 } }],
    9,
  ],
  ['what the relay costs the host', 'relay', [{ host: { cores: 1 } }, cpu('relay_host', 500, 500)], 8],
  [
    'compute of ten batches',
    'os2g',
    [{ dataset: { samples: 80 }, training: { gpu_samples_per_s: 1000 } }],
    80,
  ],
  [
    'a partial last batch computes less',
    'os2g',
    [{ dataset: { samples: 12 }, training: { gpu_samples_per_s: 1000, tail: 'partial' } }],
    12,
  ],
  [
    'a padded last batch computes in full',
    'os2g',
    [{ dataset: { samples: 12 }, training: { gpu_samples_per_s: 1000, tail: 'pad' } }],
    16,
  ],
  [
    "the host's work on samples, four cores",
    'os2g',
    [{ host: { cores: 4 }, training: { host_us_per_sample: 1000 } }],
    2,
  ],
  [
    'a pause for a checkpoint after each second batch',
    'os2g',
    [
      {
        dataset: { samples: 40 },
        training: { gpu_samples_per_s: 1000, checkpoint: { every_batches: 2, pause_s: 1 } },
      },
    ],
    2040,
  ],
  [
    'reads that are known one batch ahead only',
    'os2g',
    [
      LATENCY,
      {
        dataset: { samples: 24 },
        training: { gpu_samples_per_s: 1000, access: { kind: 'zipf', exponent: 1, lookahead_batches: 0 } },
      },
    ],
    84,
  ],
  [
    'one batch known ahead: latency hides behind compute',
    'os2g',
    [
      LATENCY,
      {
        dataset: { samples: 24 },
        training: { gpu_samples_per_s: 400, access: { kind: 'zipf', exponent: 1, lookahead_batches: 1 } },
      },
    ],
    80,
  ],
  [
    'a loader worker reads one sample after the other',
    's3connector',
    [LATENCY, { store: { connection_mb_per_s: 100 } }],
    240,
  ],
  ['... in parts', 's3connector', [LATENCY, { clients: { s3connector: { part_mb: 0.25 } } }], 640],
  [
    '... and two workers make two batches',
    's3connector',
    [LATENCY, { dataset: { samples: 16 }, clients: { s3connector: { workers: 2 } } }],
    160,
  ],
  [
    '... with CPU before and after, and a copy',
    's3connector',
    [LATENCY, { host: { memcpy_gb_per_s: 1 } }, cpu('s3connector', 2000, 1000)],
    8 * (2 + 20 + 1 + 1),
  ],
  ['a file system asks HEAD, then GET', 's3fs', [LATENCY], 320],
  [
    '... and reads parts ahead',
    's3fs',
    [LATENCY, { clients: { s3fs: { part_mb: 0.25, readahead_parts: 2 } } }],
    8 * 60,
  ],
  [
    '... HEAD once for each object',
    's3fs',
    [LATENCY, { dataset: { samples_per_object: 8 }, training: { shuffle: 'none' } }],
    180,
  ],
  [
    'a client that was moved: weak core, DPU copy, link, relay and host copy in turn',
    'naive-offload',
    [
      LATENCY,
      {
        dpu: { core_speed: 0.5, memcpy_gb_per_s: 0.5 },
        host: { memcpy_gb_per_s: 1 },
        pcie: { dpu_to_host_gb_per_s: 0.25 },
      },
      cpu('s3connector', 1000, 0),
      cpu('relay_host', 500, 500),
    ],
    8 * (2 + 20 + 2 + 4 + 1 + 1),
  ],
  [
    'a fault that makes first bytes three times as slow',
    'os2g',
    [LATENCY, { faults: [{ at_s: 0, for_s: 1, kind: 'latency', factor: 3 }] }],
    60,
  ],
  [
    'a fault that takes nine tenths of the rates, from half-way on',
    'os2g',
    [
      one,
      {
        store: { connection_mb_per_s: 100 },
        faults: [{ at_s: 0.005, for_s: 1, kind: 'throttle', factor: 0.1 }],
      },
    ],
    55,
  ],
  [
    'two GPUs of a node share its link',
    'os2g',
    [{ dataset: { samples: 16 }, training: { gpus: 2 }, network: { gbit_per_s: 1 } }],
    128,
  ],
  [
    'two GPUs have a PCIe link each',
    'os2g',
    [{ dataset: { samples: 16 }, training: { gpus: 2 }, pcie: { dpu_to_gpu_gb_per_s: 1 } }],
    8,
  ],
  [
    'two nodes have a link each',
    'os2g',
    [{ dataset: { samples: 16 }, nodes: 2, network: { gbit_per_s: 1 } }],
    64,
  ],
  [
    'four nodes share the store',
    'os2g',
    [{ dataset: { samples: 32 }, nodes: 4, store: { total_mb_per_s: 100 } }],
    320,
  ],
];

for (const [what, pipeline, parts, expectedMs] of rows) {
  test(`${pipeline}: ${what}: ${expectedMs.toFixed(3)} ms`, async () => {
    const scenario = parts.reduce((all, part) => withParts(all, part), ideal());
    const result = await runOne(scenario, pipeline);
    const ns = Math.round(result.epoch_s[0]! * 1e9);
    assert.ok(Math.abs(ns - expectedMs * MS) <= SLACK_NS, `${ns} ns, expected ${expectedMs * MS}`);
    assert.is(result.epoch_s.length, 1);
  });
}

type Count = [
  what: string,
  pipeline: PipelineName,
  parts: Parts[],
  of: (result: PipelineResult) => number,
  expected: number,
];

const counts: Count[] = [
  ['bytes are delivered once', 'os2g', [], (r) => r.bytes_delivered, 8e6],
  ['requests', 'os2g', [], (r) => r.requests, 8],
  [
    'a sample above split.bytes takes several',
    'os2g',
    [{ dataset: { sample_bytes: { kind: 'constant', value: 20e6 } } }],
    (r) => r.requests,
    24,
  ],
  ['HEADs are counted apart', 's3fs', [], (r) => r.head_requests, 8],
  ['host bytes copied: none', 'os2g', [], (r) => r.host_bytes_copied, 0],
  ['host bytes copied: once', 'relay', [], (r) => r.host_bytes_copied, 8e6],
  [
    'a moved client copies on the DPU, its relay on the host',
    'naive-offload',
    [],
    (r) => r.host_bytes_copied,
    8e6,
  ],
  [
    'CPU of a copy: bytes over bandwidth',
    'os2g-host',
    [{ host: { memcpy_gb_per_s: 2 } }],
    (r) => r.host_cpu_s,
    0.004,
  ],
  [
    'CPU of a moved client, at half speed, with its copies',
    'naive-offload',
    [cpu('s3connector', 1000, 1000), { dpu: { core_speed: 0.5, memcpy_gb_per_s: 1 } }],
    (r) => r.dpu_cpu_s,
    8 * (0.004 + 0.001),
  ],
  ["CPU of the host's work", 'os2g', [{ training: { host_us_per_sample: 250 } }], (r) => r.host_cpu_s, 0.002],
  [
    'pads are delivered and counted',
    'os2g',
    [{ dataset: { samples: 12 }, training: { tail: 'pad' } }],
    (r) => r.padded,
    4,
  ],
  ['drop leaves the rest out', 'os2g', [{ dataset: { samples: 15 } }], (r) => r.samples, 8],
  ['the memory of one batch', 's3connector', [], (r) => r.memory_peak_bytes, 8e6],
  [
    'requests that queue are no retries',
    'os2g',
    [{ store: { requests_per_s: 50, over_limit: 'queue' } }],
    (r) => r.retries,
    0,
  ],
];

for (const [what, pipeline, parts, of, expected] of counts) {
  test(`${pipeline}: ${what}: ${expected}`, async () => {
    const result = await runOne(
      parts.reduce((all, part) => withParts(all, part), ideal()),
      pipeline,
    );
    assert.ok(Math.abs(of(result) - expected) <= SLACK_NS / 1e9, `${of(result)}`);
  });
}

test.run();
