import type { Cursor } from './feed/cursor.js';
import { commandName, type Teller, type Text, tell } from './wording.js';

/**
 * Every error that OS2G raises on purpose: a stable code, one sentence of what happened and where, and one of what
 * to do. Whatever else is thrown is a defect.
 */
export interface ErrorContext {
  /** Key of the object, byte-exact. */
  key?: string;
  /** Bucket of the object. */
  bucket?: string;
  /** Name of the option, setting or field that is wrong; of an option of `openFeed` the API's name. */
  option?: string;
  /** File, and line where known: `scenario.json:12`. */
  file?: string;
  /** Attempts made, the first one included. */
  attempts?: number;
  /** HTTP status of the last answer. */
  status?: number;
  /** The store's own error code, e.g. `SlowDown`. */
  s3Code?: string;
  /** The store's request id. */
  requestId?: string;
  /** First bytes of a body that was not what was asked for, printable. */
  bodyStart?: string;
  /** Row of the manifest. */
  row?: number;
  /** Of a feed that failed: where it goes on. */
  cursor?: Cursor;
  cause?: unknown;
}

/** How the process ends: 1 the work failed; 2 the call or the configuration is wrong and nothing was started. */
export type ExitCode = 1 | 2;

export class Os2gError extends Error {
  readonly code: string;
  readonly mend: string;
  readonly exitCode: ExitCode;
  readonly context: ErrorContext;
  readonly #message: Text;
  readonly #mend: Text;

  /** `message` and `mend` name options as the API does, where they are wordings; `told` has them for the command. */
  constructor(code: string, message: Text, mend: Text, context: ErrorContext = {}, exitCode: ExitCode = 1) {
    super(tell(message, 'api'), context.cause === undefined ? undefined : { cause: context.cause });
    this.name = new.target.name;
    this.code = code;
    this.mend = tell(mend, 'api');
    this.exitCode = exitCode;
    this.context = context;
    this.#message = message;
    this.#mend = mend;
  }

  /** What happened, as text that may stand in another error's. */
  get wording(): { readonly message: Text; readonly mend: Text } {
    return { message: this.#message, mend: this.#mend };
  }

  /** The document `os2g.error/1`, with the names of who tells it. */
  told(teller: Teller): { code: string; message: string; mend: string } & Omit<ErrorContext, 'cause'> {
    const { cause: _cause, ...context } = this.context;
    const { option } = context;
    const named = teller === 'api' || option === undefined ? {} : { option: commandName(option) };
    return {
      code: this.code,
      message: tell(this.#message, teller),
      mend: tell(this.#mend, teller),
      ...context,
      ...named,
    };
  }

  toJSON(): Record<string, unknown> {
    return this.told('api');
  }
}

/** The call or the configuration is wrong; nothing was started. */
export class ConfigError extends Os2gError {
  constructor(code: string, message: Text, mend: Text, context: ErrorContext = {}) {
    super(code, message, mend, context, 2);
  }
}

/** Reading from the store failed for good: retries, where they make sense, ran out. */
export class StoreError extends Os2gError {}

/** The work was ended by its user: an AbortSignal, SIGINT, SIGTERM. */
export class AbortedError extends Os2gError {
  constructor(
    reason?: unknown,
    message: Text = 'the work was aborted',
    mend: Text = 'start it again, a feed from its cursor',
  ) {
    super('aborted', message, mend, { cause: reason });
  }
}
