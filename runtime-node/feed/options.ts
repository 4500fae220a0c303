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
import {
  DEFAULT_MEMORY_BYTES,
  type JobSpec,
  jobConfig,
  type OnError,
  type Shuffle,
  type Tail,
} from '../policy/job.js';
import { type Policy, type PolicySpec, resolvePolicy } from '../policy/resolve.js';
import type { S3Options } from '../s3/location.js';
import type { Cursor } from './cursor.js';
import { readPolicyFile } from './policy-file.js';
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
  /** Epochs of the whole run, also when it resumes (1). */
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
  /** Samples that `onError: 'skip'` may leave out in the whole run (0). */
  maxSkips?: number;
  /** (`auto`) */
  engine?: EngineName;
  /** What each answer is checked against (`etag`). */
  verify?: Verify;
  /** Where to go on: a cursor, or the file that holds one. */
  resume?: Cursor | string;
  /** File that is kept at the cursor. */
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
 * Checks every option before anything is started, read or listed.
 * @throws ConfigError that names the option and its range.
 */
export async function checkOptions(options: FeedOptions): Promise<CheckedOptions> {
  checkSource(options);
  const engine = oneOf(options.engine ?? 'auto', ENGINES, 'engine');
  if (engine === 'native') {
    throw new ConfigError(
      'engine_unavailable',
      'engine: this build of os2g has no native engine',
      'use --engine portable or auto',
      {
        option: 'engine',
      },
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
  const { batchSamples, worldSize, rank, epochs, seed, shuffle, tail, memoryBytes, onError, maxSkips } =
    options;
  if (batchSamples === undefined) {
    throw new ConfigError(
      'bad_option',
      'batch-samples is not given',
      'give the samples of a batch for each rank, from 1 on',
      {
        option: 'batch-samples',
      },
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
    maxSkips,
  };
}

function checkSource(options: FeedOptions): void {
  if ((options.manifest === undefined) === (options.source === undefined)) {
    throw new ConfigError(
      'bad_option',
      options.manifest === undefined ? 'no data set is named' : 'both a manifest and a source are named',
      'give either --manifest FILE or s3://bucket/prefix',
      { option: 'manifest' },
    );
  }
}

async function policySpec(options: FeedOptions): Promise<PolicySpec> {
  const { policy = 'os2g' } = options;
  const isFile = typeof policy === 'string' && /[./\\]/.test(policy);
  const spec =
    typeof policy !== 'string' ? policy : isFile ? await readPolicyFile(policy) : { preset: policy };
  return { preset: spec.preset, set: { ...spec.set, ...options.set } };
}
