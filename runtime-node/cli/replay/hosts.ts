import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { Core, corePath } from '../../core.js';
import { Os2gError } from '../../errors.js';
import { checkTrace, readTrace, replayTrace } from '../../feed/replay.js';
import { schemaProblem } from '../../schema-problem.js';
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
  first_difference: z.int().min(0).nullable(),
});

type HostOutcome = z.infer<typeof outcomeSchema>;

/** What a replay came to, and which binaries it is about. */
export interface ReplayOutcome extends HostOutcome {
  /** SHA-256 of the binary that ran. */
  readonly core_sha256: string;
  /** SHA-256 of the binary that recorded the trace. */
  readonly recorded_core_sha256: string;
}

/**
 * Runs a trace through the core: in every host through the same binary, the WASI build. (`OS2G_CORE` names another one, for the
 * host `node` only: the others need WASI.)
 * @throws ConfigError for a file that is no trace, or a host that is not there.
 */
export async function replay(trace: string, host: Host, context: CommandContext): Promise<ReplayOutcome> {
  // Also where another host runs it: what is wrong with the file is told by one reader.
  const opened = readTrace(trace);
  const recorded_core_sha256 = opened.header.coreSha256;
  const core = await Core.load(host === 'node' && context.env.OS2G_CORE ? undefined : 'wasi');
  const run = (): HostOutcome | Promise<HostOutcome> => {
    if (host === 'node') return replayTrace(core, opened);
    checkTrace(core, opened);
    return host === 'wasi' ? underWasi(trace, context) : underWasmtime(trace, context);
  };
  return { ...(await run()), core_sha256: core.sha256, recorded_core_sha256 };
}

async function underWasi(trace: string, { signal }: CommandContext): Promise<HostOutcome> {
  const script = fileURLToPath(new URL('./wasi-child.js', import.meta.url));
  const args = ['--no-warnings', script, corePath('wasi')];
  return outcomeOf(await runChild(process.execPath, args, { stdinFile: trace, signal }), 'node:wasi');
}

async function underWasmtime(trace: string, { env, signal }: CommandContext): Promise<HostOutcome> {
  const found = await findWasmtime(env);
  if (!found) throw noWasmtime();
  const { command, args, stdin } = wasmtimeCall(found, corePath('wasi'), trace);
  return outcomeOf(
    await runChild(command, args, { ...(stdin ? { stdinFile: trace } : {}), signal }),
    'wasmtime',
  );
}

/** The one JSON line that the module prints. */
function outcomeOf(end: ChildEnd, host: string): HostOutcome {
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
    throw failed(`printed a document that is not a result: ${schemaProblem(line, parsed.error)}`);
  return parsed.data;
}
