import { z } from 'zod';
import * as layout from '../../assembly/layout.js';
import { FAULT_KINDS, PIPELINE_NAMES } from './types.js';

const positive = z.number().positive();
const atLeastZero = z.number().min(0);
const count = z.int().min(1);
const share = z.number().min(0).max(1);
/** Slower than this nothing ends within the time that a run may take; and a division by it stays a number. */
const LEAST_RATE = 1e-6;
const rate = (most: number) => z.number().min(LEAST_RATE).max(most);
const rateOrNone = rate(1e9).nullable();

/** Distributions of values from 0 to `most`. */
function distribution(most: number) {
  const value = z.number().min(0).max(most);
  return z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('constant'), value }),
    z
      .strictObject({ kind: z.literal('uniform'), low: value, high: value })
      .refine(({ low, high }) => low <= high, { path: ['high'], error: 'is below low' }),
    z.strictObject({ kind: z.literal('lognormal'), median: value, sigma: z.number().min(0).max(5) }),
    z.strictObject({
      kind: z.literal('quantiles'),
      points: z
        .array(z.tuple([share, value]))
        .min(2, { abort: true })
        .refine((points) => points[0]![0] === 0 && points[points.length - 1]![0] === 1, {
          error: 'must begin at quantile 0 and end at quantile 1',
        })
        .refine(
          (points) =>
            points.every(([p, v], i) => i === 0 || (p > points[i - 1]![0] && v >= points[i - 1]![1])),
          {
            error: 'must rise: each quantile above the one before, no value below the one before',
          },
        ),
    }),
  ]);
}

const access = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('epoch') }),
  z.strictObject({
    kind: z.literal('zipf'),
    exponent: z.number().positive().max(10),
    lookahead_batches: z.int().min(0).max(layout.MAX_SAMPLES).default(0),
  }),
]);

const cpu = { cpu_us_per_request: atLeastZero.max(1e9), cpu_us_per_mb: atLeastZero.max(1e9) };
/** At least one byte. */
const partMb = z.number().min(1e-6).max(1e6);
const reader = { ...cpu, part_mb: partMb, timeout_s: positive.max(1e5) };

const fault = z
  .strictObject({
    at_s: atLeastZero.max(1e6),
    for_s: positive.max(1e6),
    kind: z.enum(FAULT_KINDS),
    factor: atLeastZero.max(1e6).optional(),
  })
  .refine((f) => f.kind === 'outage' || f.factor !== undefined, { path: ['factor'], error: 'is missing' })
  .refine((f) => f.kind !== 'outage' || f.factor === undefined, {
    path: ['factor'],
    error: 'an outage has no factor',
  })
  .refine((f) => f.kind !== 'throttle' || f.factor !== 0, {
    path: ['factor'],
    error: 'must be above 0: a store that serves nothing is an outage',
  })
  .refine((f) => f.kind !== 'error' || f.factor! <= 1, { path: ['factor'], error: 'is a share: at most 1' });

/** Parts of a scenario: which fields there are, and what each may hold. Every field may be left out. */
export const sections = {
  dataset: z
    .strictObject({
      samples: count.max(2 ** 48),
      sample_bytes: distribution(2 ** 40),
      samples_per_object: count.max(2 ** 32),
    })
    .partial(),
  training: z
    .strictObject({
      epochs: count.max(1e6),
      gpus: count.max(layout.MAX_CONSUMERS),
      batch_samples_per_gpu: count.max(layout.MAX_SAMPLES / 2),
      gpu_samples_per_s: rate(1e9),
      shuffle: z.enum(['none', 'sample', 'block']),
      tail: z.enum(['drop', 'pad', 'partial']),
      host_us_per_sample: atLeastZero.max(1e9),
      access,
      checkpoint: z.strictObject({ every_batches: count, pause_s: atLeastZero.max(1e5) }).nullable(),
    })
    .partial(),
  store: z
    .strictObject({
      first_byte_ms: distribution(1e7),
      slow_tail: z.strictObject({ share, factor: z.number().min(1).max(1e6) }).partial(),
      connection_mb_per_s: rateOrNone,
      total_mb_per_s: rateOrNone,
      requests_per_s: rateOrNone,
      over_limit: z.enum(['503', 'queue']),
      error_share: z.number().min(0).lt(1),
      hang_share: z.number().min(0).lt(1),
    })
    .partial(),
  network: z.strictObject({ gbit_per_s: rate(1e6), rtt_ms: atLeastZero.max(1e5) }).partial(),
  host: z.strictObject({ cores: count.max(4096), memcpy_gb_per_s: rate(1e6) }).partial(),
  dpu: z
    .strictObject({
      cores: count.max(4096),
      core_speed: rate(100),
      memcpy_gb_per_s: rate(1e6),
      memory_mib: positive.max(2 ** 30),
    })
    .partial(),
  pcie: z
    .strictObject({
      dpu_to_host_gb_per_s: rate(1e6),
      host_to_gpu_gb_per_s: rate(1e6),
      dpu_to_gpu_gb_per_s: rate(1e6),
      direct: z.boolean(),
    })
    .partial(),
  clients: z
    .strictObject({
      s3fs: z
        .strictObject({ ...reader, concurrency: count.max(4096), readahead_parts: count.max(4096) })
        .partial(),
      s3connector: z.strictObject({ ...reader, workers: count.max(4096) }).partial(),
      os2g: z.strictObject(cpu).partial(),
      relay_host: z.strictObject(cpu).partial(),
      naive: z.enum(['s3fs', 's3connector']),
    })
    .partial(),
  policy: z.strictObject({ preset: z.string(), set: z.record(z.string(), z.unknown()) }).partial(),
} as const;

/** A scenario as users write it: anything but `schema` may be missing. */
export const scenarioInput = z.strictObject({
  schema: z.literal('os2g.scenario/1'),
  name: z.string().min(1).max(200).optional(),
  profile: z.string().optional(),
  seed: z.int().min(0).optional(),
  dataset: sections.dataset.optional(),
  training: sections.training.optional(),
  store: sections.store.optional(),
  network: sections.network.optional(),
  host: sections.host.optional(),
  dpu: sections.dpu.optional(),
  pcie: sections.pcie.optional(),
  clients: sections.clients.optional(),
  memory_budget_mib: positive.max(2 ** 26).optional(),
  policy: sections.policy.optional(),
  pipelines: z.array(z.enum(PIPELINE_NAMES)).min(1).optional(),
  faults: z.array(fault).max(10000).optional(),
  nodes: count.max(65536).optional(),
});

export type ScenarioInput = z.infer<typeof scenarioInput>;
