import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { ConfigError } from '../../errors.js';
import { fileProblem } from '../../file-problem.js';

const KEPT_STDERR = 4_000;

/** How a process ended and what it said. `missing`: there is no such command. */
export interface ChildEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly missing: boolean;
}

/** Runs a process with a file (or nothing) as its standard input; ends it when the signal says so. */
export function runChild(
  command: string,
  args: readonly string[],
  { stdinFile, signal }: { stdinFile?: string; signal?: AbortSignal } = {},
): Promise<ChildEnd> {
  const input = stdinFile === undefined ? null : openInput(stdinFile);
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: [input ?? 'ignore', 'pipe', 'pipe'], signal });
    if (input !== null) closeSync(input);
    let [stdout, stderr] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-KEPT_STDERR);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      resolve({ code: null, stdout, stderr: stderr || error.message, missing: error.code === 'ENOENT' });
    });
    child.on('close', (code) => resolve({ code, stdout, stderr, missing: false }));
  });
}

function openInput(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (cause) {
    throw new ConfigError('bad_file', `${file} cannot be read: ${fileProblem(cause)}`, 'check the path', {
      file,
      cause,
    });
  }
}
