import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ConfigError, Os2gError } from '../errors.js';
import { type Cursor, parseCursor } from './cursor.js';

/**
 * Shortest time between two writes. One write (file and rename) costs about 0.15 ms, so a feed of very small batches spends at
 * most a few per cent on it; any longer step is recorded at once.
 */
const MIN_INTERVAL_MS = 5;

/**
 * Keeps a file at the run's cursor: a new file is written beside it and renamed over it, so that a reader sees the old or the
 * new one, whole.
 *
 * What the file promises after `kill -9`: every batch that it calls consumed was handed out and released, and its audit line is
 * written. It is written before `release()` returns, unless the last write is less than 5 ms old: then within 5 ms, as soon as the event
 * loop turns. Batches released after the last write are seen again; none is missed. Writes are not flushed to the disk one by
 * one: after a power cut the file is that of an earlier moment; `close` flushes.
 */
export class CursorFile {
  readonly #path: string;
  readonly #onError: (error: Os2gError) => void;
  #pending: Cursor | null = null;
  #timer: NodeJS.Timeout | null = null;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #written: Cursor | null = null;

  /**
   * @param first written at once, so that a file that cannot be written is found before anything starts.
   * @param onError told of a write that failed after that.
   * @throws Os2gError `cursor_write`
   */
  constructor(path: string, first: Cursor, onError: (error: Os2gError) => void) {
    this.#path = path;
    this.#onError = onError;
    this.#write(first, false);
  }

  /** Records a cursor: now, or within 5 ms. */
  set(cursor: Cursor): void {
    this.#pending = cursor;
    const waitMs = this.#lastWriteMs + MIN_INTERVAL_MS - performance.now();
    if (waitMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs);
  }

  /** Writes what is not written yet and flushes it to the disk. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const last = this.#pending ?? this.#written;
    if (last) this.#write(last, true);
    this.#pending = null;
    this.#written = null;
  }

  #flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const cursor = this.#pending;
    if (!cursor) return;
    this.#pending = null;
    try {
      this.#write(cursor, false);
    } catch (error) {
      this.#onError(error as Os2gError);
    }
  }

  #write(cursor: Cursor, durable: boolean): void {
    const temporary = `${this.#path}.tmp`;
    try {
      const fd = openSync(temporary, 'w', 0o644);
      try {
        writeFileSync(fd, `${JSON.stringify(cursor)}\n`);
        if (durable) fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(temporary, this.#path);
    } catch (cause) {
      throw new Os2gError(
        'cursor_write',
        `the cursor cannot be written to ${this.#path}: ${(cause as Error).message}`,
        'make room, or name a file that can be written',
        { option: 'cursor-out', file: this.#path, cause },
      );
    }
    this.#lastWriteMs = performance.now();
    this.#written = cursor;
  }
}

/**
 * Reads a cursor file.
 * @throws ConfigError `bad_cursor`
 */
export function readCursor(path: string): Cursor {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(
      'bad_cursor',
      `the cursor ${path} cannot be read: ${(cause as Error).message}`,
      'name a file that --cursor-out wrote',
      { option: 'resume', file: path, cause },
    );
  }
  return parseCursor(text, path);
}
