import { formatFigure } from '../../../runtime-node/cli/output/numbers.js';
import type { PipelineName } from '../../scenario/types.js';
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
  /** Where the horizontal axis ends before the longest run does, s. */
  untilS?: number;
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

/** A run that takes so many times as long as most others goes out of the picture: it would press them to its edge. */
const LONGEST_SHOWN = 4;

/**
 * Where the charts end; null: with the longest run.
 * @param finished runs that came to their end: where one that failed ended says nothing about the others
 */
function shownUntilNs(records: readonly RunRecord[], finished: ReadonlySet<PipelineName>): number | null {
  const longestNs = Math.max(0, ...records.map(lastPointNs));
  const ends = records.filter(({ pipeline }) => finished.has(pipeline)).map(lastPointNs);
  ends.sort((a, b) => a - b);
  const untilNs = LONGEST_SHOWN * (ends[Math.floor((ends.length - 1) / 2)] ?? 0);
  return longestNs > untilNs && untilNs > 0 ? untilNs : null;
}

const lastPointNs = ({ series }: RunRecord): number => series.timeNs.at(-1) ?? 0;

/**
 * Points of single instants would show single steps, so a run is shown in stretches of equal length; what goes out of the picture
 * in stretches of its own.
 */
function lineOf(
  record: RunRecord,
  values: readonly number[],
  scale: number,
  summary: Summary,
  untilNs: number | null,
): Line {
  const { timeNs } = record.series;
  const line: Line = { pipeline: record.pipeline, x: [], y: [] };
  const beyond = untilNs === null ? -1 : timeNs.findIndex((ns) => ns > untilNs);
  const border = beyond < 0 ? values.length : beyond;
  for (const [from, to] of [
    [0, border],
    [border, values.length],
  ] as const) {
    const stride = Math.max(1, Math.ceil((to - from) / STRETCHES));
    for (let i = from; i < to; i += stride) {
      const end = Math.min(to, i + stride);
      line.x.push(rounded(timeNs[end - 1]! / 1e9));
      line.y.push(rounded(summary(values.slice(i, end)) / scale));
    }
  }
  return line;
}

function busyLine(record: RunRecord, untilNs: number | null): Line {
  const { timeNs } = record.series;
  const percent = busyShares(record)
    .slice(1)
    .map((share) => share * 100);
  return lineOf(
    { ...record, series: { ...record.series, timeNs: timeNs.slice(1) } },
    percent,
    1,
    mean,
    untilNs,
  );
}

/** @param finished pipelines that ran to their end */
export function chartsOf(records: readonly RunRecord[], finished: ReadonlySet<PipelineName>): Chart[] {
  const withWindow = records.filter(({ series }) => series.windowBytes.some((bytes) => bytes > 0));
  const where = records.some(({ nodes }) => nodes > 1) ? ', all nodes' : '';
  const untilNs = shownUntilNs(records, finished);
  const charts: Chart[] = [
    {
      id: 'busy',
      title: 'GPU busy share, mean of each stretch',
      axis: 'GPU busy (% of time)',
      lines: records.map((record) => busyLine(record, untilNs)),
    },
    {
      id: 'in-flight',
      title: 'Requests in flight, mean of each stretch',
      axis: `in flight (requests${where})`,
      lines: records.map((record) => lineOf(record, record.series.inFlight, 1, mean, untilNs)),
    },
    {
      id: 'window',
      title: 'Window of the policy: how far ahead it may fetch',
      axis: `window (MiB${where})`,
      lines: withWindow.map((record) => lineOf(record, record.series.windowBytes, MIB, last, untilNs)),
    },
    {
      id: 'memory',
      title: 'Memory in use, highest of each stretch',
      axis: `memory (MiB${where})`,
      lines: records.map((record) => lineOf(record, record.series.memoryBytes, MIB, highest, untilNs)),
    },
  ];
  const shown = charts.filter(({ lines }) => lines.some(({ x }) => x.length > 0));
  return untilNs === null ? shown : shown.map((chart) => ({ ...chart, untilS: rounded(untilNs / 1e9) }));
}

/** The place where the page's script draws, and the same numbers as a table. */
export function chartFigure(chart: Chart): Html {
  return html`<figure class="chart"><figcaption><b>${chart.title}</b>${cutText(chart)}</figcaption>
<div class="plot" id="chart-${chart.id}" role="img" aria-label="${chart.title}: ${chart.axis} over virtual time in seconds; the table below holds the numbers"></div>
${seriesTable(chart)}</figure>`;
}

/** Who goes on where the picture ends. */
function cutText({ lines, untilS }: Chart): string {
  if (untilS === undefined) return '';
  const longer = lines.filter(({ x }) => (x.at(-1) ?? 0) > untilS);
  const ends = longer.map(({ pipeline, x }) => `${pipeline} goes on to ${formatFigure(x.at(-1)!)} s`);
  return ends.length === 0 ? '' : ` (up to ${formatFigure(untilS)} s: ${ends.join(', ')})`;
}

/** Each run at ten instants, from its first point to its last. */
function seriesTable({ axis, lines }: Chart): Html {
  const parts = Array.from({ length: TABLE_ROWS + 1 }, (_, i) => i / TABLE_ROWS);
  const rows = parts.map((part) => [
    `${part * 100} %`,
    ...lines.flatMap(({ x, y }) => {
      if (x.length === 0) return ['-'];
      const at = Math.max(
        0,
        x.findIndex((seconds) => seconds >= part * x.at(-1)!),
      );
      return [`${formatFigure(y[at]!)} at ${formatFigure(x[at]!)} s`];
    }),
  ]);
  return foldedTable(`${axis} over each run`, [
    ['of the run', ...lines.map(({ pipeline }) => pipeline)],
    ...rows,
  ]);
}
