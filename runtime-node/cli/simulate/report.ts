import {
  aboveBound,
  epochSeconds,
  type PipelineResult,
  type SimulateResult,
  STALL_NAMES,
  stepsOf,
} from '../../../simulator/index.js';
import { failureName } from '../../engine/failure.js';
import {
  formatChange,
  formatCount,
  formatDecimalBytes,
  formatFigure,
  formatMemory,
  formatSeconds,
  formatShare,
} from '../output/numbers.js';
import { printable } from '../output/printable.js';
import { table } from '../output/table.js';

const NONE = '-';

/** The result for people: what was run, all pipelines in one table, the steps apart. */
export function resultText(result: SimulateResult): string {
  return [
    openingText(result),
    table(comparisonRows(result.results)),
    stepsText(result.results),
    ...result.results.flatMap(({ pipeline, failed }) =>
      failed ? [`${pipeline} ended early: ${failed.reason}.`] : [],
    ),
    'Times are virtual; what each parameter of the profile rests on: --json, or --report FILE.html.',
  ].join('\n\n');
}

function openingText({ scenario, policy }: SimulateResult): string {
  const { dataset, training, nodes, profile, seed, name } = scenario;
  const gpus = nodes * training.gpus;
  const epochs = training.epochs === 1 ? '1 epoch' : `${training.epochs} epochs`;
  const where = gpus === 1 ? '1 GPU' : `${gpus} GPUs${nodes > 1 ? ` in ${nodes} nodes` : ''}`;
  return `${printable(name)}: ${epochs} of ${formatCount(dataset.samples)} samples, ${where}, batches of ${training.batch_samples_per_gpu}; profile ${profile}, policy ${policy.preset}, seed ${seed}`;
}

/** One column a pipeline. */
export function comparisonRows(results: readonly PipelineResult[]): string[][] {
  const row = (title: string, cell: (result: PipelineResult) => string): string[] => [
    title,
    ...results.map(cell),
  ];
  const finished = (cell: (result: PipelineResult) => string) => (result: PipelineResult) =>
    result.failed ? NONE : cell(result);
  const stalled = STALL_NAMES.filter((cause) => results.some((result) => result.stall_s[cause] >= 0.005));
  const isDrawn = (value: (result: PipelineResult) => number): boolean => results.some((r) => value(r) > 0);
  return [
    row('', ({ pipeline }) => pipeline),
    row('epoch', (r) => formatSeconds(epochSeconds(r))),
    row('samples/s', (r) => formatFigure(r.samples_per_s)),
    row('GPU busy', (r) => formatShare(r.gpu_busy_share)),
    row('host CPU', (r) => cpuText(r.host_cpu_s)),
    row('DPU CPU', (r) => cpuText(r.dpu_cpu_s)),
    row('copied on the host', (r) => formatDecimalBytes(r.host_bytes_copied)),
    row(
      'bound of an epoch',
      finished((r) => formatSeconds(r.bound.epoch_s)),
    ),
    row(
      'set by',
      finished((r) => r.bound.by),
    ),
    row(
      'above it',
      finished((r) => formatChange(aboveBound(r))),
    ),
    ...stalled.map((cause) => row(`stalled: ${cause}`, (r) => cpuText(r.stall_s[cause]))),
    row('requests', (r) => formatCount(r.requests + r.head_requests)),
    ...(isDrawn((r) => r.retries) ? [row('of them retries', (r) => formatCount(r.retries))] : []),
    ...(isDrawn((r) => r.hedges) ? [row('of them hedges', (r) => formatCount(r.hedges))] : []),
    row('memory, peak', (r) => formatMemory(r.memory_peak_bytes)),
    ...(results.some((r) => r.fairness)
      ? [row('fairness of nodes', (r) => (r.fairness ? formatFigure(r.fairness.jain) : NONE))]
      : []),
    ...(results.some((r) => r.failed) ? [row('ended early', failureText)] : []),
    row('run hash', (r) => r.run_hash),
  ];
}

const cpuText = (seconds: number): string => (seconds === 0 ? '0 s' : formatSeconds(seconds));

function failureText({ failed }: PipelineResult): string {
  return failed ? `${failureName(failed.class)} at ${formatSeconds(failed.at_s)}` : NONE;
}

function stepsText(results: readonly PipelineResult[]): string {
  const steps = stepsOf(results);
  if (steps.length === 0)
    return 'The three steps need s3connector, os2g-host, relay and os2g among the pipelines.';
  return table(
    [
      ['step', 'from -> to', 'epoch time', 'host CPU'],
      ...steps.map((step) => [
        step.step,
        `${step.from} -> ${step.to}`,
        formatChange(step.epoch_s_change),
        formatChange(step.host_cpu_s_change),
      ]),
    ],
    'text',
  );
}
