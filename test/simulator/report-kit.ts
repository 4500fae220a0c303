import { CorePool } from '../../simulator/core-pool.js';
import { Recorder, type RecorderOptions, type RunRecord } from '../../simulator/report/recorder.js';
import type { SimulateResult } from '../../simulator/result.js';
import { loadScenario } from '../../simulator/scenario/load.js';
import { simulateNow } from '../../simulator/simulate.js';

/** Short, with all six pipelines, errors, and a name that would break a page that does not escape. */
export const SMALL = {
  schema: 'os2g.scenario/1',
  name: 'a <b>"small"</b> & </script><script>alert(1)</script> one',
  profile: 'paper',
  dataset: { samples: 6000 },
  training: { batch_samples_per_gpu: 100 },
  store: { error_share: 0.01 },
};

const OPTIONS: RecorderOptions = { expectedNs: 3e9, maxSteps: 1000, maxRequests: 200, maxNodes: 2 };

export interface Recorded {
  result: SimulateResult;
  records: RunRecord[];
}

let pool: CorePool | null = null;

/** Runs a scenario with a recorder for each pipeline. */
export async function recorded(scenario: object, options: Partial<RecorderOptions> = {}): Promise<Recorded> {
  const loaded = loadScenario(scenario);
  pool ??= await CorePool.load();
  await pool.ensure(loaded.scenario.nodes);
  const records: RunRecord[] = [];
  const result = simulateNow(
    loaded,
    {
      observer: (pipeline) => {
        const recorder = new Recorder(pipeline, { ...OPTIONS, ...options });
        records.push(recorder.record);
        return recorder;
      },
    },
    pool,
  );
  return { result, records };
}

/** The same without anybody who looks on. */
export async function unobserved(scenario: object): Promise<SimulateResult> {
  const loaded = loadScenario(scenario);
  pool ??= await CorePool.load();
  await pool.ensure(loaded.scenario.nodes);
  return simulateNow(loaded, {}, pool);
}

/** A result without what differs from run to run. */
export function reproducibleText(result: SimulateResult): string {
  return JSON.stringify(result, (name, value) =>
    ['wall_s', 'core_events_per_s'].includes(name) ? undefined : value,
  );
}
