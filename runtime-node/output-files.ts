import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ConfigError } from './errors.js';
import { fileProblem } from './file-problem.js';
import { option, words } from './wording.js';

const MOST_LINKS = 40;

/** A file that a run is to write. */
export interface Output {
  /** The API's name of the option that names it. */
  readonly option: string;
  readonly path: string;
  /** What it will hold, with its article: `a cursor`. */
  readonly kind: string;
  /** What to do where it cannot be; left out: name another file. */
  readonly mend?: string;
  /** Whether a file that is there already may be replaced: it is empty, or of this kind. */
  isOurs(path: string, sizeBytes: number): boolean;
}

/** A file that a run reads. */
export interface Input {
  readonly option: string;
  readonly path: string;
  /** The output that may be the same file. */
  readonly sharedWith?: string;
}

/**
 * Where writing to a path ends up: symbolic links are followed, also one whose target does not exist yet. Absolute.
 * @throws Error as the file system gives it: links in a circle, a folder that may not be read
 */
export function linkTarget(path: string): string {
  let target = resolve(path);
  for (let links = 0; links <= MOST_LINKS; links++) {
    const folder = statOf(dirname(target)) ? realpathSync(dirname(target)) : dirname(target);
    target = join(folder, basename(target));
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    target = resolve(folder, readlinkSync(target));
  }
  throw Object.assign(new Error('links in a circle'), { code: 'ELOOP' });
}

/** Whether two paths are one file, which need not exist yet. */
export function isSameFile(a: string, b: string): boolean {
  try {
    const [here, there] = [statOf(a), statOf(b)];
    if (here && there) return here.dev === there.dev && here.ino === there.ino;
    return here === there && linkTarget(a) === linkTarget(b);
  } catch {
    // Links in a circle, a folder that may not be entered: who opens the path says so.
    return false;
  }
}

/**
 * Checks, before anything is started, that files can be written without harm: each is a regular file of its own kind or a new one in a
 * folder that is there, none is an input, and no two are the same.
 * @throws ConfigError `bad_output` that names the option
 */
export function checkOutputs(outputs: readonly Output[], inputs: readonly Input[]): void {
  const taken: { name: string; path: string }[] = [];
  for (const output of outputs) {
    for (const input of inputs) {
      if (input.sharedWith !== output.option && isSameFile(input.path, output.path))
        throw same(output, input.option);
    }
    checkPlace(output);
    const other = taken.find(({ path }) => isSameFile(path, output.path));
    if (other) throw same(output, other.name);
    taken.push({ name: output.option, path: output.path });
  }
}

/** The first bytes of a file. */
export function beginningOf(path: string, bytes: number): Buffer {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(fd, buffer, 0, bytes, 0));
  } finally {
    closeSync(fd);
  }
}

function checkPlace(output: Output): void {
  const { path, kind, mend = `name a file for ${kind}, in a folder that is there` } = output;
  const problem = placeProblem(output);
  if (problem !== null) throw refused(output, `${path} ${problem}`, mend);
}

function placeProblem({ path, kind, isOurs }: Output): string | null {
  try {
    const target = linkTarget(path);
    const folder = statOf(dirname(target));
    if (!folder) return `cannot be written: the folder ${dirname(target)} does not exist`;
    if (!folder.isDirectory()) return `cannot be written: ${dirname(target)} is no folder`;
    const found = statOf(target);
    if (!found) {
      accessSync(dirname(target), constants.W_OK);
      return null;
    }
    if (found.isDirectory()) return 'is a folder';
    if (!found.isFile()) return 'is a device, a pipe or a socket, not a file';
    accessSync(target, constants.W_OK);
    if (found.size === 0 || isOurs(target, found.size)) return null;
    return `holds something else than ${kind}: it is not replaced`;
  } catch (cause) {
    return `cannot be written: ${fileProblem(cause)}`;
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A part of the path is a file: there is nothing behind it.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function same(output: Output, other: string): ConfigError {
  return refused(output, words`${output.path} is also what ${option(other)} names`, 'name another file');
}

function refused(output: Output, what: Parameters<typeof words>[1], mend: string): ConfigError {
  return new ConfigError('bad_output', words`${option(output.option)}: ${what}`, mend, {
    option: output.option,
    file: output.path,
  });
}
