// Case 30 and its kin: nothing starts on a scenario that cannot be meant.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { PROFILES } from '../../simulator/profiles/index.js';
import { notesOf, valuesOf } from '../../simulator/profiles/parameter.js';
import { loadScenario } from '../../simulator/scenario/load.js';
import type { PipelineName } from '../../simulator/scenario/types.js';
import { simulateNow } from '../../simulator/simulate.js';
import { cores, type Parts, runOne } from './kit.js';

const base: Parts = { schema: 'os2g.scenario/1', profile: 'paper' };
const constant = (value: number): Parts => ({ kind: 'constant', value });

const rows: [field: string, parts: Parts][] = [
  ['store.first_byte_ms.value', { store: { first_byte_ms: constant(Number.NaN) } }],
  ['store.first_byte_ms.value', { store: { first_byte_ms: constant(-1) } }],
  ['store.first_byte_ms.value', { store: { first_byte_ms: constant(Number.POSITIVE_INFINITY) } }],
  ['store.first_byte_ms.value', { store: { first_byte_ms: { kind: 'constant', value: '20' } } }],
  ['store.first_byte_ms.kind', { store: { first_byte_ms: { kind: 'normal', mean: 1 } } }],
  ['store.first_byte_ms.median', { store: { first_byte_ms: { kind: 'constant', value: 1, median: 2 } } }],
  ['store.first_byte_ms.sigma', { store: { first_byte_ms: { kind: 'lognormal', median: 1 } } }],
  ['store.first_byte_ms.sigma', { store: { first_byte_ms: { kind: 'lognormal', median: 1, sigma: -0.5 } } }],
  ['store.first_byte_ms.high', { store: { first_byte_ms: { kind: 'uniform', low: 3, high: 2 } } }],
  [
    'store.first_byte_ms.points',
    {
      store: {
        first_byte_ms: {
          kind: 'quantiles',
          points: [
            [0, 1],
            [0.5, 3],
            [0.4, 5],
            [1, 6],
          ],
        },
      },
    },
  ],
  [
    'store.first_byte_ms.points',
    {
      store: {
        first_byte_ms: {
          kind: 'quantiles',
          points: [
            [0, 4],
            [1, 3],
          ],
        },
      },
    },
  ],
  [
    'store.first_byte_ms.points',
    {
      store: {
        first_byte_ms: {
          kind: 'quantiles',
          points: [
            [0.1, 1],
            [1, 3],
          ],
        },
      },
    },
  ],
  ['store.first_byte_ms.points', { store: { first_byte_ms: { kind: 'quantiles', points: [[1, 3]] } } }],
  ['store.first_byte_ms.points', { store: { first_byte_ms: { kind: 'quantiles', points: [] } } }],
  ['store.first_byte_ms.points.0', { store: { first_byte_ms: { kind: 'quantiles', points: [[], [1, 2]] } } }],
  ['dataset.sample_bytes.points', { dataset: { sample_bytes: { kind: 'quantiles', points: [] } } }],
  ['store.slow_tail.share', { store: { slow_tail: { share: 1.5, factor: 2 } } }],
  ['store.slow_tail.factor', { store: { slow_tail: { share: 0.5, factor: 0.5 } } }],
  ['store.connection_mb_per_s', { store: { connection_mb_per_s: 0 } }],
  ['store.total_mb_per_s', { store: { total_mb_per_s: -5 } }],
  ['store.requests_per_s', { store: { requests_per_s: 0 } }],
  ['store.over_limit', { store: { over_limit: '429' } }],
  ['store.error_share', { store: { error_share: 1 } }],
  ['store.hang_share', { store: { error_share: 0.5, hang_share: 0.5 } }],
  ['store.latency_ms', { store: { latency_ms: 3 } }],
  ['network.gbit_per_s', { network: { gbit_per_s: 0 } }],
  ['network.gbit_per_s', { network: { gbit_per_s: 1e-300 } }],
  ['store.requests_per_s', { store: { requests_per_s: 1e-300 } }],
  ['store.total_mb_per_s', { store: { total_mb_per_s: 1e-300 } }],
  ['store.connection_mb_per_s', { store: { connection_mb_per_s: 1e-300 } }],
  ['host.memcpy_gb_per_s', { host: { memcpy_gb_per_s: 1e-300 } }],
  ['dpu.core_speed', { dpu: { core_speed: 1e-300 } }],
  ['pcie.dpu_to_gpu_gb_per_s', { pcie: { dpu_to_gpu_gb_per_s: 1e-300 } }],
  ['training.gpu_samples_per_s', { training: { gpu_samples_per_s: 1e-300 } }],
  ['clients.s3connector.part_mb', { clients: { s3connector: { part_mb: 1e-9 } } }],
  ['network.rtt_ms', { network: { rtt_ms: -0.1 } }],
  ['host.cores', { host: { cores: 0 } }],
  ['host.cores', { host: { cores: 2.5 } }],
  ['dpu.core_speed', { dpu: { core_speed: 0 } }],
  ['dpu.memory_mib', { dpu: { memory_mib: Number.NaN } }],
  ['pcie.direct', { pcie: { direct: 'yes' } }],
  ['clients.os2g.cpu_us_per_request', { clients: { os2g: { cpu_us_per_request: -1 } } }],
  ['clients.os2g.workers', { clients: { os2g: { workers: 4 } } }],
  ['clients.s3fs.concurrency', { clients: { s3fs: { concurrency: 0 } } }],
  ['clients.naive', { clients: { naive: 'os2g' } }],
  ['clients.mountpoint', { clients: { mountpoint: {} } }],
  ['dataset.samples', { dataset: { samples: 0 } }],
  ['dataset.samples', { dataset: { samples: 255 } }],
  ['dataset.sample_bytes.value', { dataset: { sample_bytes: constant(-1) } }],
  ['dataset.sample_bytes', { dataset: { sample_bytes: constant(0) } }],
  ['dataset.sample_bytes', { dataset: { sample_bytes: { kind: 'uniform', low: 0, high: 0 } } }],
  ['dataset.samples_per_object', { dataset: { samples_per_object: 1.5 } }],
  ['training.epochs', { training: { epochs: 0 } }],
  ['training.epochs', { training: { epochs: 1e6 } }],
  ['training.gpus', { training: { gpus: 17 } }],
  ['training.gpu_samples_per_s', { training: { gpu_samples_per_s: Number.NaN } }],
  ['training.batch_samples_per_gpu', { training: { batch_samples_per_gpu: 1e9 } }],
  ['training.batch_samples_per_gpu', { training: { gpus: 16, batch_samples_per_gpu: 10000 } }],
  ['training.shuffle', { training: { shuffle: 'external' } }],
  [
    'training.access.lookahead_batches',
    { training: { access: { kind: 'zipf', exponent: 1, lookahead_batches: -1 } } },
  ],
  [
    'training.access.lookahead_batches',
    { training: { access: { kind: 'zipf', exponent: 1, lookahead_batches: 1000 } } },
  ],
  ['training.access.exponent', { training: { access: { kind: 'zipf', exponent: 0 } } }],
  ['memory_budget_mib', { memory_budget_mib: 20 }],
  ['memory_budget_mib', { memory_budget_mib: 0 }],
  ['memory_budget_mib', { memory_budget_mib: 65536 }],
  ['nodes', { nodes: 0 }],
  ['nodes', { nodes: 65537 }],
  ['nodes', { nodes: 4097, dataset: { samples: 2e6 } }],
  ['seed', { seed: -1 }],
  ['seed', { seed: 1.5 }],
  ['pipelines', { pipelines: [] }],
  ['pipelines', { pipelines: ['os2g', 'os2g'] }],
  ['pipelines.0', { pipelines: ['os3g'] }],
  ['profile', { profile: 'tpu' }],
  ['faults.0.factor', { faults: [{ at_s: 1, for_s: 1, kind: 'throttle' }] }],
  ['faults.0.factor', { faults: [{ at_s: 1, for_s: 1, kind: 'throttle', factor: 0 }] }],
  ['faults.0.factor', { faults: [{ at_s: 1, for_s: 1, kind: 'error', factor: 1.2 }] }],
  ['faults.0.factor', { faults: [{ at_s: 1, for_s: 1, kind: 'outage', factor: 2 }] }],
  ['faults.0.for_s', { faults: [{ at_s: 1, for_s: 0, kind: 'outage' }] }],
  ['faults.0.kind', { faults: [{ at_s: 1, for_s: 1, kind: 'fire' }] }],
  ['policy.preset', { policy: { preset: 'fastest' } }],
  ['policy.set.window.bytes', { policy: { set: { 'window.bytes': 'much' } } }],
  ['policy.set.window.bites', { policy: { set: { 'window.bites': '1MiB' } } }],
  ['policy.set.concurrency.max', { policy: { set: { 'concurrency.max': -1 } } }],
  ['schema', { schema: 'os2g.scenario/2' }],
  ['dateset', { dateset: {} }],
];

for (const [field, parts] of rows) {
  test(`refused, and named: ${field} in ${JSON.stringify(parts)}`, () => {
    try {
      loadScenario({ ...base, ...parts }, { file: 'x.json' });
      assert.unreachable('it was accepted');
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      assert.is(error.exitCode, 2);
      assert.is(error.context.option, field, error.message);
      assert.is(error.code, 'bad_scenario');
      assert.ok(error.message.startsWith(`x.json: ${field}`), error.message);
      assert.ok(error.mend.length > 0);
    }
  });
}

test('a file that is not there, or is not JSON, is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'os2g-sim-'));
  const file = join(folder, 'scenario.json');
  try {
    assert.throws(
      () => loadScenario(file),
      (error: Error) => error.message.includes(file),
    );
    writeFileSync(file, '{ "schema": ');
    assert.throws(
      () => loadScenario(file),
      (error: Error) => error.message.includes(`${file}: is not JSON`),
    );
    for (const [text, field] of [
      ['{"schema":"os2g.scenario/1","nodes":1,"nodes":2}', 'nodes'],
      ['{"schema":"os2g.scenario/1","store":{"error_share":0,"\\u0065rror_share":0.5}}', 'store.error_share'],
      [
        '{"schema":"os2g.scenario/1","faults":[{"kind":"a}\\"{"},{"at_s":1,"kind":[{"a":1}],"at_s":2}]}',
        'faults.1.at_s',
      ],
    ] as const) {
      writeFileSync(file, text);
      assert.throws(
        () => loadScenario(file),
        (error: Error) => error.message === `${file}: ${field}: is there twice`,
        text,
      );
    }
    writeFileSync(file, '{"schema":"os2g.scenario/1","name":"a:{,\\"seed","seed":1,"store":{},"host":{}}');
    assert.is(loadScenario(file).scenario.seed, 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a batch that the landing memory cannot hold ends the run with what it needs', async () => {
  const dataset = { samples: 1024, sample_bytes: constant(110_000) };
  try {
    const loaded = loadScenario({ ...base, dataset, memory_budget_mib: 30 }, { file: 'x.json' });
    simulateNow(loaded, { pipelines: ['os2g'] }, await cores());
    assert.unreachable();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    assert.is(error.context.option, 'memory_budget_mib');
    assert.match(error.message, /^x\.json: memory_budget_mib: 30 MiB give each GPU \d+ bytes/);
    // What is told to be enough is enough.
    const enough = Number(/\((\d+) is enough/.exec(error.mend)![1]);
    await runOne({ ...base, dataset, memory_budget_mib: enough }, 'os2g');
  }
});

test('a run that virtual time cannot hold ends with the pipeline, not with a defect', async () => {
  const slow: [pipeline: PipelineName, parts: Parts][] = [
    ['os2g', { network: { gbit_per_s: 1e-6 } }],
    ['s3connector', { store: { total_mb_per_s: 1e-6 } }],
    ['os2g', { store: { requests_per_s: 1e-6, over_limit: 'queue' }, policy: { preset: 'sync' } }],
    ['os2g', { pcie: { dpu_to_gpu_gb_per_s: 1e-6 } }],
    ['s3fs', { host: { memcpy_gb_per_s: 1e-6 } }],
    ['s3connector', { store: { first_byte_ms: constant(1e7) } }],
  ];
  for (const [pipeline, parts] of slow) {
    try {
      const result = await runOne({ ...base, ...parts, dataset: { samples: 51_200 } }, pipeline);
      // A policy that gives up first has its own reason.
      assert.ok(result.failed, `${pipeline} ${JSON.stringify(parts)} ran through`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      assert.is(error.context.option, 'pipelines');
      assert.match(error.message, `${pipeline} has not come to its end`);
    }
  }
});

test('an option of simulate that there is not is named', async () => {
  try {
    simulateNow(loadScenario(base), { piplines: ['os2g'] } as object, await cores());
    assert.unreachable();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    assert.equal([error.context.option, error.mend], ['piplines', 'did you mean pipelines?']);
  }
});

test('memory of exactly one batch for each GPU is taken', () => {
  const dataset = { samples: 80, sample_bytes: constant(1048576) };
  const training = { batch_samples_per_gpu: 8, gpus: 2 };
  loadScenario({ ...base, dataset, training, memory_budget_mib: 16 });
  assert.throws(
    () => loadScenario({ ...base, dataset, training, memory_budget_mib: 15.99 }),
    /memory_budget_mib/,
  );
});

test('events that do nothing change nothing: a fault after the end, a factor of 1', async () => {
  const scenario = { ...base, dataset: { samples: 2048 } };
  const plain = await runOne(scenario, 'os2g');
  const late = await runOne({ ...scenario, faults: [{ at_s: 5000, for_s: 1, kind: 'outage' }] }, 'os2g');
  const idle = await runOne(
    { ...scenario, faults: [{ at_s: 0.1, for_s: 1, kind: 'latency', factor: 1 }] },
    'os2g',
  );
  for (const other of [late, idle])
    assert.equal([other.run_hash, other.epoch_s], [plain.run_hash, plain.epoch_s]);
});

test('what is missing comes from the profile, and each of its numbers says what it rests on', () => {
  for (const profile of PROFILES) {
    const { scenario, parameters } = loadScenario({
      schema: 'os2g.scenario/1',
      profile: profile.name,
      network: { rtt_ms: 9 },
    });
    const values = valuesOf(profile.parts) as unknown as typeof scenario;
    assert.equal(scenario.store, values.store);
    assert.equal(scenario.network, { ...values.network, rtt_ms: 9 });
    const documented = notesOf(profile.parts);
    assert.is(parameters.length, documented.length);
    for (const { path, basis, source } of documented) {
      assert.ok(
        ['measured', 'cited', 'assumed'].includes(basis) && source.length > 3,
        `${profile.name}: ${path}`,
      );
    }
    assert.is(parameters.find((p) => p.path === 'network.rtt_ms')!.basis, 'scenario');
  }
});

test.run();
