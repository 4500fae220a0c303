import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { Core, corePath } from '../../core.js';
import { Os2gError } from '../../errors.js';
import { readTrace, replayTrace } from '../../feed/replay.js';
import type { CommandContext } from '../command.js';
import { type ChildEnd, runChild } from './child.js';
import { findWasmtime, noWasmtime, wasmtimeCall } from './wasmtime.js';

export type Host = 'node' | 'wasi' | 'wasmtime';

const outcomeSchema = z.object({
  run_hash: z.string().regex(/^[0-9a-f]{16}$/),
  recorded_run_hash: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .nullable(),
  match: z.boolean(),
  events: z.int().min(0),
  steps: z.int().min(0),
  truncated: z.boolean(),
});

/** What a replay came to; the same in every host. */
export type ReplayOutcome = z.infer<typeof outcomeSchema>;

/** Runs a trace through the core. @throws ConfigError for a file that is no trace, or a host that is not there. */
export async function replay(trace: string, host: Host, context: CommandContext): Promise<ReplayOutcome> {
  // Also where another host runs it: what is wrong with the file is told by one reader.
  const opened = readTrace(trace);
  if (host === 'node') return replayTrace(await Core.load(), opened);
  for (const _step of opened.steps()) break;
  return host === 'wasi' ? underWasi(trace, context) : underWasmtime(trace, context);
}

async function underWasi(trace: string, { signal }: CommandContext): Promise<ReplayOutcome> {
  const script = fileURLToPath(new URL('./wasi-child.js', import.meta.url));
  const args = ['--no-warnings', script, corePath('wasi')];
  return outcomeOf(await runChild(process.execPath, args, { stdinFile: trace, signal }), 'node:wasi');
}

async function underWasmtime(trace: string, { env, signal }: CommandContext): Promise<ReplayOutcome> {
  const found = await findWasmtime(env);
  if (!found) throw noWasmtime();
  const { command, args, stdin } = wasmtimeCall(found, corePath('wasi'), trace);
  return outcomeOf(
    await runChild(command, args, { ...(stdin ? { stdinFile: trace } : {}), signal }),
    'wasmtime',
  );
}

/** The one JSON line that the module prints. */
function outcomeOf(end: ChildEnd, host: string): ReplayOutcome {
  const failed = (what: string): Os2gError =>
    new Os2gError('replay_failed', `the replay under ${host} ${what}`, 'try --host node, which says more', {
      bodyStart: (end.stderr || end.stdout).slice(0, 200),
    });
  if (end.code !== 0)
    throw failed(`ended with ${end.code === null ? 'no exit code' : `exit code ${end.code}`}`);
  let line: unknown;
  try {
    line = JSON.parse(end.stdout);
  } catch {
    throw failed('did not print one JSON document');
  }
  const parsed = outcomeSchema.safeParse(line);
  if (!parsed.success)
    throw failed(`printed a document that is not a result: ${parsed.error.issues[0]?.message}`);
  return parsed.data;
}
