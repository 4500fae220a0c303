import { batchesPerEpoch, type Cursor } from '../../feed/cursor.js';
import type { Feed } from '../../feed/feed.js';
import { type FeedSnapshot, type FeedStats, STALL_NAMES } from '../../feed/stats.js';
import {
  counted,
  formatCount,
  formatDecimalBytes,
  formatFigure,
  formatMemory,
  formatSeconds,
  formatShare,
} from '../output/numbers.js';
import { facts } from '../output/table.js';

/** Batches that a run has before it, from where it starts. */
export function batchesAhead(run: {
  samples: number;
  globalBatchSamples: number;
  tail: string;
  epochs: number;
  epoch: number;
  batch: number;
}): number {
  const whole = run.samples / run.globalBatchSamples;
  const perEpoch = run.tail === 'drop' ? Math.floor(whole) : Math.ceil(whole);
  return Math.max(0, perEpoch * (run.epochs - run.epoch) - run.batch);
}

/** Two lines that say what begins. */
export function openingLines(feed: Feed, policy: FeedStats['policy'], stats: FeedStats): string[] {
  const { manifest, cursor } = feed;
  const start =
    cursor.epoch > 0 || cursor.batch > 0 ? `, from epoch ${cursor.epoch} batch ${cursor.batch}` : '';
  return [
    `data set: ${counted(manifest.rows, 'sample')}, ${formatDecimalBytes(manifest.totalLength)}; order: ${cursor.order.shuffle}, seed ${cursor.seed}${start}`,
    `policy: ${policy.preset}; memory budget: ${formatMemory(stats.memory_budget_bytes)}; engine: ${stats.engine}`,
  ];
}

/** The right part of the progress line. */
export function progressDetail(now: FeedSnapshot): string {
  const seconds = now.wallNs / 1e9;
  const rate = (amount: number): number => (seconds > 0 ? amount / seconds : 0);
  return [
    `${formatFigure(rate(now.samples))} samples/s`,
    `${formatDecimalBytes(rate(now.bytes))}/s`,
    `window ${formatMemory(now.windowBytes)}`,
    `${now.inFlight} in flight`,
    `stalled ${formatShare(now.stallShare)}`,
  ].join('  ');
}

/** Where the waiting went, the largest cause first. */
export function stallText(stalls: FeedStats['stall_s']): string {
  const causes = STALL_NAMES.filter((name) => stalls[name] >= 0.0005).sort((a, b) => stalls[b] - stalls[a]);
  if (causes.length === 0) return 'none';
  return causes.map((name) => `${name} ${formatSeconds(stalls[name])}`).join(', ');
}

/** Where a run stopped before its end, and how to go on from there. @param inHand batches that were handed out and not used up */
export function stoppedText(
  start: Cursor,
  { epoch, batch, ...base }: Cursor,
  cursorFile: string | undefined,
  inHand = 0,
): { what: string; mend: string } {
  const isMoved = epoch !== start.epoch || batch !== start.batch;
  const last = batch > 0 ? [epoch, batch - 1] : [epoch - 1, batchesPerEpoch(base) - 1];
  const rest = inHand > 0 ? `; ${counted(inHand, 'batch', 'batches')} in hand, not consumed` : '';
  const what = isMoved
    ? `stopped after epoch ${last[0]}, batch ${last[1]}`
    : `stopped before a batch was consumed (the first would be epoch ${epoch}, batch ${batch})`;
  const mend = cursorFile
    ? `go on with --resume ${cursorFile}`
    : 'start again; give --cursor-out FILE, so that a run can go on where it stopped';
  return { what: `${what}${rest}`, mend };
}

/** The result for people. */
export function resultText(stats: FeedStats, cursorFile: string | undefined): string {
  const pads = stats.padded > 0 ? `, ${counted(stats.padded, 'pad')}` : '';
  const dropped =
    stats.dropped > 0 ? `, ${formatCount(stats.dropped)} of each epoch left out (tail drop)` : '';
  const rows: [string, string][] = [
    [
      'samples',
      `${formatCount(stats.samples)} in ${counted(stats.batches, 'batch', 'batches')}${pads}${dropped}`,
    ],
    ['bytes', formatDecimalBytes(stats.bytes)],
    ['time', `${formatSeconds(stats.wall_s)}, of CPU ${formatSeconds(stats.cpu_s)}`],
    ['rate', `${formatFigure(stats.samples_per_s)} samples/s, ${formatDecimalBytes(stats.bytes_per_s)}/s`],
    [
      'requests',
      `${counted(stats.requests, 'read')} (${counted(stats.retries, 'retry', 'retries')}, ${counted(stats.hedges, 'hedge')}), ${counted(stats.list_requests, 'listing')}`,
    ],
    ['stalls', stallText(stats.stall_s)],
  ];
  if (stats.gpu_busy_share !== null) rows.push(['GPU busy', formatShare(stats.gpu_busy_share)]);
  rows.push(
    ['memory', `peak ${formatMemory(stats.memory_peak_bytes)} of ${formatMemory(stats.memory_budget_bytes)}`],
    ['landing', stats.landing.reason],
    ['run hash', stats.run_hash],
  );
  for (const { key, code, reason } of stats.skipped) rows.push(['skipped', `${key}: ${code}: ${reason}`]);
  const { epoch, batch } = stats.cursor;
  rows.push(['cursor', `epoch ${epoch}, batch ${batch}${cursorFile ? `, in ${cursorFile}` : ''}`]);
  return facts(rows);
}
