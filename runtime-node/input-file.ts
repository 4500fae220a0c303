import { statSync } from 'node:fs';

/** Names of a descriptor that the caller has opened: what `<(COMMAND)` of a shell becomes, and standard input. */
const DESCRIPTOR = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/;

/**
 * A path that is about to be opened for reading, if that can come to an end. To open a named pipe waits for a writer, and a device may
 * never end; a call of the file system that waits hears no signal. A descriptor that is open already may be a pipe.
 *
 * @returns the path
 * @throws Error for `fileProblem`, of the file system or with what the path is instead of a file
 */
export function readable(path: string): string {
  const found = statSync(path);
  if (found.isFile() || found.isDirectory()) return path; // to read a folder fails at once, and by itself
  if (found.isFIFO() && DESCRIPTOR.test(path)) return path;
  const what = found.isFIFO() ? 'a named pipe' : found.isSocket() ? 'a socket' : 'a device';
  throw new Error(
    `it is ${what}, not a file${found.isFIFO() ? '; what a command prints is given as <(COMMAND)' : ''}`,
  );
}
