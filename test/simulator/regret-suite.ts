/**
 * Scenarios in which the `os2g` preset must come close to the least time that any policy could need: every kind of bottleneck,
 * sizes from 1 KB to 64 MB, tails, request caps (also shared by many nodes), faults. Made by rule, not by hand, so that none is left out because it is hard.
 */
export interface RegretCase {
  name: string;
  /** Faults change what is possible while they last; the bound does not know them. */
  faulty: boolean;
  scenario: Record<string, unknown>;
}

interface SizeClass {
  name: string;
  bytes: number;
  batch: number;
  /** What a GPU could use of such samples. */
  perS: number;
  memoryMib: number;
  sigma: number;
}

const SIZES: readonly SizeClass[] = [
  { name: '1 KB', bytes: 1000, batch: 512, perS: 4000, memoryMib: 64, sigma: 0 },
  { name: '10 KB', bytes: 10_000, batch: 256, perS: 4000, memoryMib: 128, sigma: 0.5 },
  { name: '110 KB', bytes: 110_000, batch: 256, perS: 2500, memoryMib: 512, sigma: 0.4 },
  { name: '1 MB', bytes: 1_000_000, batch: 64, perS: 400, memoryMib: 1024, sigma: 0.3 },
  { name: '8 MB', bytes: 8_000_000, batch: 16, perS: 60, memoryMib: 2048, sigma: 0 },
  { name: '64 MB', bytes: 64_000_000, batch: 4, perS: 8, memoryMib: 4096, sigma: 0 },
];

const EPOCH_S = 60;
/** Nodes of the largest case: that many cores are loaded. */
export const MOST_NODES = 64;

type Change = (size: SizeClass) => Record<string, Record<string, unknown>>;

/** What is short, each at about three quarters of what the GPU could use. */
const BOTTLENECKS: Record<string, Change> = {
  gpu: () => ({}),
  network: (s) => ({ network: { gbit_per_s: (s.perS * s.bytes * 8 * 0.75) / 1e9 } }),
  'store rate': (s) => ({ store: { total_mb_per_s: (s.perS * s.bytes * 0.75) / 1e6 } }),
  'requests, 503': (s) => ({ store: { requests_per_s: s.perS * partsOf(s) * 0.75, over_limit: '503' } }),
  'requests, queue': (s) => ({ store: { requests_per_s: s.perS * partsOf(s) * 0.75, over_limit: 'queue' } }),
  latency: () => ({ store: { first_byte_ms: { kind: 'lognormal', median: 150, sigma: 0.4 } } }),
  'DPU CPU': (s) => ({
    clients: {
      os2g: { cpu_us_per_request: (8 * 0.4 * 1e6) / (s.perS * partsOf(s) * 0.75), cpu_us_per_mb: 0 },
    },
  }),
  PCIe: (s) => ({ pcie: { dpu_to_gpu_gb_per_s: (s.perS * s.bytes * 0.75) / 1e9 } }),
};

const PART_BYTES = 8 * 2 ** 20;

function partsOf(size: SizeClass): number {
  return Math.ceil(size.bytes / PART_BYTES);
}

/** What goes wrong; the middle three sizes. */
const TROUBLES: Record<string, { faulty: boolean; change: Change }> = {
  'tail 1 % x 10': { faulty: false, change: () => ({ store: { slow_tail: { share: 0.01, factor: 10 } } }) },
  'tail 5 % x 30': { faulty: false, change: () => ({ store: { slow_tail: { share: 0.05, factor: 30 } } }) },
  'errors 0.5 %': { faulty: true, change: () => ({ store: { error_share: 0.005 } }) },
  'errors 5 %': { faulty: true, change: () => ({ store: { error_share: 0.05 } }) },
  'hangs 0.1 %': { faulty: true, change: () => ({ store: { hang_share: 0.001 } }) },
};

const FAULTS: Record<string, Record<string, unknown>[]> = {
  'throttle to a tenth, 3 s': [{ at_s: 8, for_s: 3, kind: 'throttle', factor: 0.1 }],
  'latency x 20, 3 s': [{ at_s: 8, for_s: 3, kind: 'latency', factor: 20 }],
  'outage, 2 s': [{ at_s: 8, for_s: 2, kind: 'outage' }],
};

const TAIL = {
  kind: 'quantiles',
  points: [
    [0, 4],
    [0.5, 12],
    [0.99, 80],
    [1, 600],
  ],
};

const capped = (requests_per_s: number, over_limit: '503' | 'queue') => ({
  requests_per_s,
  over_limit,
  first_byte_ms: { kind: 'constant', value: 10 },
});

/**
 * A cap on requests together with what made it worse than its parts: a slow tail that wants hedges, many nodes that share the
 * cap, queues in which a first byte would come later than `limits.first_byte` allows. What a start without any knowledge of
 * the cap costs is in each of them, so they count with the faults.
 */
const SHARED_CAPS: Record<string, Record<string, Record<string, unknown> | number>> = {
  'cap 2,000/s, 503, and a tail, zipf': {
    dataset: { samples: 19_200, sample_bytes: { kind: 'constant', value: 100_000 } },
    training: {
      batch_samples_per_gpu: 96,
      gpu_samples_per_s: 2700,
      access: { kind: 'zipf', exponent: 1.1, lookahead_batches: 3 },
    },
    store: { requests_per_s: 2000, over_limit: '503', first_byte_ms: TAIL },
  },
  'cap 2,000/s, 503, and a tail, epoch': {
    dataset: { samples: 60_000, sample_bytes: { kind: 'constant', value: 100_000 } },
    training: { batch_samples_per_gpu: 96, gpu_samples_per_s: 2700 },
    store: { requests_per_s: 2000, over_limit: '503', first_byte_ms: TAIL },
  },
  '64 nodes, 1,000/s, 503': {
    nodes: MOST_NODES,
    dataset: { samples: MOST_NODES * 500 },
    training: { batch_samples_per_gpu: 10, gpu_samples_per_s: 1000 },
    store: capped(1000, '503'),
  },
  '64 nodes, 128/s, 503': {
    nodes: MOST_NODES,
    dataset: { samples: MOST_NODES * 300 },
    training: { batch_samples_per_gpu: 10, gpu_samples_per_s: 1000 },
    store: capped(128, '503'),
  },
  '4 nodes, 12/s, 503': {
    nodes: 4,
    dataset: { samples: 4 * 500 },
    training: { batch_samples_per_gpu: 10, gpu_samples_per_s: 1000 },
    store: capped(12, '503'),
  },
  '4 nodes, 10/s, queue': {
    nodes: 4,
    dataset: { samples: 1600 },
    training: { batch_samples_per_gpu: 10, gpu_samples_per_s: 1000 },
    store: capped(10, 'queue'),
  },
  '3 nodes of 3 GPUs, 8.7/s, queue': {
    nodes: 3,
    dataset: { samples: 1620 },
    training: { gpus: 3, batch_samples_per_gpu: 10, gpu_samples_per_s: 1000 },
    store: capped(8.7, 'queue'),
  },
};

/** All cases; the seed of each is its place in the list. */
export function regretSuite(): RegretCase[] {
  const cases: RegretCase[] = [];
  const add = (name: string, faulty: boolean, scenario: Record<string, unknown>): void => {
    cases.push({ name, faulty, scenario: { ...scenario, name, seed: cases.length + 1 } });
  };
  for (const size of SIZES) {
    for (const [name, change] of Object.entries(BOTTLENECKS))
      add(`${size.name}: ${name}`, false, scenarioOf(size, change(size)));
  }
  for (const size of SIZES.slice(1, 4)) {
    for (const [name, { faulty, change }] of Object.entries(TROUBLES)) {
      add(`${size.name}: ${name}`, faulty, scenarioOf(size, change(size)));
    }
    for (const [name, faults] of Object.entries(FAULTS))
      add(`${size.name}: ${name}`, true, { ...scenarioOf(size, {}), faults });
  }
  const small = SIZES[2]!;
  for (const [name, change] of Object.entries(SHARED_CAPS)) {
    const { nodes = 1, ...parts } = change;
    const scenario = scenarioOf(small, parts as Record<string, Record<string, unknown>>);
    add(name, true, { ...scenario, nodes });
  }
  return cases;
}

function scenarioOf(
  size: SizeClass,
  change: Record<string, Record<string, unknown>>,
): Record<string, unknown> {
  const base: Record<string, Record<string, unknown>> = {
    dataset: {
      samples: Math.ceil((EPOCH_S * size.perS) / size.batch) * size.batch,
      sample_bytes:
        size.sigma === 0
          ? { kind: 'constant', value: size.bytes }
          : { kind: 'lognormal', median: size.bytes, sigma: size.sigma },
      samples_per_object: 1,
    },
    training: {
      epochs: 1,
      gpus: 1,
      batch_samples_per_gpu: size.batch,
      gpu_samples_per_s: size.perS,
      shuffle: 'sample',
      tail: 'drop',
      host_us_per_sample: 0,
    },
    store: {
      first_byte_ms: { kind: 'lognormal', median: 20, sigma: 0.5 },
      slow_tail: { share: 0, factor: 1 },
      connection_mb_per_s: 90,
      total_mb_per_s: null,
      requests_per_s: 50_000,
      over_limit: '503',
    },
    network: { gbit_per_s: 100, rtt_ms: 0.3 },
    host: { cores: 8, memcpy_gb_per_s: 8 },
    dpu: { cores: 8, core_speed: 0.4, memcpy_gb_per_s: 8, memory_mib: 16_384 },
    pcie: { dpu_to_host_gb_per_s: 12, host_to_gpu_gb_per_s: 12, dpu_to_gpu_gb_per_s: 12, direct: true },
    clients: { os2g: { cpu_us_per_request: 0, cpu_us_per_mb: 0 } },
  };
  const merged: Record<string, unknown> = {
    schema: 'os2g.scenario/1',
    profile: 'paper',
    memory_budget_mib: size.memoryMib,
    policy: { preset: 'os2g', set: {} },
    pipelines: ['os2g'],
    faults: [],
    nodes: 1,
  };
  for (const [part, values] of Object.entries(base)) merged[part] = { ...values, ...change[part] };
  return merged;
}
