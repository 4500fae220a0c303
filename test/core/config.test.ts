import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { Core } from '../../runtime-node/core.js';
import { ConfigError } from '../../runtime-node/errors.js';
import { type JobSpec, jobConfig, jobRange } from '../../runtime-node/policy/job.js';
import { formatRange, resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { PRESET_NAMES, SETTINGS, type Setting } from '../../runtime-node/policy/settings.js';

// Case 29 of the shared cases: values that options have been given and that broke other feeders.
const STRANGE: readonly unknown[] = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53 + 1,
  2 ** 53 + 2,
  '8',
  '',
  null,
  true,
];

const JOB: JobSpec = { samples: 1000, batchSamples: 2, worldSize: 4, rank: 1, consumers: 1 };

const JOB_NUMBERS = {
  samples: 'samples',
  batchSamples: 'batch-samples',
  worldSize: 'world-size',
  rank: 'rank',
  consumers: 'consumers',
  epochs: 'epochs',
  startEpoch: 'start-epoch',
  startBatch: 'start-batch',
  memoryBytes: 'memory',
  maxSkips: 'max-skips',
} as const satisfies Partial<Record<keyof JobSpec, string>>;

function refusal(make: () => unknown): ConfigError | null {
  try {
    make();
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

const show = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));

for (const [field, option] of Object.entries(JOB_NUMBERS)) {
  test(`--${option}: inside its range, or refused with its name and range`, () => {
    const range = jobRange(option)!;
    for (const value of STRANGE) {
      const inside =
        Number.isSafeInteger(value) && (value as number) >= range.min && (value as number) <= range.max;
      // Ranks and world size must also fit each other.
      const fits =
        !(field === 'rank' && (value as number) > 3) && !(field === 'worldSize' && (value as number) < 2);
      const error = refusal(() => jobConfig({ ...JOB, [field]: value }, resolvePolicy()));
      assert.is(error === null, inside && fits, `${show(value)}: ${error?.message}`);
      if (!error) continue;
      assert.is(error.code, 'bad_option');
      assert.is(error.told('command').option, field === 'worldSize' && inside ? 'rank' : option);
      assert.is(error.context.option, field === 'worldSize' && inside ? 'rank' : field);
      if (!inside) assert.ok(error.mend.includes(`${range.min}..${range.max}`), error.mend);
    }
  });
}

test('--seed: whole numbers of 64 bits', () => {
  const config = (seed: unknown): Float64Array =>
    jobConfig({ ...JOB, seed: seed as number }, resolvePolicy());
  for (const seed of [0, 1, 2 ** 31, 2 ** 53 - 1, 2n ** 64n - 1n]) {
    const words = config(seed);
    assert.is(
      BigInt(words[layout.CONFIG_SEED_HI]!) * 2n ** 32n + BigInt(words[layout.CONFIG_SEED_LO]!),
      BigInt(seed),
    );
  }
  for (const seed of [...STRANGE.filter((v) => v !== 0 && v !== 2 ** 31), -1n, 2n ** 64n]) {
    assert.is(refusal(() => config(seed))?.context.option, 'seed', show(seed));
  }
});

test('words of the job: one of them, or refused', () => {
  for (const [field, option] of [
    ['shuffle', 'shuffle'],
    ['tail', 'tail'],
    ['onError', 'on-error'],
  ] as const) {
    for (const value of ['', 'Sample', 'x', 0, 1, null, true]) {
      const error = refusal(() => jobConfig({ ...JOB, [field]: value }, resolvePolicy()));
      assert.is(error?.told('command').option, option, `${field} ${show(value)}`);
    }
  }
});

/** A value inside a setting's range as its user writes it. */
function isInside(setting: Setting, value: unknown): boolean {
  if (setting.kind !== 'count' && setting.kind !== 'ratio') return false; // these want units or words
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (setting.kind === 'count' && !Number.isSafeInteger(value)) return false;
  return value >= setting.min && value <= setting.max;
}

for (const setting of SETTINGS) {
  test(`${setting.name}: inside its range, or refused with its name and range`, () => {
    for (const value of STRANGE) {
      const error = refusal(() => resolvePolicy({ set: { [setting.name]: value } }));
      assert.is(error === null, isInside(setting, value), `${show(value)}: ${error?.message}`);
      if (!error) continue;
      assert.is(error.code, 'bad_option');
      assert.is(error.context.option, setting.name);
      const units = setting.kind === 'bytes' || setting.kind === 'duration';
      if (!units || typeof value !== 'string')
        assert.ok(error.mend.includes(formatRange(setting)), error.mend);
    }
  });
}

test('sizes and durations want a unit, and a value inside the range', () => {
  for (const setting of SETTINGS.filter((s) => s.kind === 'bytes' || s.kind === 'duration')) {
    const unit = setting.kind === 'bytes' ? 'B' : 'ns';
    for (const [text, fits] of [
      [`${setting.min}${unit}`, true],
      [`${setting.max}${unit}`, true],
      [`${setting.min}`, false],
      [`${setting.max + 1}${unit}`, false],
      [`-1${unit}`, false],
      [`NaN${unit}`, false],
      [`1e3${unit}`, false],
      ['8', false],
      [`${setting.kind === 'bytes' ? '1ms' : '1KiB'}`, false],
    ] as const) {
      const error = refusal(() => resolvePolicy({ set: { [setting.name]: text } }));
      assert.is(error === null, fits, `${setting.name}=${text}: ${error?.message}`);
      if (error) assert.is(error.context.option, setting.name);
    }
  }
});

// ---- the core's own defence ---------------------------------------------------------------------

const CHECKED_SLOTS = Object.entries(layout)
  .filter(([name]) => name.startsWith('CONFIG_') && name !== 'CONFIG_OFFSET' && name !== 'CONFIG_SLOTS')
  .map(([name, slot]) => ({ name, slot: slot as number }));

test('the core refuses what is no number or out of range, in every slot, and names the slot', async () => {
  const core = await Core.load();
  const sound = jobConfig(JOB, resolvePolicy());
  for (const { name, slot } of CHECKED_SLOTS) {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 2 ** 53]) {
      const config = sound.slice();
      config[slot] = value;
      assert.ok(
        refusal(() => core.init(config)),
        `${name} = ${value}`,
      );
      // A rank's range depends on the world's size: either may be named.
      if (slot !== layout.CONFIG_WORLD_SIZE && slot !== layout.CONFIG_CONSUMERS) {
        assert.is(core.errorDetail, slot, `${name} = ${value}`);
      }
    }
  }
  core.init(sound);
  assert.is(core.error, 0, 'and works after all that');
});

test('the core refuses fractions where it counts, alignments that are no power of two, and orders too long for it', async () => {
  const core = await Core.load();
  const real = new Set<number>([
    layout.CONFIG_CONCURRENCY_BACKOFF,
    layout.CONFIG_CONCURRENCY_GAIN,
    layout.CONFIG_RETRY_BUDGET,
    layout.CONFIG_RETRY_BASE_NS,
    layout.CONFIG_RETRY_CAP_NS,
    layout.CONFIG_HEDGE_SHARE,
    layout.CONFIG_HEDGE_QUANTILE,
    layout.CONFIG_HEDGE_MIN_NS,
    layout.CONFIG_STAGING_SHARE,
  ]);
  const sound = jobConfig(JOB, resolvePolicy());
  const refuses = (slot: number, value: number, others: Record<number, number> = {}): void => {
    const config = sound.slice();
    for (const [at, other] of Object.entries(others)) config[Number(at)] = other;
    config[slot] = value;
    assert.ok(
      refusal(() => core.init(config)),
      `slot ${slot} = ${value}`,
    );
  };
  for (const { slot } of CHECKED_SLOTS) if (!real.has(slot)) refuses(slot, 1.5);
  for (const align of [0, 3, 48, 8192]) refuses(layout.CONFIG_ALIGN_BYTES, align);
  // Batches are numbered with 32 bits.
  refuses(layout.CONFIG_SAMPLES, 2 ** 40, {
    [layout.CONFIG_WORLD_SIZE]: 2,
    [layout.CONFIG_BATCH_SAMPLES]: 1,
  });
});

test('each policy slot of the core has exactly one setting, and the other way round', () => {
  const slots = CHECKED_SLOTS.filter(({ slot }) => slot >= layout.CONFIG_WINDOW_MODE);
  for (const { name, slot } of slots) {
    assert.is(SETTINGS.filter((s) => s.slot === slot).length, 1, name);
  }
  const known = new Set(slots.map((s) => s.slot));
  for (const s of SETTINGS) assert.ok(s.slot === null || known.has(s.slot), s.name);
  assert.is(new Set(CHECKED_SLOTS.map((s) => s.slot)).size, CHECKED_SLOTS.length, 'no slot has two names');
  assert.is(new Set(SETTINGS.map((s) => s.name)).size, SETTINGS.length);
});

test('every setting has a unit, a range, a meaning and defaults inside the range; the core takes its bounds', async () => {
  const core = await Core.load();
  for (const setting of SETTINGS) {
    assert.ok(setting.meaning.length > 10 && setting.min <= setting.max, setting.name);
    for (const preset of PRESET_NAMES) {
      const value = setting.presets[preset];
      assert.ok(value >= setting.min && value <= setting.max, `${setting.name} of ${preset}`);
    }
    if (setting.choices) assert.is(setting.choices.length, setting.max + 1, setting.name);
    if (setting.slot === null) continue;
    for (const bound of [setting.min, setting.max]) {
      const config = jobConfig(JOB, resolvePolicy());
      config[setting.slot] = bound;
      core.init(config);
      assert.is(core.error, 0, `${setting.name} = ${bound}`);
    }
  }
});

test('an unknown setting or preset is refused by name, with what was meant', () => {
  assert.match(refusal(() => resolvePolicy({ set: { 'hedge.shar': 0 } }))!.mend, 'hedge.share');
  assert.match(refusal(() => resolvePolicy({ preset: 'fast' }))!.mend, 'readahead');
  assert.match(refusal(() => resolvePolicy({ set: { 'layout.align': '3B' } }))!.message, 'power of two');
});

test.run();
