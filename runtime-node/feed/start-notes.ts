import { batchesPerEpoch, type Cursor, type CursorBase, droppedPerEpoch } from './cursor.js';
import { keepPrevious } from './cursor-file.js';
import type { FeedLogger, FeedOptions } from './options.js';

/** How a feed starts, as far as its user may not expect it. */
export interface Start {
  readonly options: FeedOptions;
  readonly base: CursorBase;
  readonly first: Cursor;
  readonly isResumed: boolean;
  readonly log: FeedLogger;
}

/** Says what a caller should know before the first batch. */
export function tellStart({ options, base, first, isResumed, log }: Start): void {
  const { epochs = 1, resume, worldSize = 1 } = options;
  if (resume !== undefined && !isResumed)
    log.info({}, `${String(resume)} does not exist yet: the run starts at its beginning`);
  if (isResumed && first.epoch >= epochs)
    log.info({}, `nothing left: the run is at its end (${epochs} of ${epochs} epochs)`);
  if (batchesPerEpoch(base) > 0) return;
  const { samples, global_batch_samples: globalBatch } = base;
  const shares = worldSize === 1 ? '' : ` (${globalBatch / worldSize} for each of ${worldSize} ranks)`;
  log.warn(
    {},
    `nothing will be delivered: the data set has ${samples} samples, a global batch ${globalBatch}${shares}, and tail drop leaves out all ${droppedPerEpoch(base)}; lower the samples of a batch, or take tail pad or partial`,
  );
}

/** Keeps the cursor of another run that stands where this one's is to be written, and says where. */
export function keepProgress(cursorOut: string, resumed: Cursor | null, log: FeedLogger | undefined): void {
  const kept = keepPrevious(cursorOut, resumed);
  if (kept === null) return;
  log?.warn(
    {},
    `${cursorOut} held a cursor with progress (${kept.place}) that is not resumed here: it is kept as ${kept.file}`,
  );
}
