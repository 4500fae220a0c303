import { AbortedError, ConfigError, Os2gError } from '../../errors.js';
import type { Cursor } from '../../feed/cursor.js';
import type { Feed } from '../../feed/feed.js';
import type { FeedOptions } from '../../feed/options.js';
import { resumedCursor } from '../../feed/resume.js';
import type { FeedStats } from '../../feed/stats.js';
import { openFeed } from '../../index.js';
import type { CommandContext } from '../command.js';
import { counted } from '../output/numbers.js';
import type { Progress } from '../output/progress.js';
import { EmulatedGpu } from './emulated-step.js';
import { batchesAhead, openingLines, progressDetail, stoppedText } from './report.js';

/** How batches are used up. */
export interface Consumption {
  /** Emulated compute of one batch, in nanoseconds. */
  readonly stepTime: number;
  readonly stopAfterBatches: number | undefined;
}

/** How a run ended. */
export interface FeedRun {
  readonly stats: FeedStats;
  /** Where it began. */
  readonly start: Cursor;
  /** What the signal that ended it gave as its reason; null where it came to its end. */
  readonly stopped: AbortedError | null;
  /** Batches that were handed out and not used up. */
  readonly inHand: number;
}

/**
 * Opens the feed, uses up its batches, closes it; whatever happens, everything is closed and the cursor written.
 * @throws AbortedError where the signal came before the feed was open; a run that is ended later has come to something
 */
export async function runFeed(
  options: FeedOptions,
  consumption: Consumption,
  context: CommandContext,
): Promise<FeedRun> {
  const { signal, log, stderr } = context;
  refuseExternal(resumedCursor(options));
  const feed = await open(options, context);
  const start = feed.cursor;
  const progress = stderr.progress('feeding');
  let stopped: AbortedError | null = null;
  let done = 0;
  const count = (): number => ++done;
  try {
    const first = feed.stats();
    for (const line of openingLines(feed, first.policy, first)) log.info(line);
    await consume(feed, consumption, runLength(feed, consumption), progress, signal, count);
  } catch (error) {
    if (!(error instanceof AbortedError)) {
      progress.stop();
      if (error instanceof Os2gError) error.context.cursor = feed.cursor;
      if (options.cursorOut !== undefined) {
        const { what, mend } = stoppedText(start, feed.cursor, options.cursorOut);
        log.warn(`${what}; ${mend}`);
      }
      throw error;
    }
    stopped = error;
  } finally {
    progress.stop();
    await feed.close();
  }
  const stats = feed.stats();
  return { stats, start, stopped, inHand: stats.batches - done };
}

/** Positions of an external order come from a program; nothing here would ever ask for one. */
function refuseExternal(cursor: Cursor | null): void {
  if (cursor?.order.shuffle !== 'external') return;
  throw new ConfigError(
    'cursor_mismatch',
    'the cursor is of a run in external order (order.shuffle), whose positions come from a program',
    'resume it with openFeed({ resume }) and feed.request()',
    { option: 'resume' },
  );
}

async function open(options: FeedOptions, { signal, log, stderr }: CommandContext): Promise<Feed> {
  const listing = stderr.progress('listing');
  const onListed = (objects: number): void =>
    listing.update({ done: objects, total: 0, detail: counted(objects, 'object') });
  try {
    return await openFeed({ ...options, signal, logger: log, onListed });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new AbortedError(
      error,
      'interrupted before the feed was open: nothing was started',
      'run it again',
    );
  } finally {
    listing.stop();
  }
}

function runLength(feed: Feed, { stopAfterBatches }: Consumption): number {
  const { epoch, batch, epochs = 1, order, global_batch_samples: globalBatchSamples } = feed.cursor;
  const ahead = batchesAhead({
    samples: feed.manifest.rows,
    globalBatchSamples,
    tail: order.tail,
    epochs,
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
  count: () => number,
): Promise<void> {
  const gpu = new EmulatedGpu(stepTime, signal);
  let done = 0;
  const show = (): void => progress.update({ done, total, detail: progressDetail(feed.snapshot()) });
  // Also while a batch is awaited: a stalled run must be seen to stall.
  const redraw = setInterval(show, 200);
  try {
    for (let batch = await feed.next(); batch !== null; batch = await feed.next()) {
      const busyNs = await gpu.step();
      if (busyNs > 0) feed.busy(busyNs);
      // A step that was cut short is not done: its batch stays unconsumed, and is seen again.
      if (signal.aborted) throw new AbortedError(signal.reason);
      batch.release();
      done = count();
      if (done === stopAfterBatches) return;
    }
  } finally {
    clearInterval(redraw);
  }
}
