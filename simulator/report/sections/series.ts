import { formatFigure } from '../../../runtime-node/cli/output/numbers.js';
import { foldedTable, type Html, html } from '../html.js';
import { busyShares, type RunRecord } from '../recorder.js';

const MIB = 1048576;
const STRETCHES = 80;
const TABLE_ROWS = 10;

/** One chart over time, with a line for each pipeline. */
export interface Chart {
  id: string;
  title: string;
  /** On the vertical axis, with its unit. */
  axis: string;
  lines: Line[];
}

export interface Line {
  pipeline: string;
  x: number[];
  y: number[];
}

/** Six digits are more than a chart can show. */
const rounded = (value: number): number => Number(value.toPrecision(6));

/** What a chart shows of the points of one stretch of time. */
type Summary = (values: readonly number[]) => number;
const mean: Summary = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const highest: Summary = (values) => Math.max(...values);
const last: Summary = (values) => values.at(-1)!;

/** Points of single instants would show single steps, so a run is shown in stretches of equal length. */
function lineOf(record: RunRecord, values: readonly number[], scale: number, summary: Summary): Line {
  const stride = Math.max(1, Math.ceil(values.length / STRETCHES));
  const line: Line = { pipeline: record.pipeline, x: [], y: [] };
  for (let i = 0; i < values.length; i += stride) {
    const end = Math.min(values.length, i + stride);
    line.x.push(rounded(record.series.timeNs[end - 1]! / 1e9));
    line.y.push(rounded(summary(values.slice(i, end)) / scale));
  }
  return line;
}

function busyLine(record: RunRecord): Line {
  const { timeNs } = record.series;
  const percent = busyShares(record)
    .slice(1)
    .map((share) => share * 100);
  return lineOf({ ...record, series: { ...record.series, timeNs: timeNs.slice(1) } }, percent, 1, mean);
}

export function chartsOf(records: readonly RunRecord[]): Chart[] {
  const withWindow = records.filter(({ series }) => series.windowBytes.some((bytes) => bytes > 0));
  const where = records.some(({ nodes }) => nodes > 1) ? ', all nodes' : '';
  const charts: Chart[] = [
    {
      id: 'busy',
      title: 'GPU busy share, mean of each stretch',
      axis: 'GPU busy (% of time)',
      lines: records.map(busyLine),
    },
    {
      id: 'in-flight',
      title: 'Requests in flight, mean of each stretch',
      axis: `in flight (requests${where})`,
      lines: records.map((record) => lineOf(record, record.series.inFlight, 1, mean)),
    },
    {
      id: 'window',
      title: 'Window of the policy: how far ahead it may fetch',
      axis: `window (MiB${where})`,
      lines: withWindow.map((record) => lineOf(record, record.series.windowBytes, MIB, last)),
    },
    {
      id: 'memory',
      title: 'Memory in use, highest of each stretch',
      axis: `memory (MiB${where})`,
      lines: records.map((record) => lineOf(record, record.series.memoryBytes, MIB, highest)),
    },
  ];
  return charts.filter(({ lines }) => lines.some(({ x }) => x.length > 0));
}

/** The place where the page's script draws, and the same numbers as a table. */
export function chartFigure(chart: Chart): Html {
  return html`<figure class="chart"><figcaption><b>${chart.title}</b></figcaption>
<div class="plot" id="chart-${chart.id}" role="img" aria-label="${chart.title}: ${chart.axis} over virtual time in seconds; the table below holds the numbers"></div>
${seriesTable(chart)}</figure>`;
}

/** Each run at ten instants, from its first point to its last. */
function seriesTable({ axis, lines }: Chart): Html {
  const parts = Array.from({ length: TABLE_ROWS + 1 }, (_, i) => i / TABLE_ROWS);
  const rows = parts.map((part) => [
    `${part * 100} %`,
    ...lines.flatMap(({ x, y }) => {
      const at = Math.round(part * (x.length - 1));
      return [`${formatFigure(y[at] ?? Number.NaN)} at ${formatFigure(x[at] ?? Number.NaN)} s`];
    }),
  ]);
  return foldedTable(`${axis} over each run`, [
    ['of the run', ...lines.map(({ pipeline }) => pipeline)],
    ...rows,
  ]);
}
