import { formatFigure, formatSeconds, formatShare } from '../../../runtime-node/cli/output/numbers.js';
import type { PipelineResult } from '../../result.js';
import { STALL_NAMES } from '../../run.js';
import { foldedTable, type Html, html } from '../html.js';

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Time of one GPU, mean of all: its compute and its waits by cause. */
function partsOf(result: PipelineResult, gpus: number): { name: string; seconds: number }[] {
  const stalledS = STALL_NAMES.reduce((sum, name) => sum + result.stall_s[name], 0);
  const busyS =
    result.gpu_busy_share < 1 ? (stalledS * result.gpu_busy_share) / (1 - result.gpu_busy_share) : 0;
  const runS = result.failed?.at_s ?? result.epoch_s.reduce((a, b) => a + b, 0);
  const computeS = stalledS > 0 ? busyS : runS * gpus;
  return [
    { name: 'compute', seconds: computeS / gpus },
    ...STALL_NAMES.map((name) => ({ name, seconds: result.stall_s[name] / gpus })),
  ];
}

/** Stacked bars: the time of a GPU from the start of the run to its end. */
export function stallBars(results: readonly PipelineResult[], gpus: number): Html {
  const runs = results.map((result) => ({ result, parts: partsOf(result, gpus) }));
  const total = (parts: readonly { seconds: number }[]): number =>
    parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const most = Math.max(...runs.map(({ parts }) => total(parts)), Number.MIN_VALUE);
  const used = ['compute', ...STALL_NAMES].filter((name) =>
    runs.some(({ parts }) => parts.some((part) => part.name === name && part.seconds / most > 1e-4)),
  );
  return html`<figure class="stack"><figcaption><b>Time of a GPU</b> (s of virtual time, mean of all GPUs; compute, then waits by cause)</figcaption>
<div class="legend">${used.map((name) => html`<span><i class="key c-${name}"></i>${name}</span> `)}</div>
${runs.map(({ result, parts }) => html`<div class="row"><span class="name">${result.pipeline}</span><span class="track">${parts.filter(({ seconds }) => seconds > 0).map(({ name, seconds }) => html`<i class="part c-${name}" style="width:${((seconds / most) * 100).toFixed(3)}%" title="${name}: ${formatSeconds(seconds)}"></i>`)}</span><span class="value">${formatFigure(total(parts))} s</span></div>\n`)}
<div class="row"><span class="name"></span><span class="track axis">${TICKS.map((share) => html`<span style="left:${share * 100}%">${formatFigure(most * share)}</span>`)}</span><span class="value">s</span></div></figure>`;
}

export function stallTable(results: readonly PipelineResult[], gpus: number): Html {
  const rows = results.map((result) => [
    result.pipeline,
    formatShare(result.gpu_busy_share),
    ...partsOf(result, gpus).map(({ seconds }) => formatFigure(seconds)),
  ]);
  return foldedTable('seconds of a GPU by cause', [['pipeline', 'busy', 'compute', ...STALL_NAMES], ...rows]);
}
