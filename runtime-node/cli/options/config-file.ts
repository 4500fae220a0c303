import { readFileSync } from 'node:fs';
import { ConfigError } from '../../errors.js';
import { fileProblem } from '../../file-problem.js';
import { readable } from '../../input-file.js';

/**
 * A JSON object from a file that the caller named.
 * @throws ConfigError `bad_file` with the file, and the line where the text stops being JSON.
 */
export function readJsonObject(file: string, what: string): Record<string, unknown> {
  const text = readText(file, what);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const place = `${file}${lineOf(text, error)}`;
    throw new ConfigError(
      'bad_file',
      `${place}: the ${what} is not JSON (${(error as Error).message})`,
      'mend the file',
      {
        file: place,
        cause: error,
      },
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(
      'bad_file',
      `${file}: the ${what} is not a JSON object`,
      'write {"name": value, ...}',
      { file },
    );
  }
  return value as Record<string, unknown>;
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(readable(file), 'utf8');
  } catch (error) {
    throw new ConfigError(
      'bad_file',
      `${file}: the ${what} cannot be read: ${fileProblem(error)}`,
      'check the path',
      {
        file,
        cause: error,
      },
    );
  }
}

/** V8 names a character position in some messages only. */
function lineOf(text: string, error: unknown): string {
  const position = /position (\d+)/.exec((error as Error).message)?.[1];
  return position === undefined ? '' : `:${text.slice(0, Number(position)).split('\n').length}`;
}
