import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = /^os2g-integration-(\d+)-/;

/** A new temporary folder. Those of test processes that were killed before they could remove theirs go now. */
export function makeScratch(): string {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) removeScratch(join(tmpdir(), name));
  }
  return mkdtempSync(join(tmpdir(), `os2g-integration-${process.pid}-`));
}

/** Removes a folder, also one that a process just ended was still writing to. */
export function removeScratch(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
