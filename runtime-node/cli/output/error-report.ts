import { type ErrorContext, Os2gError } from '../../errors.js';
import { printable, printableLines } from './printable.js';

/** What is shown of a failure, in words and as the document `os2g.error/1`. */
export interface ErrorReport {
  readonly document: Record<string, unknown>;
  readonly text: string;
  readonly exitCode: 1 | 2;
}

const SHOWN: readonly (readonly [keyof ErrorContext, string])[] = [
  ['key', 'key'],
  ['bucket', 'bucket'],
  ['row', 'row'],
  ['file', 'file'],
  ['attempts', 'attempts'],
  ['status', 'HTTP status'],
  ['s3Code', 'S3 code'],
  ['requestId', 'request id'],
  ['bodyStart', 'body begins'],
];

/** Anything that was thrown as an Os2gError: what is none is a defect of ours. */
export function asOs2gError(thrown: unknown): Os2gError {
  if (thrown instanceof Os2gError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new Os2gError(
    'internal',
    `unexpected: ${message}`,
    'this is a defect of os2g: run again with --debug and report what it prints',
    { cause: thrown },
  );
}

export function errorReport(thrown: unknown, debug: boolean): ErrorReport {
  const error = asOs2gError(thrown);
  const told = error.told('command');
  const lines = [`error: ${printable(told.message)}`];
  for (const [field, title] of SHOWN) {
    const value = error.context[field];
    if (value !== undefined && !told.message.includes(String(value)))
      lines.push(`  ${title}: ${printable(String(value))}`);
  }
  lines.push(`  to mend it: ${printable(told.mend)}`);
  if (debug) lines.push(printableLines(stackOf(error)));
  return {
    document: { schema: 'os2g.error/1', error: told },
    text: lines.join('\n'),
    exitCode: error.exitCode,
  };
}

function stackOf(error: Error): string {
  const own = error.stack ?? String(error);
  return error.cause instanceof Error ? `${own}\ncaused by: ${stackOf(error.cause)}` : own;
}
