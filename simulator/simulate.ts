import * as layout from '../assembly/layout.js';
import type { Core, CoreBuild } from '../runtime-node/core.js';
import { ConfigError } from '../runtime-node/errors.js';
import { TraceFile } from '../runtime-node/feed/trace.js';
import { didYouMean } from '../runtime-node/nearest.js';
import { describePolicy, resolvePolicy } from '../runtime-node/policy/resolve.js';
import { CorePool } from './core-pool.js';
import { pipelineOf } from './machine.js';
import type { Observer } from './observer.js';
import type { RunFailure } from './pipelines/client.js';
import { type PipelineResult, pipelineResult, type SimulateResult } from './result.js';
import { runPipeline } from './run.js';
import { badScenario } from './scenario/check.js';
import { type LoadedScenario, type Overrides, overrideScenario } from './scenario/load.js';
import type { PipelineName, Scenario } from './scenario/types.js';

export interface SimulateOptions extends Overrides {
  /** Looks on; one for all pipelines, or made for each. */
  observer?: Observer | ((pipeline: PipelineName) => Observer | null) | null;
  /**
   * Records a trace that `os2g replay` reads: of node 0 of `os2g` where it is among the pipelines, else of the first pipeline that
   * has a core.
   */
  trace?: string;
  /** Cores that are loaded already: then nothing is awaited. */
  cores?: CorePool;
  /** Which build of the core, where none are given. */
  build?: CoreBuild | Uint8Array;
}

const OPTIONS: Readonly<Record<keyof SimulateOptions, true>> = {
  pipelines: true,
  policy: true,
  set: true,
  nodes: true,
  seed: true,
  observer: true,
  trace: true,
  cores: true,
  build: true,
};

/** What types cannot see in plain JavaScript. */
function checkOptions(options: object): void {
  const names = Object.keys(OPTIONS);
  const wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong === undefined) return;
  throw new ConfigError(
    'bad_option',
    `simulate has no option ${JSON.stringify(wrong)}`,
    didYouMean(wrong, names, `its options are ${names.join(', ')}`),
    { option: wrong },
  );
}

/**
 * Runs a scenario's pipelines in virtual time (`os2g.simulate-result/1`): same file and seed, same result, `wall_s` and
 * `core_events_per_s` aside.
 * @throws ConfigError where the scenario or an option is wrong
 */
export async function simulate(
  loaded: LoadedScenario,
  options: SimulateOptions = {},
): Promise<SimulateResult> {
  checkOptions(options);
  const scenario = overrideScenario(loaded.scenario, options, loaded.file);
  const cores = options.cores ?? (await CorePool.load(options.build));
  await cores.ensure(coresNeeded(scenario));
  return simulateNow(loaded, options, cores);
}

/** As `simulate`, at once; the pool must hold as many cores as `coresNeeded` says. */
export function simulateNow(
  loaded: LoadedScenario,
  options: SimulateOptions,
  cores: CorePool,
): SimulateResult {
  checkOptions(options);
  const scenario = overrideScenario(loaded.scenario, options, loaded.file);
  const policy = resolvePolicy(scenario.policy);
  const traced = tracedPipeline(scenario, options.trace);
  const results = scenario.pipelines.map((pipeline) => {
    const { observer } = options;
    const trace = pipeline === traced ? options.trace! : null;
    return runOne({ scenario, file: loaded.file }, pipeline, policy, cores, {
      observer: typeof observer === 'function' ? observer(pipeline) : (observer ?? null),
      trace,
    });
  });
  return {
    schema: 'os2g.simulate-result/1',
    scenario_sha256: loaded.sha256,
    core_sha256: cores.sha256,
    scenario,
    policy: describePolicy(policy),
    parameters: loaded.parameters,
    results,
  };
}

/** Cores that a scenario's pipelines need at once. */
export function coresNeeded(scenario: Scenario): number {
  return scenario.pipelines.some((name) => pipelineOf(name, scenario).client === 'core') ? scenario.nodes : 1;
}

function runOne(
  { scenario, file }: Pick<LoadedScenario, 'scenario' | 'file'>,
  pipeline: PipelineName,
  policy: ReturnType<typeof resolvePolicy>,
  pool: CorePool,
  { observer, trace }: { observer: Observer | null; trace: string | null },
): PipelineResult {
  const usesCore = pipelineOf(pipeline, scenario).client === 'core';
  const cores: readonly Core[] = pool.take(usesCore ? scenario.nodes : 1);
  let recording: TraceFile | null = null;
  const start = performance.now();
  try {
    const outcome = runPipeline({
      scenario,
      pipeline,
      policy,
      cores,
      file,
      observer,
      onCore: (node, core, config) => {
        if (trace !== null && node === 0) recording = new TraceFile(trace, core, config);
      },
    });
    const wallS = (performance.now() - start) / 1e3;
    const { failure } = outcome;
    if (failure?.code === layout.ERROR_BATCH_TOO_LARGE) {
      throw tooLittleMemory(scenario, failure, file);
    }
    return pipelineResult(outcome, wallS);
  } finally {
    (recording as TraceFile | null)?.close();
  }
}

function tracedPipeline(scenario: Scenario, trace: string | undefined): PipelineName | null {
  if (trace === undefined) return null;
  const withCore = scenario.pipelines.filter((name) => pipelineOf(name, scenario).client === 'core');
  const traced = withCore.includes('os2g') ? 'os2g' : withCore[0];
  if (traced) return traced;
  throw new ConfigError(
    'bad_option',
    `trace: none of the pipelines ${scenario.pipelines.join(', ')} has a core`,
    'add relay, os2g or os2g-host to the pipelines',
    { option: 'trace' },
  );
}

/** Sizes are drawn: only the run knows its largest batch. */
function tooLittleMemory(
  { memory_budget_mib }: Scenario,
  { neededBytes, limitBytes }: RunFailure,
  file: string | undefined,
): ConfigError {
  const enoughMib = Math.ceil((memory_budget_mib * neededBytes) / limitBytes);
  return badScenario(
    file,
    'memory_budget_mib',
    `${memory_budget_mib} MiB give each GPU ${limitBytes} bytes of landing memory, and a batch needs ${neededBytes}`,
    `raise memory_budget_mib (${enoughMib} is enough for this batch), or lower training.batch_samples_per_gpu`,
  );
}
