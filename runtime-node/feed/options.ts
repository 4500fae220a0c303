import type { Clock } from '../clock.js';
import type { CoreBuild } from '../core.js';
import { chooseEngine, type EngineChoice } from '../engine/choose.js';
import type { GetEngine } from '../engine/engine.js';
import { ConfigError } from '../errors.js';
import { FORMAT_NAMES, type FormatChoice } from '../formats/format.js';
import {
  chooseLanding,
  DIRECT_MODES,
  type DirectMode,
  isStaged,
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
  type Tail,
} from '../policy/job.js';
import { type Policy, type PolicySpec, resolvePolicy } from '../policy/resolve.js';
import type { S3Options } from '../s3/location.js';
import { shownUrl } from '../s3/secrets.js';
import { shown } from '../shown.js';
import { option, words } from '../wording.js';
import type { Cursor } from './cursor.js';
import {
  ANY_TEXT,
  CLOCK,
  CURSOR,
  checkShapes,
  FLAG,
  FUNCTION,
  isPlain,
  LOGGER,
  MANIFEST,
  OBJECT,
  PATH,
  type Shape,
  SIGNAL,
  TEXT,
} from './option-shapes.js';
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
  /** `s3://bucket/prefix`: listed at the start, and indexed in memory as `os2g index` does into a file. */
  source?: string;
  /** What a sample of `source` is (`auto`: found out from the keys). */
  format?: FormatChoice;
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
  /** Samples that `onError: 'skip'` may leave out, over all epochs of the run, also when it resumes (100; a sample counts each time that it fails, a pad never). */
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
  ...{
    manifest: true,
    source: true,
    format: true,
    bucket: true,
    s3: true,
    batchSamples: true,
    epochs: true,
    seed: true,
  },
  ...{ shuffle: true, tail: true, rank: true, worldSize: true, policy: true, set: true, memoryBytes: true },
  ...{ landing: true, direct: true, onError: true, maxSkips: true, engine: true, verify: true, resume: true },
  ...{ cursorOut: true, trace: true, audit: true, signal: true, logger: true, clock: true, onListed: true },
  internal: true,
};
const SHAPES: Readonly<Partial<Record<keyof FeedOptions, Shape>>> = {
  ...{ manifest: MANIFEST, source: ANY_TEXT, bucket: TEXT, s3: OBJECT, set: OBJECT, resume: CURSOR },
  ...{ cursorOut: PATH, trace: PATH, audit: PATH },
  ...{ signal: SIGNAL, logger: LOGGER, clock: CLOCK, onListed: FUNCTION },
};
const S3_SHAPES: Readonly<Record<keyof S3Options, Shape>> = {
  ...{ endpoint: TEXT, region: TEXT, profile: TEXT, anonymous: FLAG, requesterPays: FLAG, pathStyle: FLAG },
  ...{ caBundle: PATH, clientCert: PATH, clientKey: PATH },
};
const POLICY_SHAPES: Readonly<Record<keyof PolicySpec, Shape>> = { preset: TEXT, set: OBJECT };

/** Options that need no data set to be checked, checked. */
export interface CheckedOptions {
  readonly policy: Policy;
  readonly landing: LandingChoice;
  readonly verify: Verify;
  readonly memoryBytes: number;
  /** Why this engine. */
  readonly engine: EngineChoice;
}

/**
 * Refuses what is no option, before anything else is done: a misspelt one would be an option that is not given.
 * @throws ConfigError `bad_option` that names it, and what is near
 */
export function checkNames(options: unknown): asserts options is FeedOptions {
  const given = fieldsOf(options, 'openFeed');
  refuseUnknown(given, OPTIONS, '', 'docs/api.md lists the options');
  checkShapes(given, SHAPES);
  const { s3, policy } = given;
  if (s3 !== undefined) {
    const fields = fieldsOf(s3, 's3');
    refuseUnknown(fields, S3_SHAPES, 's3.', `s3 has ${Object.keys(S3_SHAPES).join(', ')}`);
    checkShapes(fields, S3_SHAPES, 's3.');
  }
  if (policy !== undefined && typeof policy !== 'string') {
    const fields = fieldsOf(policy, 'policy');
    refuseUnknown(fields, POLICY_SHAPES, 'policy.', 'a policy has preset and set');
    checkShapes(fields, POLICY_SHAPES, 'policy.');
  }
}

function fieldsOf(value: unknown, name: string): Record<string, unknown> {
  if (isPlain(value)) return value;
  const what = `${name}: ${shown(value)} is not ${OBJECT.is}`;
  throw new ConfigError('bad_option', what, OBJECT.mend, { option: name });
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
  oneOf(options.format ?? 'auto', FORMAT_NAMES, 'format');
  const engine = chooseEngine(oneOf(options.engine ?? 'auto', ENGINES, 'engine'), {
    clientCertificate: options.s3?.clientCert !== undefined,
  });
  oneOf(options.direct ?? 'auto', DIRECT_MODES, 'direct');
  const landing = chooseLanding(options.landing, options.direct, engine.name);
  const policy = resolvePolicy(await policySpec(options));
  // The number of rows is not known yet; everything else of the job is.
  jobConfig(jobSpec(options, 1), policy);
  return {
    policy,
    landing,
    verify: oneOf(options.verify ?? 'etag', VERIFIES, 'verify'),
    memoryBytes: options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
    engine,
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
    staged: isStaged(options.landing),
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
  if (source === undefined && (options.format ?? 'auto') !== 'auto') {
    throw new ConfigError(
      'bad_option',
      words`${option('format')} is given beside a manifest, whose rows are the samples`,
      words`leave ${option('format')} out: it is for ${{ api: 'source', command: 's3://bucket/prefix' }}`,
      { option: 'format' },
    );
  }
  if (source !== undefined && options.bucket !== undefined) {
    throw new ConfigError(
      'bad_option',
      words`${option('bucket')} is given beside a source, which names its bucket itself`,
      words`leave ${option('bucket')} out: it is for a manifest that does not name its bucket`,
      { option: 'bucket' },
    );
  }
  if (source !== undefined && !source.startsWith('s3://')) {
    const isUrl = /^[a-z0-9]+:\/\//i.test(source);
    throw new ConfigError(
      'bad_s3_url',
      `${isUrl ? shownUrl(source) : JSON.stringify(source)} is not an S3 location`,
      words`a manifest is given as ${{ api: 'manifest', command: `--manifest ${isUrl ? 'FILE' : source || 'FILE'}` }}; a prefix is written s3://BUCKET/PREFIX`,
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
