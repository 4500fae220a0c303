import { command } from '../command.js';
import type { Check } from '../doctor/check.js';
import { s3Options } from '../feed/feed-options.js';
import { S3_OPTIONS } from '../options/tables.js';
import { printable } from '../output/printable.js';
import { colorsFor } from '../output/terminal.js';

export const doctorCommand = command({
  name: 'doctor',
  summary: 'tell what works here and what does not, each with the reason and the mend',
  args: [
    {
      form: '[source]',
      meaning:
        's3://bucket/prefix that is to be read: every step of the way is tried; the two throughput steps read at most 64 MiB together, each for at most 2 s and 256 requests',
    },
  ],
  options: S3_OPTIONS,
  examples: ['os2g doctor', 'os2g doctor s3://bucket/train --endpoint http://127.0.0.1:8333'],
  async run([source], values, context) {
    const { examine } = await import('../doctor/examine.js');
    const checks = await examine(source, s3Options(values), context);
    const first = checks.find((check) => check.status === 'fail') ?? null;
    const document = {
      schema: 'os2g.doctor-result/1',
      ok: first === null,
      first_failure: first?.name ?? null,
      checks,
    };
    return { document, text: checksText(checks, context.env), exitCode: first === null ? 0 : 1 };
  },
});

export function checksText(
  checks: readonly Check[],
  env: Readonly<Record<string, string | undefined>>,
): string {
  const colors = colorsFor(process.stdout, env);
  const paint = {
    ok: colors.green,
    info: colors.cyan,
    warn: colors.yellow,
    fail: colors.red,
    skip: colors.dim,
  };
  const width = Math.max(...checks.map((check) => check.name.length));
  const first = checks.find((check) => check.status === 'fail');
  const last =
    first === undefined
      ? []
      : [
          '',
          `the first that fails: ${first.name}. ${printable(first.mend ?? '').replace(/^./, (letter) => letter.toUpperCase())}.`,
        ];
  const lines = checks.flatMap(({ name, status, detail, mend }) => [
    `${paint[status](status.padEnd(4))}  ${name.padEnd(width)}  ${printable(detail)}`,
    ...(mend === null ? [] : [`${' '.repeat(width + 8)}to mend it: ${printable(mend)}`]),
  ]);
  return [...lines, ...last].join('\n');
}
