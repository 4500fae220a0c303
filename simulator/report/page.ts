import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { formatCount, formatSeconds, formatShare } from '../../runtime-node/cli/output/numbers.js';
import { packageVersion } from '../../runtime-node/package-root.js';
import type { SimulateResult } from '../result.js';
import { Html, html, scriptJson, scriptText } from './html.js';
import type { RunRecord } from './recorder.js';
import { assumptionsTable, scenarioTable } from './sections/assumptions.js';
import { boundList, comparisonBars, comparisonTable, stepsTable } from './sections/comparison.js';
import { latencyChart, latencyFigure, latencyTable } from './sections/latency.js';
import { chartFigure, chartsOf } from './sections/series.js';
import { stallBars, stallTable } from './sections/stalls.js';
import { aboveBound, epochSeconds } from './steps.js';
import { PIPELINE_LOOKS, STYLE } from './style.js';

const require = createRequire(import.meta.url);
const uplot = (file: string): string => readFileSync(require.resolve(`uplot/${file}`), 'utf8');

/** A run as one page that needs no server and loads nothing: `result` and what was recorded of each of its pipelines. */
export function reportPage(result: SimulateResult, records: readonly RunRecord[]): string {
  const { scenario, results } = result;
  const gpus = scenario.nodes * scenario.training.gpus;
  const finished = new Set(results.filter(({ failed }) => !failed).map(({ pipeline }) => pipeline));
  const series = chartsOf(records, finished);
  const latency = latencyChart(records);
  const charts = latency.lines.length > 0 ? [...series, latency] : series;
  const dashes = Object.fromEntries(Object.entries(PIPELINE_LOOKS).map(([name, { dash }]) => [name, dash]));
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,"><title>${scenario.name}: OS2G simulation</title>
<!-- uPlot, ${new Html(licence())} -->
<style>${new Html(uplot('dist/uPlot.min.css'))}</style><style>${new Html(STYLE)}</style></head><body>
<header><h1>${scenario.name}</h1>
<p class="soft">Simulated with os2g ${packageVersion}, profile ${scenario.profile}: ${formatCount(scenario.dataset.samples)} samples, ${scenario.training.epochs === 1 ? '1 epoch' : `${scenario.training.epochs} epochs`}, ${gpus === 1 ? '1 GPU' : `${gpus} GPUs`}${scenario.nodes > 1 ? ` in ${scenario.nodes} nodes` : ''}, seed ${scenario.seed}.
Times are virtual: nothing here was measured on a machine.</p>
${verdict(result)}</header>
<h2>Pipelines side by side</h2>${comparisonBars(results)}${comparisonTable(results)}
<h2>The three steps</h2><p>Each step changes one thing: a better client on the same host, the same client off the host, and the direct way from the DPU to the GPU.</p>${stepsTable(results)}
<h2>The bound</h2><p>The least time that any policy could need on this machine, and the station that sets it.</p>${boundList(results)}
<h2>Where the GPUs' time went</h2>${stallBars(results, gpus)}${stallTable(results, gpus)}
<h2>Over time</h2>${series.map(chartFigure)}
<h2>Latency</h2>${latency.lines.length > 0 ? latencyFigure(latency) : html``}${latencyTable(records)}
<h2>What it rests on</h2><div class="words">${assumptionsTable(result)}</div>
<h2>The run</h2><div class="words">${scenarioTable(result)}</div>
<script type="application/json" id="data">${scriptJson({ charts, dashes })}</script>
<script>${scriptText(uplot('dist/uPlot.iife.min.js'))}</script>
<script type="module">${scriptText(browserScript())}</script>
</body></html>
`;
  return page.text;
}

/** The licence asks to stand wherever the library does. */
function licence(): string {
  return uplot('LICENSE').replaceAll('--', '- -').trim();
}

/** Compiled beside this file; its types and imports are gone. */
function browserScript(): string {
  return readFileSync(new URL('./browser/charts.js', import.meta.url), 'utf8');
}

function verdict({ results }: SimulateResult): Html {
  const failed = results.filter((result) => result.failed);
  const finished = results.filter((result) => !result.failed);
  const best = finished.reduce<(typeof finished)[number] | null>(
    (a, b) => (a === null || epochSeconds(b) < epochSeconds(a) ? b : a),
    null,
  );
  const shown = finished.find(({ pipeline }) => pipeline === 'os2g') ?? best;
  const sentences: string[] = [];
  if (shown) {
    const above = formatShare(aboveBound(shown));
    sentences.push(
      `${shown.pipeline} needs ${formatSeconds(epochSeconds(shown))} for an epoch, ${above} above the least time that is possible (${formatSeconds(shown.bound.epoch_s)}, set by ${shown.bound.by}).`,
    );
  }
  for (const { pipeline, failed: why } of failed) {
    sentences.push(
      `${pipeline} ended before its last batch, after ${formatSeconds(why!.at_s)} of virtual time: ${why!.reason}.`,
    );
  }
  return html`<p class="lead">${sentences.join(' ')}</p>`;
}
