import {
  formatChange,
  formatCount,
  formatDecimalBytes,
  formatFigure,
  formatMemory,
  formatShare,
} from '../../../runtime-node/cli/output/numbers.js';
import type { BoundBy } from '../../bound.js';
import type { PipelineResult } from '../../result.js';
import { type Html, html, tableOf } from '../html.js';
import { aboveBound, epochSeconds, stepsOf } from '../steps.js';

/** What each station means as the one that sets the bound. */
export const BOUND_MEANING: Readonly<Record<BoundBy, string>> = {
  gpu: 'the GPUs compute without a gap once their first batch is there',
  network: "the node's link carries every byte once",
  store_rate: "the store's total rate carries every byte once",
  store_requests: "the store's cap admits every request once",
  store_latency: 'what is known too late must be waited for, one first byte after the other',
  dpu_cpu: "the client's work fills the cores of the DPU",
  host_cpu: "the work of client, copies and trainer fills the host's cores",
  pcie: 'the slowest PCIe link on the way carries every byte once',
  memory: 'the budget holds each byte from its request to the end of its compute',
};

interface Measure {
  title: string;
  unit: string;
  of(result: PipelineResult): number;
  shown(value: number): string;
  /** Where a mark is drawn. */
  mark?(result: PipelineResult): number;
}

const secondsText = (seconds: number): string =>
  Number.isFinite(seconds) ? `${formatFigure(seconds)} s` : '-';

const MEASURES: readonly Measure[] = [
  {
    title: 'Epoch time',
    unit: 's, mean of the epochs; less is better; the line is the bound',
    of: epochSeconds,
    shown: secondsText,
    mark: ({ bound }) => bound.epoch_s,
  },
  { title: 'Rate', unit: 'samples/s; more is better', of: (r) => r.samples_per_s, shown: formatFigure },
  {
    title: 'Host CPU',
    unit: 'core-seconds of the whole run; less is better',
    of: (r) => r.host_cpu_s,
    shown: secondsText,
  },
  {
    title: 'DPU CPU',
    unit: 'core-seconds of the whole run, on cores of the DPU',
    of: (r) => r.dpu_cpu_s,
    shown: secondsText,
  },
];

/** Bars from zero for each measure, pipelines one under the other. */
export function comparisonBars(results: readonly PipelineResult[]): Html {
  return html`<div class="panels">${MEASURES.map((measure) => panel(measure, results))}</div>`;
}

function panel({ title, unit, of, shown, mark }: Measure, results: readonly PipelineResult[]): Html {
  const values = results.map((result) => finite(of(result)));
  // A run that ended early has no bound.
  const marks = results.map((result) => (mark && !result.failed ? mark(result) : null));
  const most = Math.max(...values, ...marks.map((value) => value ?? 0), Number.MIN_VALUE);
  const percent = (value: number): string => ((value / most) * 100).toFixed(2);
  return html`<figure class="panel"><figcaption><b>${title}</b> (${unit})</figcaption>
${results.map((result, i) => {
  const at = marks[i]!;
  const line = at === null ? html`` : html`<i class="mark" style="left:${percent(at)}%"></i>`;
  return html`<div class="row"><span class="name">${result.pipeline}</span><span class="track"><i class="bar p-${result.pipeline}" style="width:${percent(values[i]!)}%"></i>${line}</span><span class="value">${shown(of(result))}</span></div>\n`;
})}</figure>`;
}

const finite = (value: number): number => (Number.isFinite(value) ? value : 0);

export function comparisonTable(results: readonly PipelineResult[]): Html {
  const head = [
    'pipeline',
    'epoch',
    'samples/s',
    'GPU busy',
    'host CPU',
    'DPU CPU',
    'copied on the host',
    'requests',
    'retries',
    'hedges',
    'memory, peak',
    'bound',
    'set by',
    'above it',
  ];
  const rows = results.map((r) => [
    r.failed ? `${r.pipeline} (ended early)` : r.pipeline,
    secondsText(epochSeconds(r)),
    formatFigure(r.samples_per_s),
    formatShare(r.gpu_busy_share),
    secondsText(r.host_cpu_s),
    secondsText(r.dpu_cpu_s),
    formatDecimalBytes(r.host_bytes_copied),
    formatCount(r.requests + r.head_requests),
    formatCount(r.retries),
    formatCount(r.hedges),
    formatMemory(r.memory_peak_bytes),
    r.failed ? '-' : secondsText(r.bound.epoch_s),
    r.failed ? '-' : r.bound.by,
    formatChange(aboveBound(r)),
  ]);
  return tableOf('All pipelines', [head, ...rows]);
}

export function stepsTable(results: readonly PipelineResult[]): Html {
  const steps = stepsOf(results);
  if (steps.length === 0)
    return html`<p>The steps need s3connector, os2g-host, relay and os2g among the pipelines.</p>`;
  const rows = steps.map((step) => [
    step.step,
    `${step.from} → ${step.to}`,
    formatChange(step.epoch_s_change),
    formatChange(step.host_cpu_s_change),
  ]);
  return html`<div class="steps">${tableOf('What each step changes', [['step', 'from → to', 'epoch time', 'host CPU'], ...rows])}</div>`;
}

export function boundList(results: readonly PipelineResult[]): Html {
  const set = [...new Set(results.filter(({ failed }) => !failed).map(({ bound }) => bound.by))];
  return html`<ul>${set.map((by) => {
    const whose = results.filter((r) => !r.failed && r.bound.by === by).map(({ pipeline }) => pipeline);
    return html`<li><b>${by}</b> sets it for ${whose.join(', ')}: ${BOUND_MEANING[by]}.</li>`;
  })}</ul>`;
}
