import {
  type LoadedScenario,
  loadScenario,
  overrideScenario,
  PIPELINE_NAMES,
  type PipelineName,
  type Scenario,
  stepsOf,
} from '../../../simulator/index.js';
import { ConfigError } from '../../errors.js';
import { readPolicyFile } from '../../feed/policy-file.js';
import { looksLikeTrace } from '../../feed/trace.js';
import { didYouMean } from '../../nearest.js';
import { checkOutputs, type Input, type Output } from '../../output-files.js';
import { PRESET_NAMES } from '../../policy/settings.js';
import type { CommandContext, CommandResult } from '../command.js';
import type { OptionValues } from '../options/spec.js';
import type { SIMULATE_OPTIONS } from '../options/tables.js';
import { formatSeconds } from '../output/numbers.js';
import { textOutput, writeOutput } from '../output/result-file.js';
import { resultText } from './report.js';
import { type Progressed, runInWorker } from './run-in-worker.js';

export type SimulateValues = OptionValues<typeof SIMULATE_OPTIONS>;

/** `os2g simulate`: everything that can be wrong is found out before the first pipeline starts. */
export async function runSimulate(
  words: readonly string[],
  values: SimulateValues,
  { signal, log, stderr }: CommandContext,
): Promise<CommandResult> {
  const { file, pipelines } = sortWords(words, values.pipeline);
  const loaded = load(file, values.profile);
  const policy = values.policy === undefined ? undefined : await policyOf(values.policy);
  const { set, nodes, seed, trace, timeline, report } = values;
  const overrides = { pipelines, policy, set, nodes, seed };
  const scenario = overrideScenario(loaded.scenario, overrides, loaded.file);
  checkOutputs(outputsOf(values), inputsOf(file, values.policy));
  const progress = stderr.progress('simulating');
  const task = {
    loaded,
    overrides,
    trace,
    wantsReport: report !== undefined,
    wantsTimeline: timeline !== undefined,
  };
  const done = await runInWorker(task, signal, (progressed) =>
    progress.update(progressState(scenario, progressed)),
  ).finally(() => progress.stop());
  for (const [option, path, text] of [
    ['report', report, done.report],
    ['timeline', timeline, done.timeline],
  ] as const) {
    if (path === undefined || text === null) continue;
    writeOutput(path, text, option);
    log.info(`${option}: ${path}`);
  }
  const { result } = done;
  return {
    document: { ...result, steps: stepsOf(result.results) },
    text: resultText(result),
    exitCode: result.results.some(({ failed }) => failed) ? 1 : 0,
  };
}

/** `SCENARIO --pipeline a b`: names that follow an option's first value come as further words. */
function sortWords(
  words: readonly string[],
  named: readonly string[] | undefined,
): { file: string | undefined; pipelines: PipelineName[] | undefined } {
  const isName = (word: string): word is PipelineName => (PIPELINE_NAMES as readonly string[]).includes(word);
  const more = named ? words.filter(isName) : [];
  const files = named ? words.filter((word) => !isName(word)) : words;
  const names = [...(named ?? []), ...more];
  const wrong = names.find((name) => !isName(name));
  if (wrong !== undefined) {
    const mend = didYouMean(wrong, PIPELINE_NAMES, `name some of ${PIPELINE_NAMES.join(', ')}`);
    throw new ConfigError('bad_option', `--pipeline: there is no pipeline ${JSON.stringify(wrong)}`, mend, {
      option: 'pipeline',
    });
  }
  if (files.length > 1) {
    const mend = 'give one scenario file; names of pipelines follow --pipeline';
    throw new ConfigError('bad_call', `${files.length} scenarios were given: ${files.join(', ')}`, mend);
  }
  return { file: files[0], pipelines: named ? (names as PipelineName[]) : undefined };
}

function load(file: string | undefined, profile: string | undefined): LoadedScenario {
  if (file !== undefined) return loadScenario(file, profile === undefined ? {} : { profile });
  if (profile === undefined) {
    throw new ConfigError(
      'bad_call',
      'no scenario was given',
      'name a scenario file, or --profile paper for the scenario of a profile',
    );
  }
  return loadScenario({ schema: 'os2g.scenario/1', name: `profile-${profile}`, profile });
}

function outputsOf({ trace, timeline, report }: SimulateValues): Output[] {
  const outputs: Output[] = [];
  if (trace !== undefined)
    outputs.push({ option: 'trace', path: trace, kind: 'a trace', isOurs: looksLikeTrace });
  if (timeline !== undefined) outputs.push(textOutput('timeline', timeline, 'a timeline', '"traceEvents"'));
  if (report !== undefined)
    outputs.push(textOutput('report', report, 'a report', ': OS2G simulation</title>'));
  return outputs;
}

function inputsOf(scenario: string | undefined, policy: string | undefined): Input[] {
  const inputs: Input[] = [];
  if (scenario !== undefined) inputs.push({ option: 'scenario', path: scenario });
  if (policy !== undefined && !isPreset(policy)) inputs.push({ option: 'policy', path: policy });
  return inputs;
}

const isPreset = (word: string): boolean => (PRESET_NAMES as readonly string[]).includes(word);

/** A preset by its name, or a policy file. */
async function policyOf(given: string): Promise<{ preset?: string; set?: Record<string, unknown> }> {
  if (isPreset(given)) return { preset: given };
  const { preset, set } = await readPolicyFile(given);
  return { preset: preset ?? 'os2g', set: { ...set } };
}

function progressState(scenario: Scenario, { pipeline, index, steps, nowNs }: Progressed) {
  const { training, dataset, nodes, pipelines } = scenario;
  const perEpoch = dataset.samples / (training.batch_samples_per_gpu * training.gpus);
  const perPipeline = Math.max(1, Math.floor(perEpoch / nodes)) * nodes * training.epochs;
  return {
    done: index * perPipeline + Math.min(steps, perPipeline),
    total: perPipeline * pipelines.length,
    detail: `${pipeline} (${index + 1} of ${pipelines.length})  ${formatSeconds(nowNs / 1e9)} of virtual time`,
  };
}
