import type { Clock } from '../clock.js';
import type { CoreBuild } from '../core.js';
import type { GetEngine } from '../engine/engine.js';
import { ConfigError } from '../errors.js';
import {
  chooseLanding,
  DIRECT_MODES,
  type DirectMode,
  type LandingChoice,
  type LandingName,
  oneOf,
} from '../landing/choose.js';
import type { Manifest } from '../manifest/manifest.js';
import { didYouMean } from '../nearest.js';
import {
  DEFAULT_MAX_SKIPS,
  DEFAULT_MEMORY_BYTES,
  type JobSpec,
  jobConfig,
  type OnError,
  type Shuffle,
  shown,
  type Tail,
} from '../policy/job.js';
import { type Policy, type PolicySpec, resolvePolicy } from '../policy/resolve.js';
import type { S3Options } from '../s3/location.js';
import { option, words } from '../wording.js';
import type { Cursor } from './cursor.js';
import { isPolicyFile, readPolicyFile } from './policy-file.js';
import type { Timers } from './timers.js';

export const ENGINES = ['auto', 'portable', 'native'] as const;
export const VERIFIES = ['size', 'etag', 'checksum'] as const;
export type EngineName = (typeof ENGINES)[number];
export type Verify = (typeof VERIFIES)[number];

/** The part of a pino logger that a feed uses. */
export interface FeedLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Everything that `openFeed` takes. What is not given has the default in brackets. */
export interface FeedOptions {
  /** The data set: a manifest, or the path of one. Either this or `source`. */
  manifest?: string | Manifest;
  /** `s3://bucket/prefix`: its objects, listed at the start, one sample each. */
  source?: string;
  /** Bucket of the manifest's keys; needed where the manifest does not name one. */
  bucket?: string;
  /** How to reach the store; what is not given follows the AWS conventions. */
  s3?: S3Options;
  /** Samples of a batch, for each rank. Needed, except with `resume`: then the cursor's. */
  batchSamples?: number;
  /** Epochs of the whole run, also when it resumes (1; with `resume` the cursor's). */
  epochs?: number;
  /** 0 .. 2^64 - 1; a bigint above 2^53 - 1 (0; with `resume` the cursor's). */
  seed?: number | bigint;
  /** (`sample`; with `resume` the cursor's) */
  shuffle?: Shuffle;
  /** The last global batch of an epoch, when it is not full (`drop`; with `resume` the cursor's). */
  tail?: Tail;
  /** (0) */
  rank?: number;
  /** (1) */
  worldSize?: number;
  /** A preset's name, a policy, or the path of a policy file (`os2g`). */
  policy?: string | PolicySpec;
  /** Settings by name, over the policy's: `{'window.bytes': '64MiB'}`. */
  set?: Readonly<Record<string, unknown>>;
  /** Budget of landing and staging memory in bytes (512 MiB). */
  memoryBytes?: number;
  /** (`auto`) */
  landing?: LandingName;
  /** (`auto`) */
  direct?: DirectMode;
  /** A sample that cannot be read ends the feed, or is left out of its batch (`fail`). */
  onError?: OnError;
  /** Samples that `onError: 'skip'` may leave out, over all epochs of this feed (100; a sample counts each time that it fails). */
  maxSkips?: number;
  /** (`auto`) */
  engine?: EngineName;
  /** What each answer is checked against (`etag`). */
  verify?: Verify;
  /** Where to go on: a cursor, or the file that holds one. The file of `cursorOut` need not be there yet: then the run begins. */
  resume?: Cursor | string;
  /** File that is kept at the cursor; the cursor of another run in it is kept beside it, as `FILE.previous`. */
  cursorOut?: string;
  /** File for the event trace. */
  trace?: string;
  /** File for the audit. */
  audit?: string;
  /** Ends the feed: `next()` rejects with AbortedError and all sockets are closed. */
  signal?: AbortSignal;
  logger?: FeedLogger;
  clock?: Clock;
  /** Told of the listing's progress, with `source`. */
  onListed?: (objects: number) => void;
  /** For tests: parts to use in place of the real ones. */
  internal?: InternalParts;
}

export interface InternalParts {
  /** An engine, instead of one that reads from `s3`. */
  engine?: (clock: Clock) => GetEngine;
  timers?: Timers;
  core?: CoreBuild | Uint8Array;
}

const OPTIONS: Readonly<Record<keyof FeedOptions, true>> = {
  ...{ manifest: true, source: true, bucket: true, s3: true, batchSamples: true, epochs: true, seed: true },
  ...{ shuffle: true, tail: true, rank: true, worldSize: true, policy: true, set: true, memoryBytes: true },
  ...{ landing: true, direct: true, onError: true, maxSkips: true, engine: true, verify: true, resume: true },
  ...{ cursorOut: true, trace: true, audit: true, signal: true, logger: true, clock: true, onListed: true },
  internal: true,
};
const S3_OPTIONS: Readonly<Record<keyof S3Options, true>> = {
  ...{ endpoint: true, region: true, profile: true, anonymous: true, requesterPays: true, pathStyle: true },
  caBundle: true,
};
const POLICY_FIELDS: Readonly<Record<keyof PolicySpec, true>> = { preset: true, set: true };
const PATHS = ['cursorOut', 'trace', 'audit'] as const;

/** Options that need no data set to be checked, checked. */
export interface CheckedOptions {
  readonly policy: Policy;
  readonly landing: LandingChoice;
  readonly verify: Verify;
  readonly memoryBytes: number;
  /** Why this engine. */
  readonly engineReason: string;
}

/**
 * Refuses what is no option, before anything else is done: a misspelt one would be an option that is not given.
 * @throws ConfigError `bad_option` that names it, and what is near
 */
export function checkNames(options: unknown): asserts options is FeedOptions {
  const given = fieldsOf(options, 'openFeed');
  refuseUnknown(given, OPTIONS, '', 'docs/api.md lists the options');
  const { s3, policy } = given;
  if (s3 !== undefined)
    refuseUnknown(fieldsOf(s3, 's3'), S3_OPTIONS, 's3.', `s3 has ${Object.keys(S3_OPTIONS).join(', ')}`);
  if (policy !== undefined && typeof policy !== 'string')
    refuseUnknown(fieldsOf(policy, 'policy'), POLICY_FIELDS, 'policy.', 'a policy has preset and set');
  for (const name of PATHS) {
    const path = given[name];
    if (path === undefined || (typeof path === 'string' && path !== '' && !path.includes('\0'))) continue;
    const what = words`${option(name)}: ${shown(path)} is not the path of a file`;
    throw new ConfigError('bad_option', what, 'name a file', { option: name });
  }
}

function fieldsOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  const what = `${name}: ${shown(value)} is not an object with options`;
  throw new ConfigError('bad_option', what, 'give {name: value, ...}', { option: name });
}

function refuseUnknown(given: object, known: object, prefix: string, otherwise: string): void {
  const names = Object.keys(known).filter((name) => name !== 'internal');
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const what = `there is no option ${JSON.stringify(prefix + name)}`;
    throw new ConfigError('bad_option', what, didYouMean(name, names, otherwise), { option: prefix + name });
  }
}

/**
 * Checks every option before anything is started, read or listed.
 * @throws ConfigError that names the option and its range.
 */
export async function checkOptions(options: FeedOptions): Promise<CheckedOptions> {
  checkSource(options);
  const engine = oneOf(options.engine ?? 'auto', ENGINES, 'engine');
  if (engine === 'native') {
    throw new ConfigError(
      'engine_unavailable',
      'this build of os2g has no native engine',
      words`use ${option('engine', 'portable')} or auto`,
      { option: 'engine' },
    );
  }
  oneOf(options.direct ?? 'auto', DIRECT_MODES, 'direct');
  const landing = chooseLanding(options.landing, options.direct);
  const policy = resolvePolicy(await policySpec(options));
  // The number of rows is not known yet; everything else of the job is.
  jobConfig(jobSpec(options, 1), policy);
  return {
    policy,
    landing,
    verify: oneOf(options.verify ?? 'etag', VERIFIES, 'verify'),
    memoryBytes: options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
    engineReason: engine === 'portable' ? 'asked for' : 'this build has no native engine',
  };
}

/** The job as the core wants it, from options that a cursor has completed. */
export function jobSpec(options: FeedOptions, samples: number): JobSpec {
  const { batchSamples, worldSize, rank, epochs, seed, shuffle, tail, memoryBytes, onError } = options;
  if (batchSamples === undefined) {
    throw new ConfigError(
      'bad_option',
      words`${option('batchSamples')} is not given`,
      'give the samples of a batch for each rank, from 1 on',
      { option: 'batchSamples' },
    );
  }
  return {
    samples,
    batchSamples,
    worldSize,
    rank,
    epochs,
    seed,
    shuffle,
    tail,
    memoryBytes,
    onError,
    maxSkips: maxSkipsOf(options),
  };
}

/** The limit of skips that holds. */
export function maxSkipsOf({ onError, maxSkips }: FeedOptions): number {
  return maxSkips === undefined ? (onError === 'skip' ? DEFAULT_MAX_SKIPS : 0) : maxSkips;
}

function checkSource(options: FeedOptions): void {
  const { source } = options;
  if ((options.manifest === undefined) === (options.source === undefined)) {
    throw new ConfigError(
      'bad_option',
      options.manifest === undefined ? 'no data set is named' : 'both a manifest and a source are named',
      words`give either ${option('manifest')} or ${{ api: 'source', command: 's3://bucket/prefix' }}`,
      { option: 'manifest' },
    );
  }
  if (source !== undefined && !String(source).startsWith('s3://')) {
    throw new ConfigError(
      'bad_s3_url',
      `${JSON.stringify(source)} is not an S3 location`,
      words`a manifest is given as ${{ api: 'manifest', command: `--manifest ${source || 'FILE'}` }}; a prefix is written s3://BUCKET/PREFIX`,
      { option: 'source' },
    );
  }
}

async function policySpec(options: FeedOptions): Promise<PolicySpec> {
  const { policy = 'os2g' } = options;
  const spec =
    typeof policy !== 'string'
      ? policy
      : isPolicyFile(policy)
        ? await readPolicyFile(policy)
        : { preset: policy };
  return { preset: spec.preset, set: { ...spec.set, ...options.set } };
}
