import * as layout from '../../assembly/layout.js';
import type { JobSpec } from '../../runtime-node/policy/job.js';
import type { PresetName } from '../../runtime-node/policy/settings.js';
import { type Draw, probeCore, type RunReport, runWorld, STALL_NAMES, type World } from '../kit/index.js';

const MS = 1e6;
const S = 1e9;
const KiB = 1024;
const MiB = 1024 * KiB;

/** A situation that a policy is put in: what is read, and what the world does meanwhile. */
export interface Situation {
  name: string;
  job: Partial<JobSpec>;
  world: Partial<World>;
}

/** A first byte around `ms`, between 0.6 and 1.6 times it; powers and logarithms differ between machines, so none are used. */
const around =
  (ms: number) =>
  (_: unknown, draw: Draw): number =>
    ms * MS * (0.6 + draw() * draw());

export const SITUATIONS: readonly Situation[] = [
  { name: 'steady, 20 ms', job: {}, world: {} },
  { name: 'far away, 120 ms', job: {}, world: { firstByteNs: around(120) } },
  {
    name: 'slow tail: 2 % take 20 times as long',
    job: {},
    world: { firstByteNs: (r, draw) => around(20)(r, draw) * (draw() < 0.02 ? 20 : 1) },
  },
  { name: '503 above 300 a second', job: {}, world: { requestsPerS: () => 300 } },
  {
    name: '503 above 100 a second from 1 s to 4 s',
    job: {},
    world: { requestsPerS: (now) => (now >= S && now < 4 * S ? 100 : 5000) },
  },
  {
    name: '5 % of requests fail',
    job: {},
    world: {
      fault: (_, draw) =>
        draw() < 0.05 ? { class: draw() < 0.5 ? 'reset' : 'server', afterNs: 15 * MS } : null,
    },
  },
  {
    name: 'outage from 1 s to 3 s',
    job: {},
    world: {
      fault: ({ nowNs }) => (nowNs >= S && nowNs < 3 * S ? { class: 'connect', afterNs: MS } : null),
    },
  },
  {
    name: '1 in 300 hangs for 10 s',
    job: {},
    world: {
      fault: (_, draw) => (draw() < 1 / 300 ? { class: 'timeout_first_byte', afterNs: 10 * S } : null),
    },
  },
  { name: 'memory for 3 batches', job: { memoryBytes: 16 * MiB }, world: {} },
  { name: 'memory cut to a quarter after 1 s', job: {}, world: { limits: [{ atNs: S, bytes: 16 * MiB }] } },
  { name: 'a slow trainer: 300 ms a step', job: {}, world: { stepNs: 300 * MS } },
  { name: 'through staging, 3 ms a move', job: { staged: true }, world: { placeNs: 3 * MS } },
  {
    name: 'many small ones: 2 KiB',
    job: { samples: 4096, batchSamples: 256 },
    world: { sampleBytes: 2 * KiB },
  },
  {
    name: 'small ones in shards of 256, in blocks',
    job: { samples: 4096, batchSamples: 256, shuffle: 'block' },
    world: { place: (row) => ({ object: row - (row % 256), offset: (row % 256) * 3000, length: 2048 }) },
  },
  {
    name: 'few large ones: 48 MiB',
    job: { samples: 24, batchSamples: 2, memoryBytes: 512 * MiB },
    world: { sampleBytes: 48 * MiB, stepNs: 500 * MS },
  },
  {
    name: '4 ranks of one node',
    job: { batchSamples: 16, worldSize: 4, consumers: 4, samples: 1920 },
    world: {},
  },
];

/** Plays a preset in a situation, in virtual time; the seed of the world is always the same. */
export async function play(preset: PresetName, { job, world }: Situation): Promise<RunReport> {
  const probe = await probeCore({
    preset,
    job: { samples: 1600, batchSamples: 32, seed: 7, memoryBytes: 64 * MiB, ...job },
  });
  return runWorld(probe, {
    seed: 11,
    checkBytes: false,
    sampleBytes: 110_000,
    bytesPerS: 90e6,
    firstByteNs: around(20),
    stepNs: 40 * MS,
    ...world,
  });
}

/** A run's outcome as cells of a table; times in whole milliseconds. */
export function cells(report: RunReport): string[] {
  const ms = (ns: number): string => String(Math.round(ns / MS));
  const count = (index: number): string => String(report.counter(index));
  const stalls = STALL_NAMES.filter((name) => report.stallsNs[name] >= MS / 2);
  return [
    report.failed ? `failed ${report.failed.code}` : ms(report.endNs),
    count(layout.COUNTER_REQUESTS),
    count(layout.COUNTER_RETRIES),
    count(layout.COUNTER_HEDGES),
    String(report.mostInFlight),
    (report.memoryPeakBytes / MiB).toFixed(1),
    stalls.map((name) => `${name} ${ms(report.stallsNs[name])}`).join(', ') || '-',
  ];
}

export const HEADINGS = [
  'situation',
  'preset',
  'end ms',
  'requests',
  'retries',
  'hedges',
  'in flight',
  'peak MiB',
  'stalls, ms',
];

/** Columns of equal width, numbers to the right, so that a changed line is a changed outcome. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i < 2 || i === row.length - 1 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd();
  return `${[line(HEADINGS), line(widths.map((w) => '-'.repeat(w))), ...rows.map(line)].join('\n')}\n`;
}
