import { formatCount, formatFigure } from '../../../runtime-node/cli/output/numbers.js';
import { type Html, html, tableOf } from '../html.js';
import type { RunRecord } from '../recorder.js';
import type { Chart } from './series.js';

const NS_PER_MS = 1e6;
const QUANTILES = [0.5, 0.9, 0.99, 0.999] as const;

/** The share of requests that took longer than x. */
export function latencyChart(records: readonly RunRecord[]): Chart {
  return {
    id: 'latency',
    title: 'Latency of requests, from sent to the last byte',
    axis: 'slower requests (%)',
    lines: records
      .filter(({ whole }) => whole.count > 0)
      .map(({ pipeline, whole }) => {
        const points = whole.tail().filter(({ shareAbove }) => shareAbove > 0);
        return {
          pipeline,
          x: points.map(({ ns }) => Number((ns / NS_PER_MS).toPrecision(6))),
          y: points.map(({ shareAbove }) => Number((shareAbove * 100).toPrecision(6))),
        };
      }),
  };
}

export function latencyFigure(chart: Chart): Html {
  return html`<figure class="chart"><figcaption><b>${chart.title}</b> (both axes logarithmic)</figcaption>
<div class="plot" id="chart-${chart.id}" role="img" aria-label="${chart.title}: ${chart.axis} over milliseconds; the table below holds the numbers"></div></figure>`;
}

export function latencyTable(records: readonly RunRecord[]): Html {
  const ms = (ns: number): string => formatFigure(ns / NS_PER_MS);
  const title = (share: number): string => `${share === 0.5 ? 'median' : `${share * 100} %`}`;
  const head = [
    'pipeline',
    'answered',
    'failed or cut',
    ...QUANTILES.map((q) => `first byte, ${title(q)}`),
    ...QUANTILES.map((q) => `whole, ${title(q)}`),
    'whole, longest',
  ];
  const rows = records.map(({ pipeline, firstByte, whole, failedRequests }) => [
    pipeline,
    formatCount(whole.count),
    formatCount(failedRequests),
    ...QUANTILES.map((q) => ms(firstByte.quantileNs(q))),
    ...QUANTILES.map((q) => ms(whole.quantileNs(q))),
    ms(whole.maxNs),
  ]);
  return tableOf('Latency of requests (ms; quantiles to 3 %)', [head, ...rows]);
}
