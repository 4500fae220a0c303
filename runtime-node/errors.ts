/**
 * Every error that OS2G raises on purpose: a stable code, one sentence of what happened and where, and one of what
 * to do. Whatever else is thrown is a defect.
 */
export interface ErrorContext {
  /** Key of the object, byte-exact. */
  key?: string;
  /** Bucket of the object. */
  bucket?: string;
  /** Name of the option, setting or field that is wrong. */
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
  cause?: unknown;
}

/** How the process ends: 1 the work failed; 2 the call or the configuration is wrong and nothing was started. */
export type ExitCode = 1 | 2;

export class Os2gError extends Error {
  readonly code: string;
  readonly mend: string;
  readonly exitCode: ExitCode;
  readonly context: ErrorContext;

  constructor(
    code: string,
    message: string,
    mend: string,
    context: ErrorContext = {},
    exitCode: ExitCode = 1,
  ) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.name = new.target.name;
    this.code = code;
    this.mend = mend;
    this.exitCode = exitCode;
    this.context = context;
  }

  /** The document that `--json` prints (`os2g.error/1`). */
  toJSON(): Record<string, unknown> {
    const { cause: _cause, ...context } = this.context;
    return { code: this.code, message: this.message, mend: this.mend, ...context };
  }
}

/** The call or the configuration is wrong; nothing was started. */
export class ConfigError extends Os2gError {
  constructor(code: string, message: string, mend: string, context: ErrorContext = {}) {
    super(code, message, mend, context, 2);
  }
}

/** Reading from the store failed for good: retries, where they make sense, ran out. */
export class StoreError extends Os2gError {}

/** The work was ended by its user: an AbortSignal, SIGINT, SIGTERM. */
export class AbortedError extends Os2gError {
  constructor(reason?: unknown) {
    super('aborted', 'the feed was aborted', 'resume from the cursor', { cause: reason });
  }
}
