import { availableParallelism } from 'node:os';
import { type LoadedScenario, loadScenario } from '../../../simulator/index.js';
import { parseConstraint, type TuneProgress, type TuneResult, tune } from '../../../simulator/tune/index.js';
import { AbortedError, ConfigError } from '../../errors.js';
import { checkOutputs, type Output } from '../../output-files.js';
import type { CommandContext, CommandResult } from '../command.js';
import type { OptionValues } from '../options/spec.js';
import { DEFAULT_BUDGET, type TUNE_OPTIONS } from '../options/tune.js';
import { formatSeconds, formatShare } from '../output/numbers.js';
import { textOutput, writeOutput } from '../output/result-file.js';
import { tuneText } from './report.js';

type TuneValues = OptionValues<typeof TUNE_OPTIONS>;

/** `os2g tune`: reads the scenarios, searches, writes the policy and what it is worth. */
export async function runTune(
  files: readonly string[],
  values: TuneValues,
  context: CommandContext,
): Promise<CommandResult> {
  const output = outputOf(files, values);
  const scenarios = loadAll(files);
  const budget = values.time === undefined ? (values.budget ?? DEFAULT_BUDGET) : null;
  const show = new ProgressDisplay(context, budget, values.time);
  let result: TuneResult;
  try {
    result = await tune({
      scenarios,
      heldOut: loadAll(values.heldOut ?? []),
      goal: {
        objective: values.objective,
        constraints: (values.constraint ?? []).map((text) => parseConstraint(text)),
        robust: values.robust,
      },
      pipeline: values.pipeline,
      method: values.search,
      seed: values.seed,
      seeds: values.seeds,
      budget,
      timeMs: values.time === undefined ? undefined : values.time / 1e6,
      workers: values.workers ?? availableParallelism(),
      journal: values.journal === undefined ? undefined : { file: values.journal, resume: values.resume },
      signal: context.signal,
      onProgress: (progress) => show.update(progress),
    });
  } catch (error) {
    if (!(error instanceof AbortedError)) throw error;
    throw new AbortedError(
      context.signal.reason,
      'the search was ended before it knew anything',
      'call it again',
    );
  } finally {
    show.stop();
  }
  writeOutput(output.policy, `${JSON.stringify(result.policy, null, 2)}\n`, 'output');
  writeOutput(output.worth, `${JSON.stringify(result, null, 2)}\n`, 'output');
  warn(result, context);
  if (result.search.ended_by === 'interrupted') throw interrupted(output.policy, values, context);
  return { document: result, text: tuneText(result, output) };
}

export interface OutputFiles {
  readonly policy: string;
  /** The whole result, beside the policy. */
  readonly worth: string;
}

function outputOf(scenarios: readonly string[], values: TuneValues): OutputFiles {
  const { output, budget, time, resume, journal } = values;
  if (output === undefined) throw badCall('output', 'no file to write was named', 'add -o tuned.json');
  if (budget !== undefined && time !== undefined) {
    throw badCall('time', '--budget and --time were both given', 'give one of them');
  }
  if (resume && journal === undefined) {
    throw badCall('resume', '--resume was given without --journal', 'name the journal to go on from');
  }
  if (output.endsWith('.wasm'))
    throw badCall('output', `${output}: a policy file is JSON`, 'name a .json file');
  const worth = `${output.replace(/\.json$/, '')}.tune.json`;
  const outputs: Output[] = [
    textOutput('output', output, 'a policy file', 'os2g.policy/1'),
    textOutput('output', worth, 'the result of a search', 'os2g.tune-result/1'),
  ];
  if (journal !== undefined) outputs.push(textOutput('journal', journal, 'a journal', 'os2g.tune-journal/1'));
  const inputs = [...scenarios, ...(values.heldOut ?? [])].map((path) => ({ option: 'scenarios', path }));
  checkOutputs(outputs, inputs);
  return { policy: output, worth };
}

function badCall(option: string, what: string, mend: string): ConfigError {
  return new ConfigError('bad_call', what, mend, { option });
}

function loadAll(files: readonly string[]): LoadedScenario[] {
  return files.map((file) => loadScenario(file));
}

function interrupted(file: string, { journal }: TuneValues, { signal }: CommandContext): AbortedError {
  return new AbortedError(
    signal.reason,
    `the search was interrupted; ${file} holds the best so far, without held-out figures`,
    journal === undefined ? 'with --journal a search can go on later' : 'go on with --resume',
  );
}

function warn(result: TuneResult, { log }: CommandContext): void {
  for (const { reason, count } of result.failures)
    log.info(`${count} simulated runs had no figures: ${reason}`);
  const { held_out_seeds: seeds } = result.margin;
  if (Object.keys(result.policy.set).length === Object.keys(result.base.set).length) return;
  if (seeds && !(seeds.ratio !== null && seeds.ratio < 1 && seeds.constraints_hold)) {
    log.warn('the policy does not hold on held-out seeds: use more --seeds, or keep the preset');
  }
}

class ProgressDisplay {
  readonly #progress: { update(state: { done: number; total: number; detail: string }): void; stop(): void };
  readonly #budget: number | null;
  readonly #timeNs: number;
  readonly #startMs = performance.now();

  constructor({ stderr }: CommandContext, budget: number | null, timeNs: number | undefined) {
    this.#progress = stderr.progress('tune');
    this.#budget = budget;
    this.#timeNs = timeNs ?? 0;
  }

  update({ phase, work, rounds, bestRatio }: TuneProgress): void {
    const spentS = (performance.now() - this.#startMs) / 1e3;
    const [done, total] = this.#budget === null ? [spentS, this.#timeNs / 1e9] : [work, this.#budget];
    const what = phase === 'check' ? 'checking' : `round ${rounds + 1}`;
    const detail = `${what}, best ${formatShare(bestRatio)} of the preset, ${formatSeconds(spentS)}`;
    this.#progress.update({ done: Math.min(done, total), total, detail });
  }

  stop(): void {
    this.#progress.stop();
  }
}
