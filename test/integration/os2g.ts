import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../runtime-node/package-root.js';

const COMMAND = join(packageRoot, 'bin', 'os2g.js');
/** Longest time that a call may take; one that takes longer hangs. */
const LIMIT_MS = 240_000;
const POLL_MS = 1;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Calls that run; ended at the latest with this process. */
const running = new Set<ChildProcess>();
process.on('exit', () => killCalls());

/** Ends every call that a test left running. */
export function killCalls(): void {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
}

/** The environment of a call: this process's own without its AWS and OS2G variables, and without the user's AWS files. */
function environment(given: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(AWS|OS2G)_/.test(name) || name === 'OS2G_PYTHON',
  );
  return {
    ...Object.fromEntries(kept),
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    ...given,
  };
}

/** `node bin/os2g.js`, as a user starts it. */
export class Os2g {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #hasEnded = false;
  #text = { stdout: '', stderr: '' };

  constructor(argv: readonly string[], env: Readonly<Record<string, string>>) {
    const child = spawn(process.execPath, [COMMAND, ...argv], {
      env: environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    running.add(child);
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        this.#text[stream] += text;
      });
    }
    this.ended = new Promise((resolve, reject) => {
      const limit = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`os2g ${argv.join(' ')} did not end in ${LIMIT_MS / 1000} s\n${this.#text.stderr}`));
      }, LIMIT_MS);
      child.once('error', reject);
      child.once('close', (code, signal) => {
        clearTimeout(limit);
        running.delete(child);
        this.#hasEnded = true;
        resolve({ code, signal, ...this.#text });
      });
    });
    // A call that is killed while nobody awaits it must not end the test by itself.
    this.ended.catch(() => {});
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves as soon as `holds` is true, or the call has ended. */
  async until(holds: () => boolean): Promise<void> {
    while (!this.#hasEnded && !holds()) await sleep(POLL_MS);
  }
}
