import { accessSync, constants, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigError, Os2gError } from '../../errors.js';

/**
 * Finds out before the work whether a file can be written after it.
 * @throws ConfigError `bad_output`
 */
export function checkOutput(path: string | undefined, option: string): void {
  if (path === undefined) return;
  const problem = problemWith(path);
  if (!problem) return;
  throw new ConfigError(
    'bad_output',
    `--${option}: ${path} ${problem}`,
    'name a file in a folder that is there',
    {
      option,
      file: path,
    },
  );
}

function problemWith(path: string): string | null {
  try {
    if (existsSync(path)) {
      if (statSync(path).isDirectory()) return 'is a folder';
      accessSync(path, constants.W_OK);
    } else {
      if (!statSync(dirname(path)).isDirectory()) return 'is in something that is no folder';
      accessSync(dirname(path), constants.W_OK);
    }
    return null;
  } catch (error) {
    return `cannot be written (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** Writes a file whole or not at all. @throws Os2gError `write_failed` */
export function writeOutput(path: string, text: string, option: string): void {
  // What is no plain file (a pipe, /dev/stdout) cannot be replaced.
  const isPlain = !existsSync(path) || statSync(path).isFile();
  const target = isPlain ? `${path}.part-${process.pid}` : path;
  try {
    writeFileSync(target, text);
    if (isPlain) renameSync(target, path);
  } catch (cause) {
    if (isPlain) rmSync(target, { force: true });
    throw new Os2gError(
      'write_failed',
      `${path} cannot be written: ${(cause as Error).message}`,
      'make room, or name another file',
      {
        option,
        file: path,
        cause,
      },
    );
  }
}
