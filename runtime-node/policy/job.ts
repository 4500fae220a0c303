import * as layout from '../../assembly/layout.js';
import { ConfigError } from '../errors.js';
import { shown } from '../shown.js';
import { commandName, option, type Text, words } from '../wording.js';
import type { Policy } from './resolve.js';
import { SETTINGS } from './settings.js';

export const SHUFFLES = ['none', 'sample', 'block', 'external'] as const;
export const TAILS = ['drop', 'pad', 'partial'] as const;
export const ON_ERRORS = ['fail', 'skip'] as const;
export type Shuffle = (typeof SHUFFLES)[number];
export type Tail = (typeof TAILS)[number];
export type OnError = (typeof ON_ERRORS)[number];

/** What a run reads; everything but `samples` and `batchSamples` has a default. */
export interface JobSpec {
  /** Rows of the data set. */
  samples: number;
  /** Samples of a batch, for each rank. */
  batchSamples: number;
  worldSize?: number;
  /** First rank that this core feeds. */
  rank?: number;
  /** Ranks that this core feeds: `rank .. rank + consumers - 1`. */
  consumers?: number;
  /** Epochs of the whole run, also when it resumes. */
  epochs?: number;
  startEpoch?: number;
  /** First global batch of the first epoch. */
  startBatch?: number;
  /** 0 .. 2^64 - 1. */
  seed?: number | bigint;
  shuffle?: Shuffle;
  tail?: Tail;
  /** Budget of landing and staging memory together. */
  memoryBytes?: number;
  /** Bodies go through staging memory and a PLACE. */
  staged?: boolean;
  onError?: OnError;
  /** Samples that may be skipped under `onError: 'skip'`. */
  maxSkips?: number;
}

export const DEFAULT_MEMORY_BYTES = 512 * 2 ** 20;
/** Samples that a feed may skip where `onError` is `skip` and no limit is given. */
export const DEFAULT_MAX_SKIPS = 100;

/** The core numbers batches with 32 bits. */
const MOST_BATCHES = 2 ** 32 - 2;

interface Range {
  readonly slot: number;
  readonly min: number;
  readonly max: number;
}

const RANGES = {
  samples: { slot: layout.CONFIG_SAMPLES, min: 1, max: 2 ** 48 },
  batchSamples: {
    slot: layout.CONFIG_BATCH_SAMPLES,
    min: 1,
    max: layout.MAX_SAMPLES / 2,
  },
  worldSize: { slot: layout.CONFIG_WORLD_SIZE, min: 1, max: 2 ** 20 },
  rank: { slot: layout.CONFIG_FIRST_RANK, min: 0, max: 2 ** 20 - 1 },
  consumers: { slot: layout.CONFIG_CONSUMERS, min: 1, max: layout.MAX_CONSUMERS },
  epochs: { slot: layout.CONFIG_EPOCHS, min: 1, max: 2 ** 31 - 1 },
  startEpoch: { slot: layout.CONFIG_START_EPOCH, min: 0, max: 2 ** 31 - 1 },
  startBatch: { slot: layout.CONFIG_START_BATCH, min: 0, max: 2 ** 32 - 2 },
  memoryBytes: { slot: layout.CONFIG_MEMORY_BYTES, min: 4096, max: 2 ** 46 },
  maxSkips: { slot: layout.CONFIG_MAX_SKIPS, min: 0, max: 2 ** 31 - 1 },
} as const satisfies Record<string, Range>;

/** Defaults of the job's numbers and words. */
const DEFAULTS = {
  worldSize: 1,
  rank: 0,
  consumers: 1,
  epochs: 1,
  startEpoch: 0,
  startBatch: 0,
  memoryBytes: DEFAULT_MEMORY_BYTES,
  maxSkips: 0,
  seed: 0,
  shuffle: 'sample',
  tail: 'drop',
  onError: 'fail',
};

/** Range of a job's number by the option's name in the command, for parsers and help. */
export function jobRange(name: string): { min: number; max: number } | undefined {
  return Object.entries(RANGES).find(([field]) => commandName(field) === name)?.[1];
}

/**
 * The core's configuration from a job and a policy.
 * @throws ConfigError `bad_option` that names the option and its range.
 */
export function jobConfig(job: JobSpec, policy: Policy): Float64Array {
  const config = new Float64Array(layout.CONFIG_SLOTS);
  const given = { ...DEFAULTS, ...stripUndefined(job) };
  for (const [name, range] of Object.entries(RANGES)) {
    config[range.slot] = wholeNumber(name, given[name as keyof typeof RANGES], range);
  }
  const seed = seedWords(given.seed);
  config[layout.CONFIG_SEED_LO] = seed.lo;
  config[layout.CONFIG_SEED_HI] = seed.hi;
  config[layout.CONFIG_ORDER] = word(given.shuffle, SHUFFLES, 'shuffle');
  config[layout.CONFIG_TAIL] = word(given.tail, TAILS, 'tail');
  config[layout.CONFIG_ON_ERROR] = word(given.onError, ON_ERRORS, 'onError');
  config[layout.CONFIG_STAGED] = given.staged ? 1 : 0;
  for (const s of SETTINGS) if (s.slot !== null) config[s.slot] = policy.values.get(s.name)!;
  checkTogether(config);
  return config;
}

/** Low and high 32 bits of a seed. */
export function seedWords(seed: unknown): { lo: number; hi: number } {
  const fits =
    typeof seed === 'bigint'
      ? seed >= 0n && seed < 1n << 64n
      : Number.isSafeInteger(seed) && (seed as number) >= 0;
  if (!fits) throw notInRange('seed', seed, '0..18446744073709551615 (as a bigint above 2^53 - 1)');
  const wide = BigInt(seed as number | bigint);
  return { lo: Number(wide & 0xffffffffn), hi: Number(wide >> 32n) };
}

function checkTogether(config: Float64Array): void {
  const world = config[layout.CONFIG_WORLD_SIZE]!;
  const last = config[layout.CONFIG_FIRST_RANK]! + config[layout.CONFIG_CONSUMERS]! - 1;
  if (last >= world)
    throw notInRange('rank', last, words`0..${world - 1} (below ${option('worldSize')} ${world})`);
  const consumers = config[layout.CONFIG_CONSUMERS]!;
  if (config[layout.CONFIG_BATCH_SAMPLES]! > layout.MAX_SAMPLES / consumers) {
    throw notInRange(
      'batchSamples',
      config[layout.CONFIG_BATCH_SAMPLES],
      `1..${Math.floor(layout.MAX_SAMPLES / consumers)} for ${consumers} consumers`,
    );
  }
  if (batchesOf(config) > MOST_BATCHES) {
    throw notInRange(
      'samples',
      config[layout.CONFIG_SAMPLES],
      `1..${MOST_BATCHES} global batches of an epoch`,
    );
  }
}

function batchesOf(config: Float64Array): number {
  return Math.ceil(
    config[layout.CONFIG_SAMPLES]! /
      (config[layout.CONFIG_BATCH_SAMPLES]! * config[layout.CONFIG_WORLD_SIZE]!),
  );
}

function wholeNumber(name: string, value: unknown, { min, max }: Range): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max) {
    throw notInRange(name, value, `${min}..${max}`);
  }
  return value;
}

function word(value: unknown, choices: readonly string[], name: string): number {
  const index = choices.indexOf(value as string);
  if (index < 0) throw noneOf(value, choices, name);
  return index;
}

/** A word that is none of those that there are. */
export function noneOf(value: unknown, choices: readonly string[], name: string): ConfigError {
  return new ConfigError(
    'bad_option',
    words`${option(name)}: ${shown(value)} is none of ${choices.join(', ')}`,
    `use one of ${choices.join(', ')}`,
    { option: name },
  );
}

function notInRange(name: string, value: unknown, range: Text): ConfigError {
  return new ConfigError(
    'bad_option',
    words`${option(name)}: ${shown(value)} is not a whole number in ${range}`,
    words`give a whole number in ${range}`,
    { option: name },
  );
}

function stripUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;
}
