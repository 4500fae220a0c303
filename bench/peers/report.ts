import { machineText, tableText } from '../measure/report.js';
import { type Spread, spreadOf } from '../measure/spread.js';
import type { Comparison, PeerFigures, Peers } from './figures.js';

const HEAD = ['client', 'in flight', 'CPU us/GET', 'of it system', 'GETs/s', 'GB/s a core', 'GETs a wake'];

const minMedian = (spread: Spread | null, digits: number): string =>
  spread === null ? '-' : `${spread.min.toFixed(digits)} / ${spread.median.toFixed(digits)}`;
const maxMedian = (spread: Spread | null, digits: number): string =>
  spread === null ? '-' : `${spread.max.toFixed(digits)} / ${spread.median.toFixed(digits)}`;

function cells(client: PeerFigures): string[] {
  const { name, inFlight, missing, variant } = client;
  if (missing !== null) return [name, String(inFlight), missing, '', '', '', ''];
  return [
    variant === null ? name : `${name} (${variant})`,
    String(inFlight),
    minMedian(client.cpuUs, 1),
    minMedian(client.systemUs, 1),
    maxMedian(client.perSecond, 0),
    maxMedian(client.gbPerCpuSecond, 2),
    minMedian(client.getsPerWake, 1),
  ];
}

function title({ clients, objectBytes, objects, tls, store }: Peers): string {
  const rounds = clients.find(({ cpuUs }) => cpuUs !== null)?.cpuUs?.rounds ?? 0;
  return (
    `${objects} objects of ${objectBytes.toLocaleString('en')} bytes from ${store} on loopback` +
    `${tls ? ' over TLS 1.3' : ''}; ${rounds} rounds in turn; min / median (rates: max / median)`
  );
}

function verdict({ what, unit, spread, ofMinima, aim, met }: Comparison): string[] {
  const digits = unit === 'us' ? 1 : 3;
  const [middle, least] = [spread.median.toFixed(digits), ofMinima.toFixed(digits)];
  const goal = aim === null ? '-' : aim.toFixed(unit === 'us' ? 1 : 2);
  return [what, `${middle} ${unit}`, least, goal, met === null ? '-' : met ? 'met' : 'missed'];
}

const VERDICT_HEAD = ['comparison', 'median of rounds', 'of the minima', 'aim at most', ''];

function checked({ clients }: Peers): string {
  const names = clients.filter(({ verified }) => verified !== null).map(({ name }) => name);
  return (
    `Checked: every body's length in every round; outside the rounds each object byte for byte, by ${[...new Set(names)].join(', ')}.` +
    `${clients.some(({ name, missing }) => name === 'wrk' && missing === null) ? ' wrk lands and checks nothing.' : ''}`
  );
}

function tried({ clients, versions }: Peers): string {
  const lines = clients
    .filter(({ variant }) => variant !== null)
    .map(({ name, tried, variant }) => {
      const all = Object.entries(tried).map(([way, cpuUs]) => `${way} ${cpuUs.toFixed(0)}`);
      return `${name} ${versions[name]}: ${variant} is the best of its ways (CPU us/GET in a trial: ${all.join(', ')})`;
    });
  const hedges = clients.flatMap(({ name, inFlight, hedges }) =>
    hedges === null ? [] : [`${name} with ${inFlight}: ${hedges.sent} in ${hedges.gets} GETs`],
  );
  if (hedges.length > 0) lines.push(`Hedges, whose cost is in the figures: ${hedges.join(', ')}.`);
  return lines.join('\n');
}

export function peersText(peers: Peers): string {
  const tables = [
    tableText([HEAD, ...peers.clients.map(cells)]),
    tableText([VERDICT_HEAD, ...peers.comparisons.map(verdict)]),
  ];
  return `${title(peers)}\n\n${tables.join('\n')}\n${checked(peers)}\n${tried(peers)}\n${machineText(peers.machine)}`;
}

/** The same as docs/benchmarks.md holds it. */
export function peersMarkdown(peers: Peers): string {
  const { loadBefore, loadAfter, calibrationNs } = peers.machine;
  const loop = spreadOf(calibrationNs);
  const load =
    `Load ${loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after; calibration loop min ${loop.min.toFixed(3)}, ` +
    `median ${loop.median.toFixed(3)}, max ${loop.max.toFixed(3)} ns.`;
  const parts = [
    `${title(peers)}.`,
    markdownTable([HEAD, ...peers.clients.map(cells)]),
    markdownTable([VERDICT_HEAD, ...peers.comparisons.map(verdict)]),
    [checked(peers), ...tried(peers).split('\n').filter(Boolean), load].join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(3, ...rows.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  const [head, ...body] = rows;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head!), rule, ...body.map(line)].join('\n');
}
