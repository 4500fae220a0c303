import { setting, type Text, words } from './wording.js';

/** What the system says of a file, in words that do not repeat its path. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not open it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of its path is no folder',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's share of the disk is full",
  EFBIG: 'it would be larger than a file may be',
  EROFS: 'its file system cannot be written',
  EMFILE: 'this process has too many files open',
  ENFILE: 'this machine has too many files open',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
};

/** What to do about a file that cannot be written. */
export function writeMend(cause: unknown): Text {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  if (code === 'EMFILE' || code === 'ENFILE')
    return words`raise the limit of open files (ulimit -n), or lower ${setting('concurrency.max')}`;
  return 'make room, or name a file that can be written';
}

/** Why a call on a file failed: `there is no such file or folder (ENOENT)`. Node's own message would name the path again. */
export function fileProblem(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (!('code' in cause) || typeof cause.code !== 'string') return cause.message;
  const words = PROBLEMS[cause.code];
  return words === undefined ? cause.code : `${words} (${cause.code})`;
}
