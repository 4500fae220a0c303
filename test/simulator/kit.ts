import { CorePool } from '../../simulator/core-pool.js';
import type { PipelineResult, SimulateResult } from '../../simulator/result.js';
import { loadScenario } from '../../simulator/scenario/load.js';
import type { PipelineName } from '../../simulator/scenario/types.js';
import { type SimulateOptions, simulateNow } from '../../simulator/simulate.js';

export type Parts = Record<string, unknown>;

const FAST = 1e6;
const FREE = { cpu_us_per_request: 0, cpu_us_per_mb: 0 };

/** A world in which nothing costs anything that can be seen: each test makes one thing cost something. */
const IDEAL: Parts = {
  schema: 'os2g.scenario/1',
  name: 'ideal',
  profile: 'bluefield2',
  seed: 1,
  dataset: { samples: 8, sample_bytes: { kind: 'constant', value: 1e6 }, samples_per_object: 1 },
  training: { batch_samples_per_gpu: 8, gpu_samples_per_s: 1e9, host_us_per_sample: 0 },
  store: {
    first_byte_ms: { kind: 'constant', value: 0 },
    slow_tail: { share: 0, factor: 1 },
    connection_mb_per_s: null,
    total_mb_per_s: null,
    requests_per_s: null,
  },
  network: { gbit_per_s: FAST, rtt_ms: 0 },
  host: { cores: 64, memcpy_gb_per_s: FAST },
  dpu: { cores: 64, core_speed: 1, memcpy_gb_per_s: FAST, memory_mib: 65536 },
  pcie: { dpu_to_host_gb_per_s: FAST, host_to_gpu_gb_per_s: FAST, dpu_to_gpu_gb_per_s: FAST, direct: true },
  clients: {
    s3fs: { ...FREE, concurrency: 1, readahead_parts: 1, part_mb: 8, timeout_s: 30 },
    s3connector: { ...FREE, workers: 1, part_mb: 8, timeout_s: 30 },
    os2g: FREE,
    relay_host: FREE,
    naive: 's3connector',
  },
  memory_budget_mib: 256,
};

/** Parts laid over parts, field by field; distributions and lists replace. */
export function withParts(base: Parts, over: Parts): Parts {
  const result: Parts = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const before = result[name];
    const bothParts = [before, value].every(
      (v) => typeof v === 'object' && v !== null && !Array.isArray(v) && !('kind' in v),
    );
    result[name] = bothParts ? withParts(before as Parts, value as Parts) : value;
  }
  return result;
}

export function ideal(over: Parts = {}): Parts {
  return withParts(IDEAL, over);
}

let pool: CorePool | null = null;

/** Cores of the build that `OS2G_CORE` names, loaded once for a test file. */
export async function cores(count = 1): Promise<CorePool> {
  pool ??= await CorePool.load();
  return pool.ensure(count);
}

/** Runs a scenario as given. */
export async function run(scenario: Parts, options: SimulateOptions = {}): Promise<SimulateResult> {
  const loaded = loadScenario(scenario);
  const nodes = options.nodes ?? loaded.scenario.nodes;
  return simulateNow(loaded, options, options.cores ?? (await cores(nodes)));
}

/** One pipeline of it. */
export async function runOne(
  scenario: Parts,
  pipeline: PipelineName = 'os2g',
  options: SimulateOptions = {},
): Promise<PipelineResult> {
  const { results } = await run(scenario, { ...options, pipelines: [pipeline] });
  return results[0]!;
}

export function totalSeconds(result: PipelineResult): number {
  return result.epoch_s.reduce((a, b) => a + b, 0);
}

/** A result without what differs from run to run. */
export function reproducible(result: SimulateResult): string {
  const results = result.results.map(({ wall_s: _wall, core_events_per_s: _rate, ...rest }) => rest);
  return JSON.stringify({ ...result, results });
}
