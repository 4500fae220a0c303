import { existsSync } from 'node:fs';
import { ConfigError } from '../errors.js';
import { isSameFile } from '../output-files.js';
import { type Cursor, parseCursor } from './cursor.js';
import { readCursor } from './cursor-file.js';
import type { FeedOptions } from './options.js';

/**
 * The cursor that a run goes on from; null: it starts at the beginning. It also does where `resume` names the file of `cursorOut` and that
 * is not there yet, so that a job that is started again and again always says the same.
 * @throws ConfigError `bad_cursor`
 */
export function resumedCursor({
  resume,
  cursorOut,
}: Pick<FeedOptions, 'resume' | 'cursorOut'>): Cursor | null {
  if (resume === undefined) return null;
  if (typeof resume !== 'string') return parseCursor(resume);
  const isOwn = cursorOut !== undefined && isSameFile(resume, cursorOut);
  return isOwn && !existsSync(resume) ? null : readCursor(resume);
}

/** What the options leave open, a cursor says; what they say, it is checked against. @throws ConfigError `cursor_mismatch` */
export function completeFrom(cursor: Cursor, options: FeedOptions): FeedOptions {
  const share = cursor.global_batch_samples / (options.worldSize ?? 1);
  if (options.batchSamples === undefined && !Number.isInteger(share)) {
    throw new ConfigError(
      'cursor_mismatch',
      `the cursor does not fit this run: its global_batch_samples ${cursor.global_batch_samples} cannot be shared by ${options.worldSize} ranks`,
      'choose a world size that divides it',
      { option: 'worldSize' },
    );
  }
  return {
    ...options,
    batchSamples: options.batchSamples ?? share,
    epochs: options.epochs ?? cursor.epochs,
    seed: options.seed ?? BigInt(cursor.seed),
    shuffle: options.shuffle ?? cursor.order.shuffle,
    tail: options.tail ?? cursor.order.tail,
  };
}
