import { API_CODES, CONFIG_CODES, type ErrorMeaning, FAILURE_CODES } from '../error-table.js';
import { markdownTable } from './output/table.js';

function codeRows(codes: Readonly<Record<string, ErrorMeaning>>, withRetries: boolean): string {
  const head = ['code', 'what', 'what to do', ...(withRetries ? ['tried again'] : [])];
  const rows = Object.entries(codes).map(([code, { what, mend, retried }]) => [
    `\`${code}\``,
    what,
    mend,
    ...(withRetries ? [retried] : []),
  ]);
  return markdownTable([head, ...rows]);
}

/** docs/errors.md. */
export function errorsMarkdown(): string {
  return `# Errors

<!-- Made from runtime-node/error-table.ts by \`node scripts/docs.js\`; do not edit. -->

Every error says what happened and where, and what to do: \`error: …\`, \`to mend it: …\` on standard error; with \`--json\` also
\`{"schema":"os2g.error/1","error":{"code","message","mend","key","bucket","row","option","file","attempts","status","s3Code","requestId",
"bodyStart"}}\` (what applies) on standard output: key and row of the sample, attempts made, HTTP status, the store's own code and request id, and the first bytes of a
body that was not what was asked for. In code it is an \`Os2gError\` with the same fields. \`--debug\` adds the stack trace. A feed that fails or
is ended by a signal has \`error.cursor\` too, where it goes on; one that a signal ended also its result so far as \`result\`. The codes are stable. Secret keys, session tokens and the passwords of proxies are in none of it.

\`os2g doctor s3://bucket/prefix\` tries each step of the way to a store and names the first that fails.

## Exit 2: the call or the configuration is wrong, nothing was started

${codeRows(CONFIG_CODES, false)}

## Exit 1: the work failed

${codeRows(FAILURE_CODES, true)}

"\`retry.attempts\`" is of reads of objects, first attempt included, within \`retry.budget\`: [settings.md](settings.md). Calls that list or ask for a head are tried five times, three
times where the store is silent.

A store that refuses (\`throttled\`) does not end a run while it serves anybody: 503s count against \`retry.attempts\` only in a row, with no answer to any request in
between, and after 20 usual gaps between answers (at most two minutes); one part that was refused ten times \`retry.attempts\` fails all the same.

## Thrown by the API only

${codeRows(API_CODES, false)}
`;
}
