import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('./entry.js', import.meta.url));
/** `stuck`: a command that does not hear signals. */
export const STUCK_ENTRY = fileURLToPath(new URL('./stuck-entry.js', import.meta.url));

const HANG_MS = 90_000;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A call of `os2g` as a process, with nothing of AWS or OS2G in its environment but what is given. */
export class Call {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';

  constructor(
    argv: readonly string[],
    env: Record<string, string> = {},
    entry = ENTRY,
    before: readonly string[] = [],
  ) {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(AWS|OS2G)_/.test(name) || name === 'OS2G_CORE' || name === 'OS2G_PYTHON',
    );
    const [command = process.execPath, ...words] = [...before, process.execPath, entry, ...argv];
    this.child = spawn(command, words, {
      env: { ...Object.fromEntries(inherited), AWS_EC2_METADATA_DISABLED: 'true', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // A call that hangs fails its test, with what it had printed, and not the whole file.
    const guard = setTimeout(() => this.child.kill('SIGKILL'), HANG_MS);
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (code, signal) => {
        clearTimeout(guard);
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** A call through bash: the words of the call are `$@` of the script. */
  static ofShell(script: string, argv: readonly string[], env: Record<string, string> = {}): Call {
    return new Call(argv, env, ENTRY, ['bash', '-c', script, 'bash']);
  }

  /** Resolves as soon as `holds` is true, or the process has ended. */
  async until(holds: () => boolean): Promise<void> {
    let ended = false;
    void this.ended.then(() => {
      ended = true;
    });
    while (!holds() && !ended) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function os2g(argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Call(argv, env).ended;
}
