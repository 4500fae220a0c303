import { AbortedError } from '../../errors.js';
import type { Feed } from '../../feed/feed.js';
import type { FeedOptions } from '../../feed/options.js';
import type { FeedStats } from '../../feed/stats.js';
import { openFeed } from '../../index.js';
import type { CommandContext } from '../command.js';
import { formatCount } from '../output/numbers.js';
import type { Progress } from '../output/progress.js';
import { emulateStep } from './emulated-step.js';
import { batchesAhead, openingLines, progressDetail } from './report.js';

/** How batches are used up. */
export interface Consumption {
  /** Emulated compute of one batch, in nanoseconds. */
  readonly stepTime: number;
  readonly stopAfterBatches: number | undefined;
}

/** Opens the feed, uses up its batches, closes it; whatever happens, everything is closed and the cursor written. */
export async function runFeed(
  options: FeedOptions,
  consumption: Consumption,
  { signal, log, stderr }: CommandContext,
): Promise<FeedStats> {
  const listing = stderr.progress('listing');
  const onListed = (objects: number): void =>
    listing.update({ done: objects, total: 0, detail: `${formatCount(objects)} objects` });
  const opened = openFeed({ ...options, signal, logger: log, onListed });
  const feed = await opened.finally(() => listing.stop());
  const progress = stderr.progress('feeding');
  try {
    const first = feed.stats();
    for (const line of openingLines(feed, first.policy, first)) log.info(line);
    await consume(feed, consumption, runLength(feed, options, consumption), progress, signal);
  } finally {
    progress.stop();
    await feed.close();
  }
  return feed.stats();
}

function runLength(feed: Feed, options: FeedOptions, { stopAfterBatches }: Consumption): number {
  const { epoch, batch, order, global_batch_samples: globalBatchSamples } = feed.cursor;
  const ahead = batchesAhead({
    samples: feed.manifest.rows,
    globalBatchSamples,
    tail: order.tail,
    epochs: options.epochs ?? 1,
    epoch,
    batch,
  });
  return Math.min(ahead, stopAfterBatches ?? ahead);
}

async function consume(
  feed: Feed,
  { stepTime, stopAfterBatches }: Consumption,
  total: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  let done = 0;
  const show = (): void => progress.update({ done, total, detail: progressDetail(feed.snapshot()) });
  // Also while a batch is awaited: a stalled run must be seen to stall.
  const redraw = setInterval(show, 200);
  try {
    for (let batch = await feed.next(); batch !== null; batch = await feed.next()) {
      const busyNs = await emulateStep(stepTime, signal);
      if (busyNs > 0) feed.busy(busyNs);
      // A step that was cut short is not done: its batch stays unconsumed, and is seen again.
      if (signal.aborted) throw new AbortedError(signal.reason);
      batch.release();
      done++;
      if (done === stopAfterBatches) return;
    }
  } finally {
    clearInterval(redraw);
  }
}
