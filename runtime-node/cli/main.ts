import type { CommandSpec } from './command.js';
import { COMMANDS } from './commands.js';
import { run } from './run.js';

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;
/** An interrupted call that does not come to its end in this time is ended. */
const PATIENCE_MS = 8_000;
/** Something left open must not keep the process after its work is told. */
const GOODBYE_MS = 2_000;

/** Entry of the command: process, signals and streams; everything else is in `run`. */
export async function main(commands: readonly CommandSpec[] = COMMANDS): Promise<void> {
  const controller = new AbortController();
  let interruptedBy: 'SIGINT' | 'SIGTERM' | null = null;
  const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (interruptedBy) process.exit(SIGNAL_EXIT[signal]);
    interruptedBy = signal;
    controller.abort(signal);
    setTimeout(() => process.exit(SIGNAL_EXIT[signal]), PATIENCE_MS).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  watchStreams();
  const { env, stdout, stderr } = process;
  const code = await run(process.argv.slice(2), commands, {
    env,
    stdout,
    stderr,
    signal: controller.signal,
    interruptedBy: () => interruptedBy,
  });
  process.exitCode = process.exitCode ?? code;
  const end = (): void => {
    setTimeout(() => process.exit(), GOODBYE_MS).unref();
  };
  // The text must be out before the process may be ended: a pipe takes its time.
  if (stdout.destroyed) end();
  else stdout.write('', end);
}

/** A reader that went away (`os2g ... | head`) is no failure of ours; a full disk is. */
function watchStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.exitCode = 1;
    process.stderr.write(
      `error: standard output cannot be written: ${error.message}\n  to mend it: make room\n`,
    );
  });
  process.stderr.on('error', () => {});
}
