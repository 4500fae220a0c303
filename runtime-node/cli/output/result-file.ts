import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { Os2gError } from '../../errors.js';
import { beginningOf, linkTarget, type Output } from '../../output-files.js';
import { removeStaleBeside, temporaryBeside } from '../../temporary-files.js';

/** Of a file that is there: where its mark is looked for. */
const MOST_BYTES = 65_536;

/**
 * A text that a command writes: it may replace what is of its own kind only.
 * @param mark what such a file holds near its beginning
 */
export function textOutput(option: string, path: string, kind: string, mark: string): Output {
  const isOurs = (found: string, sizeBytes: number): boolean =>
    beginningOf(found, Math.min(sizeBytes, MOST_BYTES)).includes(mark);
  return { option, path, kind, isOurs };
}

/** Writes a file whole or not at all. @throws Os2gError `write_failed` */
export function writeOutput(path: string, text: string, option: string): void {
  let temporary: string | null = null;
  try {
    const target = linkTarget(path);
    removeStaleBeside(target);
    temporary = temporaryBeside(target);
    writeFileSync(temporary, text);
    renameSync(temporary, target);
  } catch (cause) {
    if (temporary !== null) rmSync(temporary, { force: true });
    throw new Os2gError(
      'write_failed',
      `${path} cannot be written: ${(cause as Error).message}`,
      'make room, or name another file',
      { option, file: path, cause },
    );
  }
}
