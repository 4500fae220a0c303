import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** The first thing that is wrong with a document, by its field: `order.tail is "wrap", and must be one of "drop", "pad"`. */
export function schemaProblem(document: unknown, error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'it is not valid';
  if (issue.code === 'unrecognized_keys') {
    const place = issue.path.length === 0 ? 'it' : pathText(issue.path);
    return `${place} has the field ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}, which is none of its fields`;
  }
  const name = issue.path.length === 0 ? 'it' : pathText(issue.path);
  return `${name} ${found(valueAt(document, issue.path))}, and must be ${wanted(issue)}`;
}

function wanted(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_value': {
      const words = issue.values.map((value) => JSON.stringify(value));
      return words.length === 1 ? `${words[0]}` : `one of ${words.join(', ')}`;
    }
    case 'invalid_type':
      return TYPES[issue.expected] ?? `a ${issue.expected}`;
    case 'too_small':
      return `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'invalid_format':
      return issue.pattern === undefined ? `a ${issue.format}` : `text like ${issue.pattern}`;
    default:
      return `another value: ${issue.message}`;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
};

const LONGEST_SHOWN = 60;

function found(value: unknown): string {
  if (value === undefined) return 'is not given';
  const text = JSON.stringify(value) ?? String(value);
  return `is ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text}`;
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  let value = document;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map(String).join('.');
}
