import type { CommandSpec } from '../../../runtime-node/cli/command.js';
import { COMMANDS } from '../../../runtime-node/cli/commands.js';
import { run } from '../../../runtime-node/cli/run.js';

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** One call without a process: what it prints and its exit code. */
export async function call(
  argv: readonly string[],
  { env = {}, commands = COMMANDS }: { env?: Record<string, string>; commands?: readonly CommandSpec[] } = {},
): Promise<Outcome> {
  const out = { stdout: '', stderr: '' };
  const code = await run(argv, commands, {
    env,
    stdout: { write: (text) => (out.stdout += text) },
    stderr: { write: (text) => (out.stderr += text) },
    signal: new AbortController().signal,
    interruptedBy: () => null,
  });
  return { code, ...out };
}
