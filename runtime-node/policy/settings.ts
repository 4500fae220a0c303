import * as layout from '../../assembly/layout.js';

/**
 * The one table of settings. The option parser, `--help-settings`, docs/settings.md, the check at construction and the
 * tuner's search space are all made from it.
 */
export type SettingKind = 'bytes' | 'duration' | 'count' | 'ratio' | 'choice';
export type PresetName = 'sync' | 'readahead' | 'os2g';
export const PRESET_NAMES: readonly PresetName[] = ['sync', 'readahead', 'os2g'];

export interface Setting {
  readonly name: string;
  /** Slot of the core's configuration; null where only the runtime reads it. */
  readonly slot: number | null;
  readonly kind: SettingKind;
  /** Base units: bytes, nanoseconds, a count, a ratio; for a choice the index of its word. */
  readonly min: number;
  readonly max: number;
  readonly choices?: readonly string[];
  readonly presets: Readonly<Record<PresetName, number>>;
  /** `log`: the tuner steps by factors; `linear`: by differences. */
  readonly scale: 'log' | 'linear';
  /** False for settings that change which samples a batch holds: the tuner leaves them alone. */
  readonly tunable: boolean;
  readonly meaning: string;
}

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const TiB = 1024 * GiB;
const MS = 1e6;
const S = 1e9;

type Values = number | readonly [sync: number, readahead: number, os2g: number];

function setting(
  name: string,
  slot: number | null,
  kind: SettingKind,
  [min, max]: readonly [number, number],
  values: Values,
  meaning: string,
  more: Partial<Pick<Setting, 'choices' | 'scale' | 'tunable'>> = {},
): Setting {
  const [sync, readahead, os2g] = typeof values === 'number' ? [values, values, values] : values;
  return {
    name,
    slot,
    kind,
    min,
    max,
    presets: { sync, readahead, os2g },
    scale: more.scale ?? (kind === 'bytes' || kind === 'duration' || kind === 'count' ? 'log' : 'linear'),
    tunable: more.tunable ?? slot !== null,
    meaning,
    ...(more.choices ? { choices: more.choices } : {}),
  };
}

const FIXED_OR_ADAPTIVE = { choices: ['fixed', 'adaptive'] } as const;

export const SETTINGS: readonly Setting[] = [
  setting(
    'window.mode',
    layout.CONFIG_WINDOW_MODE,
    'choice',
    [0, 1],
    [0, 0, 1],
    'how far to run ahead: a fixed window, or one that follows stalls, latency and memory',
    FIXED_OR_ADAPTIVE,
  ),
  setting(
    'window.bytes',
    layout.CONFIG_WINDOW_BYTES,
    'bytes',
    [1, 16 * TiB],
    [1, 64 * MiB, 16 * TiB],
    'most bytes of batches that one consumer runs ahead; the memory budget bounds it too',
  ),
  setting(
    'window.samples',
    layout.CONFIG_WINDOW_SAMPLES,
    'count',
    [1, layout.MAX_SAMPLES],
    [1, 1024, layout.MAX_SAMPLES],
    'most samples of batches that one consumer runs ahead; one batch is always allowed',
  ),
  setting(
    'window.initial_bytes',
    layout.CONFIG_WINDOW_INITIAL_BYTES,
    'bytes',
    [1, 16 * TiB],
    32 * MiB,
    'where an adaptive window starts, where a quarter of landing memory is less',
  ),
  setting(
    'concurrency.mode',
    layout.CONFIG_CONCURRENCY_MODE,
    'choice',
    [0, 1],
    [0, 0, 1],
    'how many requests are in flight: a fixed number, or one that climbs while the rate grows and backs off at 503 and where first bytes are overdue',
    FIXED_OR_ADAPTIVE,
  ),
  setting(
    'concurrency.max',
    layout.CONFIG_CONCURRENCY_MAX,
    'count',
    [1, layout.MAX_REQUESTS],
    [1, 16, 1024],
    'most requests in flight, all consumers together',
  ),
  setting(
    'concurrency.initial',
    layout.CONFIG_CONCURRENCY_INITIAL,
    'count',
    [1, layout.MAX_REQUESTS],
    64,
    'where adaptive concurrency starts',
  ),
  setting(
    'concurrency.backoff',
    layout.CONFIG_CONCURRENCY_BACKOFF,
    'ratio',
    [0.1, 0.99],
    0.7,
    'factor on concurrency and rate when the store answers 503',
  ),
  setting(
    'concurrency.gain',
    layout.CONFIG_CONCURRENCY_GAIN,
    'ratio',
    [1, 16],
    2,
    'adaptive concurrency: places for each one that the best rate seen needs when nothing queues',
    { scale: 'log' },
  ),
  setting(
    'rate.mode',
    layout.CONFIG_RATE_MODE,
    'choice',
    [0, 1],
    [0, 0, 1],
    'pace requests after a 503: off, or adaptive (a cubic return to the rate that the store bore)',
    { choices: ['off', 'adaptive'] },
  ),
  setting(
    'split.bytes',
    layout.CONFIG_SPLIT_BYTES,
    'bytes',
    [4 * KiB, 16 * TiB],
    [16 * TiB, 8 * MiB, 8 * MiB],
    'ranges longer than this are fetched in parts of this size; with adaptive concurrency, of at least this size',
  ),
  setting(
    'merge.gap',
    layout.CONFIG_MERGE_GAP_BYTES,
    'bytes',
    [0, 1 * GiB],
    [0, 0, 16 * KiB],
    'largest gap between two samples of one object that are still read in one range',
  ),
  setting(
    'merge.bytes',
    layout.CONFIG_MERGE_BYTES,
    'bytes',
    [0, 1 * GiB],
    [0, 0, 4 * MiB],
    'longest range that merging makes; 0B: never merge',
  ),
  setting(
    'retry.attempts',
    layout.CONFIG_RETRY_ATTEMPTS,
    'count',
    [1, 1000],
    10,
    'attempts for one part, the first one included; refusals (503) count only in a row without any answer in between, or ten times as many in all',
  ),
  setting(
    'retry.budget',
    layout.CONFIG_RETRY_BUDGET,
    'ratio',
    [0, 10],
    0.5,
    'retries that fail again, as a share of requests; beyond it retries wait their turn',
  ),
  setting(
    'retry.base',
    layout.CONFIG_RETRY_BASE_NS,
    'duration',
    [1e3, 600 * S],
    100 * MS,
    'wait before the first retry; doubles with each, with seeded jitter',
  ),
  setting(
    'retry.cap',
    layout.CONFIG_RETRY_CAP_NS,
    'duration',
    [1e3, 3600 * S],
    8 * S,
    'longest wait before a retry; a Retry-After of the store counts beyond it, up to a minute',
  ),
  setting(
    'hedge.share',
    layout.CONFIG_HEDGE_SHARE,
    'ratio',
    [0, 1],
    [0, 0, 0.1],
    'second requests for slow first bytes, as a share of requests; 0: none',
  ),
  setting(
    'hedge.quantile',
    layout.CONFIG_HEDGE_QUANTILE,
    'ratio',
    [0.5, 0.999],
    0.95,
    'a request slower than this quantile of first-byte latency may be hedged',
  ),
  setting(
    'hedge.min_delay',
    layout.CONFIG_HEDGE_MIN_NS,
    'duration',
    [1e3, 600 * S],
    25 * MS,
    'never hedge before this',
  ),
  setting(
    'staging.share',
    layout.CONFIG_STAGING_SHARE,
    'ratio',
    [0, 0.9],
    [0, 0, 0.0625],
    'share of the memory budget for staging: hedges, and every body where landing memory cannot be received into',
  ),
  setting(
    'layout.align',
    layout.CONFIG_ALIGN_BYTES,
    'bytes',
    [1, 4096],
    64,
    'alignment of each range inside a batch; a power of two',
  ),
  setting(
    'order.block_samples',
    layout.CONFIG_BLOCK_SAMPLES,
    'count',
    [1, 2 ** 32 - 1],
    1024,
    'rows in a block of the block shuffle, about a shard',
    { tunable: false },
  ),
  setting(
    'order.group_blocks',
    layout.CONFIG_GROUP_BLOCKS,
    'count',
    [1, 2 ** 20],
    16,
    'blocks that the block shuffle mixes with each other',
    { tunable: false },
  ),
  setting(
    'external.lookahead',
    layout.CONFIG_LOOKAHEAD_SAMPLES,
    'count',
    [1, layout.MAX_SAMPLES],
    layout.MAX_SAMPLES / 2,
    'external order: most positions held ahead of delivery',
    { tunable: false },
  ),
  setting('limits.connect', null, 'duration', [MS, 600 * S], 5 * S, 'TCP and TLS set-up of one connection'),
  setting(
    'limits.first_byte',
    null,
    'duration',
    [MS, 3600 * S],
    15 * S,
    'from the request to the first byte',
  ),
  setting('limits.idle', null, 'duration', [MS, 3600 * S], 10 * S, 'without a byte while a body is moving'),
  setting('limits.total', null, 'duration', [MS, 24 * 3600 * S], 24 * 3600 * S, 'one whole attempt'),
  setting('engine.threads', null, 'count', [1, 64], 1, 'I/O threads of the native engine'),
];

export const SETTINGS_BY_NAME: ReadonlyMap<string, Setting> = new Map(SETTINGS.map((s) => [s.name, s]));
