import type { Core } from '../core.js';
import { ConfigError } from '../errors.js';
import type { Manifest } from '../manifest/manifest.js';
import type { Policy } from '../policy/resolve.js';
import { formatBytes, tellBytes } from '../policy/units.js';
import { option, type Text, words } from '../wording.js';
import { type BatchLayout, type BatchSizes, batchSizes, chanceAbove } from './batch-sizes.js';
import { batchesPerEpoch, type Cursor, type CursorBase } from './cursor.js';
import type { FeedLogger } from './options.js';

/** The core's: the region of a batch ends at a multiple of it. */
const REGION_BYTES = 64;
const LEAST_STAGED_SHARE = 0.25;
/** Below this chance for the whole run a batch that does not fit is not worth a word. */
const NO_CHANCE = 1e-6;

/** The memory budget, and what of it one batch can have. */
export class BatchRoom {
  readonly landingBytes: number;
  readonly #share: number;

  constructor(
    core: Core,
    policy: Policy,
    readonly memoryBytes: number,
    isStaged: boolean,
  ) {
    this.landingBytes = core.landingBytes;
    const share = policy.values.get('staging.share') ?? 0;
    this.#share = core.stagingBytes === 0 ? 0 : Math.max(share, isStaged ? LEAST_STAGED_SHARE : 0);
  }

  /** A budget with room for a batch of so many bytes, rounded up to a size that is easily written. */
  budgetFor(batchBytes: number): number {
    const region = Math.ceil(batchBytes / REGION_BYTES) * REGION_BYTES;
    const needed = (region + REGION_BYTES) / (1 - this.#share);
    const unit = needed > 10 * 2 ** 30 ? 2 ** 30 : needed > 2 ** 20 ? 2 ** 20 : 2 ** 10;
    return Math.ceil(needed / unit) * unit;
  }

  /** What landing memory is of the budget. */
  get shareText(): string {
    const share = Number((1 - this.#share).toFixed(4));
    return `${share === 1 ? 'all' : share} of the memory budget of ${tellBytes(this.memoryBytes)}`;
  }
}

/** An option with its value, as both tellers write it. */
export function budgetOption(bytes: number): Text {
  return words`${{ api: `memoryBytes to ${bytes}`, command: `--memory to ${formatBytes(bytes)}` }}`;
}

/** A run, as far as its batches' sizes follow from it. */
export interface PlannedRun {
  readonly manifest: Manifest;
  readonly base: CursorBase;
  readonly first: Cursor;
  readonly rank: number;
  readonly worldSize: number;
  readonly policy: Policy;
  readonly room: BatchRoom;
  readonly log: FeedLogger | undefined;
}

/**
 * Says before the first request whether a batch can come that does not fit: sizes are known. An external order is its program's matter.
 * @throws ConfigError `batches_too_large` where none fits
 */
export function checkBatchSizes(run: PlannedRun): void {
  const { manifest, base, room, log } = run;
  if (base.order.shuffle === 'external' || batchesAhead(run) <= 0) return;
  const layout = layoutOf(run);
  const most = Math.ceil(manifest.maxLength / layout.alignBytes) * layout.alignBytes + layout.gapBytes;
  if (most * layout.batchSamples <= room.landingBytes) return;
  const sizes = batchSizes(manifest, layout);
  if (sizes.smallestBytes > room.landingBytes && hasFullBatch(run)) throw tooLarge(sizes, run, layout);
  if (sizes.largestBytes <= room.landingBytes || !isLikely(sizes, run, layout)) return;
  const safe = formatBytes(room.budgetFor(sizes.largestBytes));
  log?.warn(
    {},
    `a batch may come that does not fit, which ends the run: ${layout.batchSamples} samples take up to ${tellBytes(sizes.largestBytes)}, landing memory is ${tellBytes(room.landingBytes)} (${room.shareText}); a memory budget of ${safe} is safe`,
  );
}

function isLikely(sizes: BatchSizes, run: PlannedRun, { batchSamples }: BatchLayout): boolean {
  if (run.base.order.shuffle !== 'sample') return true;
  return chanceAbove(sizes, batchSamples, batchesAhead(run), run.room.landingBytes) >= NO_CHANCE;
}

function tooLarge(sizes: BatchSizes, { room }: PlannedRun, { batchSamples }: BatchLayout): ConfigError {
  return new ConfigError(
    'batches_too_large',
    `no batch fits: the ${batchSamples} shortest samples have ${tellBytes(sizes.smallestBytes)}, and landing memory is ${tellBytes(room.landingBytes)} (${room.shareText})`,
    words`raise ${budgetOption(room.budgetFor(sizes.largestBytes))}, or lower ${option('batchSamples')}`,
    { option: 'memoryBytes' },
  );
}

function layoutOf({ base, rank, worldSize, policy }: PlannedRun): BatchLayout {
  const merges = policy.values.get('merge.bytes')! > 0;
  return {
    ...{ shuffle: base.order.shuffle, tail: base.order.tail, rank, worldSize },
    batchSamples: base.global_batch_samples / worldSize,
    alignBytes: policy.values.get('layout.align')!,
    gapBytes: merges ? policy.values.get('merge.gap')! : 0,
  };
}

function batchesAhead({ base, first }: PlannedRun): number {
  return batchesPerEpoch(base) * ((base.epochs ?? 1) - first.epoch) - first.batch;
}

/** Whether a batch is ahead that `partial` does not shorten. */
function hasFullBatch({ base, first }: PlannedRun): boolean {
  if (base.order.tail !== 'partial') return true;
  const full = Math.floor(base.samples / base.global_batch_samples);
  const epochs = (base.epochs ?? 1) - first.epoch;
  return full > 0 && (epochs > 1 || first.batch < full);
}
