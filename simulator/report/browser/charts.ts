// Runs in the page, not in Node: draws the charts of the report from the data in it. The page holds uPlot as a plain script.
import type UPlot from 'uplot';

interface Line {
  pipeline: string;
  x: number[];
  y: number[];
}
interface Chart {
  id: string;
  axis: string;
  lines: Line[];
  untilS?: number;
}
interface Data {
  charts: Chart[];
  dashes: Record<string, number[]>;
}

const Plot = (globalThis as unknown as { uPlot: typeof UPlot }).uPlot;
const data = JSON.parse(document.getElementById('data')!.textContent!) as Data;
const drawn: UPlot[] = [];
/** In the legend while the pointer is nowhere in the chart. */
const NOTHING = '\u2013';

function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** 0.001, 5, 12,000: what an axis can hold. */
function tick(value: number | null): string {
  if (value === null) return '';
  return value >= 1000 ? value.toLocaleString('en-US') : String(Number(value.toPrecision(4)));
}

/** Marks of a logarithmic axis stand at the powers of ten only. */
function powersOfTen(_plot: UPlot, splits: (number | null)[]): (string | null)[] {
  return splits.map((value) =>
    value !== null && /^(1|0\.0*1|10*)$/.test(String(Number(value.toPrecision(6)))) ? tick(value) : null,
  );
}

function axis(label: string, isLog: boolean, size?: number): UPlot.Axis {
  const values = isLog ? powersOfTen : (_plot: UPlot, splits: (number | null)[]) => splits.map(tick);
  return {
    label,
    labelSize: 22,
    stroke: color('--text'),
    grid: { stroke: color('--grid'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
    ...(size ? { size } : {}),
    values: values as UPlot.Axis.Values,
  };
}

function draw({ id, axis: label, lines, untilS }: Chart): void {
  const place = document.getElementById(`chart-${id}`)!;
  const isLog = id === 'latency';
  const unit = isLog ? 'ms' : 's';
  const time = isLog ? 'latency (ms)' : 'virtual time (s)';
  const table = Plot.join(lines.map(({ x, y }) => [x, y]));
  const options: UPlot.Options = {
    width: place.clientWidth,
    height: 250,
    scales: {
      x: { time: false, distr: isLog ? 3 : 1, ...(untilS ? { range: [0, untilS] } : {}) },
      y: isLog
        ? { distr: 3 }
        : { range: (_plot, _min, max) => [0, id === 'busy' ? 100 : Math.max(max * 1.05, 1e-9)] },
    },
    axes: [axis(time, isLog), axis(label, isLog, 64)],
    series: [
      {
        label: time,
        value: (_plot, value: number | null) => (value === null ? NOTHING : `${tick(value)} ${unit}`),
      },
      ...lines.map(({ pipeline }) => ({
        label: pipeline,
        stroke: color(`--p-${pipeline}`),
        width: 1.75,
        dash: data.dashes[pipeline]!,
        spanGaps: true,
        points: { show: false },
        value: (_plot: UPlot, value: number | null) => (value === null ? NOTHING : tick(value)),
      })),
    ],
  };
  drawn.push(new Plot(options, table, place));
}

function redraw(): void {
  for (const plot of drawn.splice(0)) plot.destroy();
  for (const chart of data.charts) draw(chart);
  document.documentElement.dataset.drawn = String(drawn.length);
}

redraw();
const wide = document.querySelector('.plot');
let width = wide?.clientWidth ?? 0;
addEventListener('resize', () => {
  if (!wide || wide.clientWidth === width) return;
  width = wide.clientWidth;
  for (const plot of drawn) plot.setSize({ width, height: 250 });
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
// On paper everything is open and light.
addEventListener('beforeprint', () => {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
});
matchMedia('print').addEventListener('change', redraw);
