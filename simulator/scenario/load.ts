import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { fileProblem } from '../../runtime-node/file-problem.js';
import { readable } from '../../runtime-node/input-file.js';
import { resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { DEFAULT_PROFILE, profileNamed } from '../profiles/index.js';
import { notesOf, type ParameterNote, type Profile, valuesOf } from '../profiles/parameter.js';
import { badScenario, checkPolicy, checkTogether } from './check.js';
import { JOB_DEFAULTS } from './defaults.js';
import { repeatedKey } from './repeated-key.js';
import { scenarioInput } from './schema.js';
import type { PipelineName, Scenario } from './types.js';

export interface LoadOptions {
  /** Instead of the profile that the scenario names. */
  profile?: string;
  /** Name of the file in messages, where the scenario is given as an object. */
  file?: string;
}

/** A scenario, whole and checked. */
export interface LoadedScenario {
  /** Where it is from, for messages; undefined where it was given as an object. */
  readonly file?: string;
  readonly scenario: Scenario;
  /** Of the file's bytes, in hex; of an object: of its JSON. */
  readonly sha256: string;
  /** Every parameter of machine, store and clients with its basis and source. */
  readonly parameters: readonly ParameterNote[];
}

/**
 * Reads a scenario (`os2g.scenario/1`) from a file or an object; what is missing comes from the profile.
 * @throws ConfigError `bad_scenario` that names the file and the field
 */
export function loadScenario(source: string | object, options: LoadOptions = {}): LoadedScenario {
  const file = typeof source === 'string' ? source : options.file;
  const bytes = typeof source === 'string' ? readFile(source) : Buffer.from(JSON.stringify(source));
  const document = typeof source === 'string' ? parseJson(bytes, source) : source;
  const parsed = scenarioInput.safeParse(document);
  if (!parsed.success) throw refusal(parsed.error.issues[0]!, file);
  const input = parsed.data;
  const profile = profileNamed(options.profile ?? input.profile ?? DEFAULT_PROFILE, file);
  const base = merge(JOB_DEFAULTS, valuesOf(profile.parts));
  const scenario = { ...merge(base, input), profile: profile.name } as unknown as Scenario;
  checkPolicy(scenario, file);
  checkTogether(scenario, file);
  return {
    file,
    scenario,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    parameters: parametersOf(profile, input),
  };
}

/** What a call may change of a loaded scenario. */
export interface Overrides {
  pipelines?: readonly PipelineName[];
  /** Replaces the scenario's policy. */
  policy?: { preset?: string; set?: Record<string, unknown> };
  /** Settings on top of the policy. */
  set?: Record<string, unknown>;
  nodes?: number;
  seed?: number;
}

/**
 * A scenario with some of its parts changed, checked again.
 * @param file for messages
 * @throws ConfigError
 */
export function overrideScenario(scenario: Scenario, overrides: Overrides, file?: string): Scenario {
  const policy = overrides.policy
    ? { preset: overrides.policy.preset ?? scenario.policy.preset, set: overrides.policy.set ?? {} }
    : scenario.policy;
  const changed = {
    ...scenario,
    policy: { preset: policy.preset, set: { ...policy.set, ...overrides.set } },
    pipelines: overrides.pipelines ? [...overrides.pipelines] : scenario.pipelines,
    nodes: overrides.nodes ?? scenario.nodes,
    seed: overrides.seed ?? scenario.seed,
  };
  const { pipelines, nodes, seed } = changed;
  const parsed = scenarioInput.safeParse({ schema: 'os2g.scenario/1', pipelines, nodes, seed });
  if (!parsed.success) throw refusal(parsed.error.issues[0]!, undefined);
  checkTogether(changed, file);
  resolvePolicy(changed.policy);
  return changed;
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(readable(path));
  } catch (cause) {
    throw badScenario(
      path,
      '',
      `cannot be read: ${fileProblem(cause)}`,
      'name a scenario file (os2g.scenario/1)',
      cause,
    );
  }
}

function parseJson(bytes: Buffer, file: string): unknown {
  const text = bytes.toString('utf8');
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw badScenario(
      file,
      '',
      `is not JSON: ${(cause as Error).message}`,
      'write plain JSON, without comments',
      cause,
    );
  }
  const field = repeatedKey(text);
  if (field === null) return document;
  throw badScenario(file, field, 'is there twice', 'leave one of them');
}

/** Objects merge field by field; anything else, distributions and lists too, replaces what was there. */
function merge(base: object, over: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const before = merged[name];
    merged[name] = isPart(before) && isPart(value) && name !== 'set' ? merge(before, value) : value;
  }
  return merged;
}

/** An object of fields; one with a `kind` is one value. */
function isPart(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !('kind' in value);
}

function parametersOf(profile: Profile, input: object): ParameterNote[] {
  return notesOf(profile.parts).map((note) => {
    let given: unknown = input;
    for (const name of note.path.split('.')) given = (given as Record<string, unknown> | undefined)?.[name];
    if (given === undefined) return note;
    return { path: note.path, value: given, basis: 'scenario', source: 'the scenario file' };
  });
}

function refusal(issue: z.core.$ZodIssue, file: string | undefined) {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const field = path === '' ? issue.keys[0]! : `${path}.${issue.keys[0]}`;
    return badScenario(
      file,
      field,
      'there is no such field',
      'correct or remove it: docs/scenario.md lists all fields',
    );
  }
  const message = issue.message.replace(/^Invalid input: /, '').replace(/^Invalid option: /, '');
  return badScenario(file, path, message, 'docs/scenario.md lists all fields with their units and ranges');
}
