import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * A name beside a file, for what is to be renamed over it: hidden, and of this process and call alone, so that two writers of one
 * file never touch each other's.
 */
export function temporaryBeside(target: string): string {
  return join(dirname(target), `.${basename(target)}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`);
}

/** Removes what writers of the same file left that were killed: their process, on this machine, is gone. */
export function removeStaleBeside(target: string): void {
  const folder = dirname(target);
  const begin = `.${basename(target)}.`;
  for (const name of namesIn(folder)) {
    if (!name.startsWith(begin)) continue;
    const pid = /^(\d{1,10})\.[0-9a-f]{8}\.tmp$/.exec(name.slice(begin.length))?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    rmSync(join(folder, name), { force: true });
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // whoever writes there will say what is wrong with it
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and another user's.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
