import type { AbortedError } from '../errors.js';
import type { OptionTable, OptionValues } from './options/spec.js';
import type { Logger } from './output/log.js';
import type { StandardError } from './output/progress.js';

/** What a command gets beside its options. */
export interface CommandContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly stderr: StandardError;
  /** True where only the document is wanted: no tables for people. */
  readonly json: boolean;
}

/** What a command came to: one document for `--json`, one text for people. Exit 1: done, but the answer is no. */
export interface CommandResult {
  readonly document: unknown;
  readonly text: string;
  readonly exitCode?: 0 | 1;
  /** What ended the work early, where a signal did: told after the rest, which is how far it came. */
  readonly stopped?: Stopped;
}

export interface Stopped {
  readonly error: AbortedError;
  /** Fields of the error's document beside the error's own. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface CommandSpec<S extends OptionTable = OptionTable> {
  readonly name: string;
  readonly summary: string;
  /** Positional arguments: `<trace>` must be given, `[source]` may, `[names...]` may be several. */
  readonly args: readonly { readonly form: string; readonly meaning: string }[];
  readonly options: S;
  readonly examples: readonly string[];
  run(
    args: readonly (string | undefined)[],
    options: OptionValues<S>,
    context: CommandContext,
  ): Promise<CommandResult>;
}

/** Keeps the option types of a command between its table and its `run`. */
export function command<const S extends OptionTable>(spec: CommandSpec<S>): CommandSpec {
  return spec as unknown as CommandSpec;
}
