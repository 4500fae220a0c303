import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PIPELINE_NAMES } from '../../simulator/scenario/types.js';
import { cores, type Parts, reproducible, run } from './kit.js';

const RUNS = Number(process.env.OS2G_SIM_PROPERTY_RUNS ?? 60);

const log = (least: number, most: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: 1000 }).map((n) => least * (most / least) ** (n / 1000));

const size = fc.oneof(
  log(1, 4e6).map((value) => ({ kind: 'constant', value })),
  fc.tuple(log(1, 1e6), log(1, 4)).map(([low, ratio]) => ({ kind: 'uniform', low, high: low * ratio })),
  fc
    .tuple(log(1e3, 1e6), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([median, sigma]) => ({ kind: 'lognormal', median, sigma })),
  fc.constant({
    kind: 'quantiles',
    points: [
      [0, 1000],
      [0.5, 50_000],
      [1, 400_000],
    ],
  }),
);
const latency = fc.oneof(
  log(0.01, 100).map((value) => ({ kind: 'constant', value })),
  fc
    .tuple(log(0.1, 50), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([median, sigma]) => ({ kind: 'lognormal', median, sigma })),
  fc.constant({
    kind: 'quantiles',
    points: [
      [0, 1],
      [0.5, 8],
      [0.99, 60],
      [1, 400],
    ],
  }),
);
const cost = fc.record({
  cpu_us_per_request: fc.oneof(fc.constant(0), log(1, 3000)),
  cpu_us_per_mb: fc.oneof(fc.constant(0), log(10, 5000)),
});
const rateOrNone = (least: number, most: number) => fc.oneof(fc.constant(null), log(least, most));
const fault = fc.oneof(
  fc.record({
    at_s: fc.constantFrom(0, 0.05, 0.3),
    for_s: log(0.01, 0.5),
    kind: fc.constant('throttle'),
    factor: fc.constantFrom(0.1, 0.5, 2),
  }),
  fc.record({
    at_s: fc.constantFrom(0, 0.05),
    for_s: log(0.01, 0.5),
    kind: fc.constant('latency'),
    factor: fc.constantFrom(0.5, 4),
  }),
  fc.record({
    at_s: fc.constantFrom(0, 0.05),
    for_s: log(0.01, 0.5),
    kind: fc.constant('error'),
    factor: fc.constantFrom(0.05, 0.3),
  }),
  fc.record({ at_s: fc.constantFrom(0, 0.05), for_s: log(0.01, 0.2), kind: fc.constant('outage') }),
);

const scenarios: fc.Arbitrary<Parts> = fc.record({
  schema: fc.constant('os2g.scenario/1'),
  profile: fc.constantFrom('paper', 'bluefield2', 'bluefield3', 'host-only', 'laptop'),
  seed: fc.integer({ min: 0, max: 2 ** 50 }),
  dataset: fc.record({
    samples: fc.integer({ min: 400, max: 800 }),
    sample_bytes: size,
    samples_per_object: fc.constantFrom(1, 1, 7, 100),
  }),
  training: fc.record({
    epochs: fc.constantFrom(1, 1, 2, 3),
    gpus: fc.constantFrom(1, 1, 2, 4),
    batch_samples_per_gpu: fc.constantFrom(1, 8, 32),
    gpu_samples_per_s: log(200, 1e6),
    shuffle: fc.constantFrom('none', 'sample', 'block'),
    tail: fc.constantFrom('drop', 'pad', 'partial'),
    host_us_per_sample: fc.oneof(fc.constant(0), log(1, 2000)),
    access: fc.oneof(
      fc.constant({ kind: 'epoch' }),
      fc
        .constantFrom(0, 1, 5)
        .map((lookahead_batches) => ({ kind: 'zipf', exponent: 1.1, lookahead_batches })),
    ),
  }),
  store: fc.record({
    first_byte_ms: latency,
    slow_tail: fc.record({ share: fc.constantFrom(0, 0.02), factor: fc.constantFrom(1, 10) }),
    connection_mb_per_s: rateOrNone(5, 500),
    total_mb_per_s: rateOrNone(50, 5000),
    requests_per_s: rateOrNone(300, 20000),
    over_limit: fc.constantFrom('503', 'queue'),
    error_share: fc.constantFrom(0, 0, 0.02),
    hang_share: fc.constantFrom(0, 0, 0, 0.002),
  }),
  network: fc.record({ gbit_per_s: log(0.5, 100), rtt_ms: fc.constantFrom(0, 0.3, 5) }),
  clients: fc.record({
    s3fs: cost,
    s3connector: cost,
    os2g: cost,
    relay_host: cost,
    naive: fc.constantFrom('s3fs', 's3connector'),
  }),
  memory_budget_mib: fc.constantFrom(768, 2048),
  policy: fc.constantFrom({}, {}, { set: { 'retry.attempts': 2 } }),
  faults: fc.array(fault, { maxLength: 2 }),
  nodes: fc.constantFrom(1, 1, 1, 3),
});

test('no pipeline beats its bound, stalls are the idle time, and all read the same bytes', async () => {
  const pool = await cores(3);
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { results } = await run(scenario, { cores: pool, pipelines: PIPELINE_NAMES });
      const whole = results.filter((result) => result.failed === undefined);
      for (const { pipeline, stall_s, gpu_idle_s, gpu_busy_share, ...result } of results) {
        const stalledNs = Object.values(stall_s).reduce((sum, s) => sum + Math.round(s * 1e9), 0);
        assert.is(stalledNs, Math.round(gpu_idle_s * 1e9), `${pipeline}: stalls against idle time`);
        for (const [cause, s] of Object.entries(stall_s)) assert.ok(s >= 0, `${pipeline}: ${cause} ${s}`);
        assert.ok(gpu_busy_share > (result.failed ? -1e-12 : 0) && gpu_busy_share <= 1);
      }
      for (const result of whole) {
        seen++;
        const { pipeline, epoch_s, bound } = result;
        for (const epoch of epoch_s) {
          assert.ok(
            bound.epoch_s <= epoch,
            `${pipeline}: epoch ${epoch} s, bound ${bound.epoch_s} s by ${bound.by}`,
          );
        }
        assert.ok(
          result.bytes_fetched >= result.bytes_delivered * (1 - 1e-9),
          `${pipeline}: fetched less than delivered`,
        );
        assert.is(result.bytes_delivered, whole[0]!.bytes_delivered, `${pipeline}: other bytes`);
        assert.is(result.samples, whole[0]!.samples);
        assert.is(result.padded, whole[0]!.padded);
        const hasCore = ['relay', 'os2g', 'os2g-host'].includes(pipeline);
        if (hasCore) assert.ok(result.memory_peak_bytes <= Number(scenario.memory_budget_mib) * 2 ** 20);
      }
    }),
    { numRuns: RUNS, includeErrorInReport: true },
  );
  assert.ok(seen > RUNS, `${seen} pipelines ran to their end`);
});

test('the same scenario and seed: the same bytes out; another seed: others', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const pool = await cores(3);
      const first = reproducible(await run(scenario, { cores: pool }));
      const second = reproducible(await run(scenario, { cores: pool }));
      assert.is(first, second);
      assert.is.not(reproducible(await run(scenario, { cores: pool, seed: 12345 })), first);
    }),
    { numRuns: Math.ceil(RUNS / 8) },
  );
});

test.run();
