import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ToolOutput {
  stdout: string;
  stderr: string;
}

/**
 * Runs a program to its end.
 * @throws Error with what it wrote, where it is not there, fails, or takes longer than `limitS`
 */
export async function runTool(
  command: string,
  args: readonly string[],
  options: SpawnOptions & { limitS?: number } = {},
): Promise<ToolOutput> {
  const { limitS = 300, ...rest } = options;
  const child = spawn(command, args, {
    ...rest,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitS * 1000,
  });
  const output: ToolOutput = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code === 0) return output;
  throw new Error(`${command} ended with ${signal ?? code}: ${(output.stderr || output.stdout).trim()}`);
}

/** Whether a program can be started. */
export async function hasTool(command: string): Promise<boolean> {
  const child = spawn('sh', ['-c', 'command -v "$1" >/dev/null', 'sh', command], { stdio: 'ignore' });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}
