import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { readable } from '../input-file.js';
import { type PolicySpec, resolvePolicy } from '../policy/resolve.js';
import { schemaProblem } from '../schema-problem.js';

const policyFileSchema = z.strictObject({
  schema: z.literal('os2g.policy/1'),
  preset: z.string().optional(),
  set: z.record(z.string(), z.unknown()).optional(),
});

/** Whether a policy is named by its file: a preset's name has neither dot nor slash. */
export function isPolicyFile(policy: string): boolean {
  return /[./\\]/.test(policy);
}

/**
 * A policy file (`os2g.policy/1`), its preset and settings checked.
 * @throws ConfigError `bad_policy`; `bad_option` for a preset or a setting, with the file
 */
export async function readPolicyFile(path: string): Promise<PolicySpec> {
  if (path.endsWith('.wasm')) throw badPolicy(path, 'policies in Wasm are not supported by this build');
  const document = fromJson(await readText(path), path);
  const parsed = policyFileSchema.safeParse(document);
  if (!parsed.success) throw badPolicy(path, schemaProblem(document, parsed.error));
  try {
    resolvePolicy(parsed.data);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.code, `the policy file ${path}: ${error.message}`, error.mend, {
      ...error.context,
      file: path,
    });
  }
  return parsed.data;
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(readable(path), 'utf8');
  } catch (cause) {
    throw badPolicy(path, fileProblem(cause), cause);
  }
}

function fromJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badPolicy(path, `it is not JSON: ${(cause as Error).message}`, cause);
  }
}

function badPolicy(file: string, what: string, cause?: unknown): ConfigError {
  return new ConfigError(
    'bad_policy',
    `the policy file ${file} cannot be used: ${what}`,
    'name a preset, or a file such as {"schema":"os2g.policy/1","preset":"os2g","set":{"window.bytes":"64MiB"}}',
    { option: 'policy', file, cause },
  );
}
