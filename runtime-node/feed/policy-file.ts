import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { ConfigError } from '../errors.js';
import type { PolicySpec } from '../policy/resolve.js';

const policyFileSchema = z.strictObject({
  schema: z.literal('os2g.policy/1'),
  preset: z.string().optional(),
  set: z.record(z.string(), z.unknown()).optional(),
});

/**
 * A policy file (`os2g.policy/1`); its settings are checked by `resolvePolicy`.
 * @throws ConfigError `bad_policy`
 */
export async function readPolicyFile(path: string): Promise<PolicySpec> {
  if (path.endsWith('.wasm')) throw badPolicy(path, 'policies in Wasm are not supported by this build');
  let document: unknown;
  try {
    document = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    throw badPolicy(path, (cause as Error).message, cause);
  }
  const parsed = policyFileSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw badPolicy(path, `${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'is not valid'}`);
}

function badPolicy(file: string, what: string, cause?: unknown): ConfigError {
  return new ConfigError(
    'bad_policy',
    `the policy file ${file} cannot be used: ${what}`,
    'name a preset or a file with schema os2g.policy/1',
    {
      option: 'policy',
      file,
      cause,
    },
  );
}
