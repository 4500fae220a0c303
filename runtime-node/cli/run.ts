import { AbortedError } from '../errors.js';
import type { CommandResult, CommandSpec, Stopped } from './command.js';
import { formOf, type OutputForm } from './options/form.js';
import { gatherLayers, type Layers, resolveOptions } from './options/resolve.js';
import { COMMON_OPTIONS } from './options/tables.js';
import { errorReport } from './output/error-report.js';
import { createLogger } from './output/log.js';
import { StandardError } from './output/progress.js';
import { colorsFor, type Sink } from './output/terminal.js';
import { parseCommandLine } from './program.js';

/** The process as a call sees it. */
export interface Process {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly signal: AbortSignal;
  /** The signal that interrupted the call, if one did. */
  interruptedBy(): 'SIGINT' | 'SIGTERM' | null;
}

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * One call of `os2g`, from its words to its exit code: 0 done, 1 the work failed, 2 the call is wrong and nothing was
 * started, 130 and 143 interrupted.
 */
export async function run(
  argv: readonly string[],
  commands: readonly CommandSpec[],
  process: Process,
): Promise<number> {
  let layers: Layers | null = null;
  try {
    const parsed = parseCommandLine(argv, commands, COMMON_OPTIONS);
    if (parsed.kind === 'text') {
      process.stdout.write(parsed.text);
      return 0;
    }
    layers = gatherLayers(parsed.flags, process.env);
    const options = resolveOptions({ ...COMMON_OPTIONS, ...parsed.spec.options }, layers);
    const colors = colorsFor(process.stderr, process.env);
    const stderr = new StandardError(process.stderr, options.progress, colors);
    const write = (line: string): void => stderr.line(line);
    const log = createLogger({ level: options.logLevel, format: options.logFormat, colors, write });
    const context = { env: process.env, signal: process.signal, log, stderr, json: options.json };
    const result = await parsed.spec.run(parsed.args, options, context);
    const { stopped } = result;
    if (stopped) return printStopped(result, stopped, options, process);
    const interrupted = process.interruptedBy();
    if (interrupted) throw interruption(interrupted);
    printResult(result, options.json, process.stdout);
    return result.exitCode ?? 0;
  } catch (thrown) {
    return printError(thrown, formOf(layers, argv, process.env), process);
  }
}

function printResult({ document, text }: CommandResult, json: boolean, stdout: Sink): void {
  const shown = json ? JSON.stringify(document) : text;
  if (shown !== '') stdout.write(`${shown}\n`);
}

/** How far the work came, and that it did not come to its end. With `--json` it is still one document. */
function printStopped(
  { document, text }: CommandResult,
  { error, fields }: Stopped,
  form: OutputForm,
  process: Process,
): number {
  if (!form.json) process.stdout.write(`${text}\n`);
  return printError(error, form, process, (report) => ({
    ...report,
    error: { ...(report.error as object), ...fields },
    result: document,
  }));
}

function printError(
  thrown: unknown,
  { json, debug, logFormat }: OutputForm,
  process: Process,
  complete: (document: Record<string, unknown>) => Record<string, unknown> = (document) => document,
): number {
  const interrupted = process.interruptedBy();
  const error = interrupted && !(thrown instanceof AbortedError) ? interruption(thrown) : thrown;
  const report = errorReport(error, debug);
  if (json) process.stdout.write(`${JSON.stringify(complete(report.document))}\n`);
  const line =
    logFormat === 'json'
      ? JSON.stringify({ level: 'error', time: new Date().toISOString(), ...report.document })
      : report.text;
  process.stderr.write(`${line}\n`);
  return interrupted ? SIGNAL_EXIT[interrupted] : report.exitCode;
}

function interruption(cause: unknown): AbortedError {
  return new AbortedError(cause, 'interrupted before the end', 'run it again');
}
