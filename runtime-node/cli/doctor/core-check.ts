import { existsSync } from 'node:fs';
import * as layout from '../../../assembly/layout.js';
import { Core, type CoreBuild, corePath } from '../../core.js';
import { jobConfig } from '../../policy/job.js';
import { resolvePolicy } from '../../policy/resolve.js';
import { type Check, fail, ok } from './check.js';

const BUILDS: readonly CoreBuild[] = ['release', 'debug', 'wasi'];
const SAMPLES = 64;
const SAMPLE_BYTES = 1000;
const READ_NS = 1e6;
const MAX_STEPS = 10_000;

/**
 * Runs one small epoch in virtual time, against a store that answers every read after a millisecond.
 * @returns the run hash and the rows in the order of delivery
 * @throws Error where the core stops, fails or does not come to its end
 */
function smallEpoch(core: Core): { runHash: string; rows: number[] } {
  core.init(jobConfig({ samples: SAMPLES, batchSamples: 8, seed: 1, memoryBytes: 2 ** 24 }, resolvePolicy()));
  const rows: number[] = [];
  const { u32, f64, events } = core;
  for (let step = 0; step < MAX_STEPS; step++) {
    const nowNs = step * READ_NS;
    core.step(nowNs);
    for (let word = core.action(); word >= 0; word = core.action()) {
      const double = (at: number): number => f64[(word >> 1) + at] ?? Number.NaN;
      const id = u32[word + layout.W_ID] ?? 0;
      switch (u32[word + layout.W_KIND]) {
        case layout.ACTION_RESOLVE:
          events.resolved(nowNs, id, double(layout.RESOLVE_D_ROW), 0, SAMPLE_BYTES);
          break;
        case layout.ACTION_FETCH:
          events.fetched(nowNs, id, u32[word + layout.W_ATTEMPT] ?? 0, double(layout.FETCH_D_LENGTH));
          break;
        case layout.ACTION_DELIVER:
          events.consumed(nowNs, 0, u32[word + layout.W_EPOCH] ?? 0, u32[word + layout.W_BATCH] ?? 0);
          break;
        case layout.ACTION_SAMPLE:
          rows.push(double(layout.SAMPLE_D_ROW));
          break;
        case layout.ACTION_FAIL:
          throw new Error(`it gave up with error ${u32[word + layout.FAIL_W_CODE]}`);
        case layout.ACTION_END:
          return { runHash: core.runHash, rows };
      }
    }
  }
  throw new Error('its epoch does not come to an end');
}

/** Each build is there, loads, and delivers every sample of a small epoch once; all with one run hash. */
export async function checkCores(): Promise<Check[]> {
  const checks: Check[] = [];
  const hashes = new Set<string>();
  for (const build of BUILDS) {
    const name = `core (${build})`;
    const mend = 'build it again with `npm run build:core`';
    if (!existsSync(corePath(build))) {
      checks.push(fail(name, `${corePath(build)} is missing`, mend));
      continue;
    }
    try {
      const core = await Core.load(build);
      const { runHash, rows } = smallEpoch(core);
      if (new Set(rows).size !== SAMPLES || rows.length !== SAMPLES) {
        throw new Error(
          `its epoch had ${rows.length} samples, ${new Set(rows).size} different, of ${SAMPLES}`,
        );
      }
      hashes.add(runHash);
      checks.push(ok(name, `sha256 ${core.sha256}, self-check run hash ${runHash}`));
    } catch (error) {
      checks.push(fail(name, `the self-check failed: ${(error as Error).message}`, mend));
    }
  }
  if (hashes.size > 1) {
    checks.push(
      fail('core builds agree', 'the builds came to different run hashes', 'build them all from one source'),
    );
  }
  return checks;
}
