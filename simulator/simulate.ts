import * as layout from '../assembly/layout.js';
import type { Core, CoreBuild } from '../runtime-node/core.js';
import { ConfigError } from '../runtime-node/errors.js';
import { TraceFile } from '../runtime-node/feed/trace.js';
import { describePolicy, resolvePolicy } from '../runtime-node/policy/resolve.js';
import { CorePool } from './core-pool.js';
import { pipelineOf } from './machine.js';
import type { Observer } from './observer.js';
import { type PipelineResult, pipelineResult, type SimulateResult } from './result.js';
import { runPipeline } from './run.js';
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

/**
 * Runs a scenario's pipelines in virtual time (`os2g.simulate-result/1`): same file and seed, same result, `wall_s` and
 * `core_events_per_s` aside.
 * @throws ConfigError where the scenario or an option is wrong
 */
export async function simulate(
  loaded: LoadedScenario,
  options: SimulateOptions = {},
): Promise<SimulateResult> {
  const scenario = overrideScenario(loaded.scenario, options);
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
  const scenario = overrideScenario(loaded.scenario, options);
  const policy = resolvePolicy(scenario.policy);
  const traced = tracedPipeline(scenario, options.trace);
  const results = scenario.pipelines.map((pipeline) => {
    const { observer } = options;
    const trace = pipeline === traced ? options.trace! : null;
    return runOne(scenario, pipeline, policy, cores, {
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
  scenario: Scenario,
  pipeline: PipelineName,
  policy: ReturnType<typeof resolvePolicy>,
  pool: CorePool,
  { observer, trace }: { observer: Observer | null; trace: string | null },
): PipelineResult {
  const usesCore = pipelineOf(pipeline, scenario).client === 'core';
  const cores: readonly Core[] = pool.take(usesCore ? scenario.nodes : 1);
  let file: TraceFile | null = null;
  const start = performance.now();
  try {
    const outcome = runPipeline({
      scenario,
      pipeline,
      policy,
      cores,
      observer,
      onCore: (node, core, config) => {
        if (trace !== null && node === 0) file = new TraceFile(trace, core, config);
      },
    });
    const wallS = (performance.now() - start) / 1e3;
    const { failure } = outcome;
    if (failure?.code === layout.ERROR_BATCH_TOO_LARGE) {
      throw tooLittleMemory(scenario, failure.neededBytes, failure.limitBytes);
    }
    return pipelineResult(outcome, wallS);
  } finally {
    (file as TraceFile | null)?.close();
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

function tooLittleMemory(scenario: Scenario, neededBytes: number, limitBytes: number): ConfigError {
  return new ConfigError(
    'bad_scenario',
    `memory_budget_mib: ${scenario.memory_budget_mib} MiB give each GPU ${limitBytes} bytes of landing memory, and a batch needs ${neededBytes}`,
    'raise memory_budget_mib, or lower training.batch_samples_per_gpu',
    { option: 'memory_budget_mib' },
  );
}
