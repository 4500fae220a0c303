import { z } from 'zod';
import { ConfigError } from '../errors.js';
import { SHUFFLES, TAILS } from '../policy/job.js';
import { schemaProblem } from '../schema-problem.js';
import { option, words } from '../wording.js';

const whole = z.int().min(0);
const cursorSchema = z.strictObject({
  schema: z.literal('os2g.cursor/1'),
  /** Decimal, 0 .. 2^64 - 1. */
  seed: z
    .string()
    .regex(/^\d{1,20}$/)
    .refine((text) => /^\d+$/.test(text) && BigInt(text) < 1n << 64n, 'is above 2^64 - 1'),
  /** Epoch and global batch that are to be consumed next; epoch = epochs of the run: nothing is left. */
  epoch: whole,
  batch: whole,
  /** Epochs of the whole run, as it was started last; cursors of the first version do not say. */
  epochs: z.int().min(1).optional(),
  global_batch_samples: z.int().min(1),
  dataset_hash: z.string().regex(/^[0-9a-f]{64}$/),
  order: z.strictObject({
    shuffle: z.enum(SHUFFLES),
    tail: z.enum(TAILS),
    block_samples: z.int().min(1),
    group_blocks: z.int().min(1),
  }),
  /** Rows of the data set. */
  samples: z.int().min(1),
  /** Samples that the process which wrote this, and those that it went on from, left out under `onError: 'skip'`; absent: none. */
  skipped: whole.optional(),
});

/**
 * How far a run was consumed: every global batch before (`epoch`, `batch`) was handed out and released, none after. JSON below
 * 1 KB. It fixes the order, not the world size.
 */
export type Cursor = z.infer<typeof cursorSchema>;
/** What of a run a cursor must agree with. */
export type CursorBase = Omit<Cursor, 'schema' | 'epoch' | 'batch' | 'skipped'>;

/**
 * A cursor from JSON text or an object of unknown origin.
 * @throws ConfigError `bad_cursor` that names the field.
 */
export function parseCursor(input: unknown, file?: string): Cursor {
  const document = typeof input === 'string' ? fromJson(input, file) : input;
  const parsed = cursorSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw badCursor(schemaProblem(document, parsed.error), file);
}

function fromJson(text: string, file?: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badCursor(`it is not JSON: ${(cause as Error).message}`, file);
  }
}

function badCursor(what: string, file?: string): ConfigError {
  return new ConfigError(
    'bad_cursor',
    `the cursor${file ? ` ${file}` : ''} cannot be used: ${what}`,
    'resume from a cursor that os2g wrote (os2g.cursor/1)',
    { option: 'resume', file },
  );
}

export function cursorAt(base: CursorBase, epoch: number, batch: number, skipped = 0): Cursor {
  return { schema: 'os2g.cursor/1', ...base, epoch, batch, ...(skipped > 0 && { skipped }) };
}

/**
 * Global batches of an epoch: with `drop` whole ones only, else the last one may be short (or padded). Infinity where the order
 * comes from outside.
 */
export function batchesPerEpoch(base: CursorBase): number {
  if (base.order.shuffle === 'external') return Number.POSITIVE_INFINITY;
  const batches = base.samples / base.global_batch_samples;
  return base.order.tail === 'drop' ? Math.floor(batches) : Math.ceil(batches);
}

/** Samples of an epoch that `drop` leaves out. */
export function droppedPerEpoch(base: CursorBase): number {
  const { order, samples, global_batch_samples } = base;
  return order.tail === 'drop' && order.shuffle !== 'external' ? samples % global_batch_samples : 0;
}

/** The cursor of a run in which global batch (`epoch`, `batch`) was consumed last. */
export function cursorAfter(base: CursorBase, epoch: number, batch: number, skipped = 0): Cursor {
  return batch + 1 < batchesPerEpoch(base)
    ? cursorAt(base, epoch, batch + 1, skipped)
    : cursorAt(base, epoch + 1, 0, skipped);
}

/**
 * How many more samples may be left out: the limit is one for the whole run, also when it resumes.
 *
 * @throws ConfigError `cursor_mismatch` where it is below what was left out already
 */
export function skipsLeft(cursor: Cursor | null, maxSkips: number): number {
  const skipped = cursor?.skipped ?? 0;
  if (skipped <= maxSkips) return maxSkips - skipped;
  throw new ConfigError(
    'cursor_mismatch',
    words`the cursor does not fit this run: skipped is ${skipped} in the cursor, and ${option('maxSkips')} is ${maxSkips}, for the whole run`,
    words`give ${option('maxSkips')} ${skipped} or more`,
    { option: 'maxSkips' },
  );
}

/**
 * Refuses a cursor of another data set, order or global batch.
 * @throws ConfigError `cursor_mismatch` that names the field and both values.
 */
export function checkCursor(cursor: Cursor, base: CursorBase, epochs: number): void {
  const pairs: [field: string, had: unknown, wanted: unknown][] = [
    ['dataset_hash', cursor.dataset_hash, base.dataset_hash],
    ['samples', cursor.samples, base.samples],
    ['seed', cursor.seed, base.seed],
    ['order.shuffle', cursor.order.shuffle, base.order.shuffle],
    ['order.tail', cursor.order.tail, base.order.tail],
    ['order.block_samples', cursor.order.block_samples, base.order.block_samples],
    ['order.group_blocks', cursor.order.group_blocks, base.order.group_blocks],
    ['global_batch_samples', cursor.global_batch_samples, base.global_batch_samples],
  ];
  for (const [field, had, wanted] of pairs) if (had !== wanted) throw mismatch(field, had, wanted);
  const least = cursor.epoch + (cursor.batch > 0 ? 1 : 0);
  if (least > epochs) {
    throw new ConfigError(
      'cursor_mismatch',
      words`the cursor does not fit this run: epoch is ${cursor.epoch} (batch ${cursor.batch}) in the cursor, and ${option('epochs')} is ${epochs}: the run’s total, also when it resumes`,
      words`give ${option('epochs')} ${least} or more`,
      { option: 'epochs' },
    );
  }
  const batches = batchesPerEpoch(base);
  if (cursor.batch > 0 && cursor.batch >= batches) throw mismatch('batch', cursor.batch, `below ${batches}`);
}

function mismatch(field: string, had: unknown, wanted: unknown): ConfigError {
  const mend =
    field === 'global_batch_samples'
      ? words`choose ${option('batchSamples')} and ${option('worldSize')} so that their product stays the same`
      : 'resume with the data set and the order that the cursor was written with, or start without it';
  return new ConfigError(
    'cursor_mismatch',
    `the cursor does not fit this run: ${field} is ${had} in the cursor, ${wanted} here`,
    mend,
    {
      option: 'resume',
    },
  );
}
