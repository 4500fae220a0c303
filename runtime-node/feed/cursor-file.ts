import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, Os2gError } from '../errors.js';
import { fileProblem, writeMend } from '../file-problem.js';
import { readable } from '../input-file.js';
import { beginningOf, linkTarget } from '../output-files.js';
import { removeStaleBeside, temporaryBeside } from '../temporary-files.js';
import { option, words } from '../wording.js';
import { type Cursor, parseCursor } from './cursor.js';

/**
 * Shortest time between two writes. One write (file and rename) costs about 0.15 ms, so a feed of very small batches spends at
 * most a few per cent on it; any longer step is recorded at once.
 */
const MIN_INTERVAL_MS = 5;

/**
 * Keeps a file at the run's cursor: a new file is written beside it and renamed over it, so that a reader sees the old or the
 * new one, whole. Where the path is a link, what it leads to is written.
 *
 * What the file promises after `kill -9`: every batch that it calls consumed was handed out and released, and its audit line is
 * written. It is written before `release()` returns, unless the last write is less than 5 ms old: then within 5 ms, as soon as the event
 * loop turns. Batches released after the last write are seen again; none is missed. Writes are not flushed to the disk one by
 * one: after a power cut the file is that of an earlier moment; `close` flushes.
 */
export class CursorFile {
  readonly #path: string;
  readonly #target: string;
  readonly #temporary: string;
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
    this.#target = this.#guard(() => linkTarget(path));
    this.#temporary = temporaryBeside(this.#target);
    this.#onError = onError;
    removeStaleBeside(this.#target);
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
    const temporary = this.#temporary;
    this.#guard(() => {
      try {
        const fd = openSync(temporary, 'w', 0o644);
        try {
          writeFileSync(fd, `${JSON.stringify(cursor)}\n`);
          if (durable) fsyncSync(fd);
        } finally {
          closeSync(fd);
        }
        renameSync(temporary, this.#target);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    });
    this.#lastWriteMs = performance.now();
    this.#written = cursor;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw notWritten(this.#path, cause);
    }
  }
}

/** Longer than any cursor. */
const LONGEST_BYTES = 65536;
const CURSOR_BEGINS = '{"schema":"os2g.cursor/1"';

/** Whether a file holds a cursor, whole or torn, of whatever run. */
export function looksLikeCursor(path: string, sizeBytes: number): boolean {
  if (sizeBytes > LONGEST_BYTES) return false;
  const text = beginningOf(path, sizeBytes).toString('utf8');
  return schemaOf(text) === 'os2g.cursor/1' || CURSOR_BEGINS.startsWith(text.slice(0, CURSOR_BEGINS.length));
}

function schemaOf(text: string): unknown {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null && 'schema' in document ? document.schema : null;
  } catch {
    return null;
  }
}

/**
 * Keeps what a cursor file says of another run before a new run begins to write it: a copy beside it, under a name that is free.
 * Nothing is kept where nothing would be lost: no file, no progress, the run that goes on, or a copy that is there already.
 * @returns where the copy is, and the place it holds in words; null where none was needed
 * @throws Os2gError `cursor_write`
 */
export function keepPrevious(path: string, goesOn: Cursor | null): { file: string; place: string } | null {
  try {
    const target = linkTarget(path);
    const text = textOf(target);
    if (text === null || text === '') return null;
    const cursor = cursorIn(text);
    if (cursor && cursor.epoch === 0 && cursor.batch === 0) return null;
    if (cursor && goesOn && isSamePlace(cursor, goesOn)) return null;
    for (let n = 1; ; n++) {
      const file = n === 1 ? `${target}.previous` : `${target}.previous-${n}`;
      if (textOf(file) === text) return null;
      if (isCopied(file, text))
        return { file, place: cursor ? `epoch ${cursor.epoch}, batch ${cursor.batch}` : 'unreadable' };
    }
  } catch (cause) {
    throw notWritten(path, cause);
  }
}

/** False where there is such a file already. */
function isCopied(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function cursorIn(text: string): Cursor | null {
  try {
    return parseCursor(text);
  } catch {
    return null;
  }
}

function isSamePlace({ epochs: _, ...a }: Cursor, { epochs: __, ...b }: Cursor): boolean {
  return isDeepStrictEqual(a, b);
}

function notWritten(path: string, cause: unknown): Os2gError {
  return new Os2gError(
    'cursor_write',
    `the cursor cannot be written to ${path}: ${fileProblem(cause)}`,
    writeMend(cause),
    { option: 'cursorOut', file: path, cause },
  );
}

/**
 * Reads a cursor file.
 * @throws ConfigError `bad_cursor`
 */
export function readCursor(path: string): Cursor {
  let text: string;
  try {
    text = readFileSync(readable(path), 'utf8');
  } catch (cause) {
    throw new ConfigError(
      'bad_cursor',
      `the cursor ${path} cannot be read: ${fileProblem(cause)}`,
      words`name a file that ${option('cursorOut')} wrote`,
      { option: 'resume', file: path, cause },
    );
  }
  return parseCursor(text, path);
}
