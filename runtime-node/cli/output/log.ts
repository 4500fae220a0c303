import { pino } from 'pino';
import { printable } from './printable.js';
import type { Colors } from './terminal.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
export type Logger = ReturnType<typeof createLogger>;

const SECRETS = [
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
  'authorization',
  'Authorization',
  'credentials',
];

/** One logger for the process. Fields that hold credentials are never written, whoever logs them. */
export function createLogger(options: {
  level: LogLevel;
  format: 'text' | 'json';
  colors: Colors;
  /** Takes one line without its end. */
  write: (line: string) => void;
}) {
  const { level, format, colors, write } = options;
  const stream = {
    write: (line: string): void => write(format === 'json' ? line.trimEnd() : plainLine(line, colors)),
  };
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    },
    stream,
  );
}

/** `12:00:01 warn  message field=value`; at level info the message alone, which says it all. */
function plainLine(line: string, colors: Colors): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const word = String(level).padEnd(5);
  const paint = level === 'error' ? colors.red : level === 'warn' ? colors.yellow : colors.dim;
  const shown = level === 'info' ? [] : Object.entries(fields);
  const rest = shown.map(([name, value]) =>
    printable(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  );
  return [colors.dim(String(time).slice(11, 19)), paint(word), printable(String(msg ?? '')), ...rest]
    .join(' ')
    .trimEnd();
}
