import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Core, type CoreBuild } from '../../runtime-node/core.js';
import { readTrace, replayTrace } from '../../runtime-node/feed/replay.js';
import { CorePool } from '../../simulator/core-pool.js';
import type { NodeSample, Observer } from '../../simulator/observer.js';
import { loadScenario } from '../../simulator/scenario/load.js';
import { PIPELINE_NAMES } from '../../simulator/scenario/types.js';
import { simulate } from '../../simulator/simulate.js';
import { cores, ideal, type Parts, reproducible, run, runOne, withParts } from './kit.js';

const busy: Parts = {
  schema: 'os2g.scenario/1',
  profile: 'paper',
  seed: 11,
  dataset: { samples: 4096 },
  training: { batch_samples_per_gpu: 64, gpus: 2 },
  store: { error_share: 0.01, hang_share: 0.001, requests_per_s: 4000 },
  policy: { set: { 'limits.first_byte': '500ms' } },
  faults: [
    { at_s: 0.3, for_s: 0.1, kind: 'outage' },
    { at_s: 0.6, for_s: 0.2, kind: 'throttle', factor: 0.2 },
  ],
};

test('the document has every field of the contract', async () => {
  const result = await run(busy);
  assert.equal(Object.keys(result).slice(0, 3), ['schema', 'scenario_sha256', 'core_sha256']);
  const fields = [
    'pipeline',
    'epoch_s',
    'samples_per_s',
    'gpu_busy_share',
    'host_cpu_s',
    'dpu_cpu_s',
    'host_bytes_copied',
    'stall_s',
    'requests',
    'retries',
    'hedges',
    'bytes_fetched',
    'bytes_delivered',
    'memory_peak_bytes',
    'bound',
    'run_hash',
    'core_events',
    'wall_s',
    'core_events_per_s',
    'padded',
  ];
  const causes = [
    'start',
    'store',
    'throttle',
    'network',
    'client_cpu',
    'host_work',
    'memory',
    'transfer',
    'barrier',
  ];
  assert.equal(
    result.results.map((r) => r.pipeline),
    [...PIPELINE_NAMES],
  );
  for (const one of result.results) {
    for (const field of fields) assert.ok(field in one, `${one.pipeline}: ${field}`);
    assert.equal(Object.keys(one.stall_s), causes);
    assert.match(one.run_hash, /^[0-9a-f]{16}$/);
    assert.ok(JSON.stringify(one).includes('null') === false, 'no number is missing');
  }
});

test('debug, release and wasi builds of the core: the same bytes out, but for the hash of the binary', async () => {
  const outputs = await Promise.all(
    (['debug', 'release', 'wasi'] as CoreBuild[]).map(async (build) => {
      const result = await run(busy, { cores: await CorePool.load(build) });
      return reproducible({ ...result, core_sha256: '' });
    }),
  );
  assert.is(outputs[1], outputs[0]);
  assert.is(outputs[2], outputs[0]);
});

test('a core that ran something else before gives the same run', async () => {
  const pool = await CorePool.load();
  const first = reproducible(await run(busy, { cores: pool }));
  await run(ideal(), { cores: pool });
  assert.is(reproducible(await run(busy, { cores: pool })), first);
});

test('the trace of a simulated feeder replays to the same hash', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'os2g-sim-'));
  const trace = join(folder, 'run.trace');
  try {
    for (const parts of [
      busy,
      withParts(busy, { training: { access: { kind: 'zipf', exponent: 1.1, lookahead_batches: 2 } } }),
    ]) {
      for (const pipeline of ['os2g', 'os2g-host'] as const) {
        const result = await runOne(parts, pipeline, { trace });
        const replay = replayTrace(await Core.load(), readTrace(trace));
        assert.equal([replay.match, replay.truncated, replay.run_hash], [true, false, result.run_hash]);
        assert.is(replay.events, result.core_events);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a trace of loaders only is refused', async () => {
  try {
    await run(busy, { pipelines: ['s3fs'], trace: 'never-written' });
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /^trace: none of the pipelines s3fs has a core/);
  }
});

test('an observer sees every request, step and sample, and changes nothing', async () => {
  const alone = await runOne(busy, 'os2g');
  const seen = { requests: 0, bytes: 0, steps: 0, delivered: 0, samples: 0, busyNs: 0, ended: 0 };
  const observer: Observer = {
    sampleEveryNs: 5e6,
    begin: (pipeline, nodes, gpus) => assert.equal([pipeline, nodes, gpus], ['os2g', 1, 2]),
    sample: (_now: number, _node: number, state: Readonly<NodeSample>) => {
      seen.samples++;
      assert.ok(state.busyNs >= seen.busyNs);
      seen.busyNs = state.busyNs;
      assert.ok(state.memoryBytes <= 256 * 2 ** 20);
    },
    request: (_node, sentNs, firstByteNs, endNs, bytes, failureClass) => {
      assert.ok(sentNs <= firstByteNs && firstByteNs <= endNs);
      seen.requests++;
      if (failureClass === 0) seen.bytes += bytes;
    },
    step: () => seen.steps++,
    delivered: () => seen.delivered++,
    end: () => seen.ended++,
  };
  const watched = await runOne(busy, 'os2g', { observer });
  const { wall_s: _w, core_events_per_s: _r, simulated_events: _s, ...same } = watched;
  const { wall_s: _w2, core_events_per_s: _r2, simulated_events: _s2, ...before } = alone;
  assert.equal(same, before);
  assert.equal([seen.steps, seen.delivered, seen.ended], [32, 64, 1]);
  assert.ok(seen.samples >= alone.epoch_s[0]! / 5e-3);
  assert.ok(seen.bytes >= alone.bytes_delivered);
});

test('the hash of the file is that of its bytes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'os2g-sim-'));
  const file = join(folder, 'scenario.json');
  try {
    const text = `\n${JSON.stringify(ideal(), null, 3)}\n`;
    writeFileSync(file, text);
    const { scenario_sha256, core_sha256 } = await simulate(loadScenario(file), { cores: await cores() });
    assert.is(scenario_sha256, createHash('sha256').update(text).digest('hex'));
    assert.is(core_sha256, (await Core.load()).sha256);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('several nodes: one core each, one store; fairness is told', async () => {
  const parts = withParts(busy, {
    nodes: 8,
    faults: [],
    dataset: { samples: 16384 },
    training: { gpus: 1, batch_samples_per_gpu: 32 },
  });
  const result = await runOne(parts, 'os2g');
  assert.ok(result.fairness!.jain > 0.9 && result.fairness!.jain <= 1 + 1e-12, `${result.fairness!.jain}`);
  assert.ok(result.fairness!.first_node_s <= result.fairness!.last_node_s);
  assert.is(result.fairness!.last_node_s, result.epoch_s[0]);
  assert.is(result.samples, 16384);
});

test('512 feeders of 8 GPUs and one store with a cap on requests', async () => {
  const parts = {
    schema: 'os2g.scenario/1',
    profile: 'bluefield3',
    dataset: { samples: 16384 },
    training: { gpus: 8, batch_samples_per_gpu: 2 },
    store: { requests_per_s: 20000, total_mb_per_s: 10000 },
    nodes: 512,
  };
  const result = await runOne(parts, 'os2g');
  assert.equal([result.samples, result.failed], [16384, undefined]);
  assert.ok(result.fairness!.jain > 0 && result.fairness!.jain <= 1 + 1e-12);
  assert.ok(result.bound.epoch_s <= result.epoch_s[0]!);
});

test('a run that its policy gives up ends with the reason', async () => {
  const parts = withParts(busy, {
    faults: [{ at_s: 0.1, for_s: 1000, kind: 'outage' }],
    policy: { set: { 'retry.attempts': 2 } },
  });
  const { failed, epoch_s } = await runOne(parts, 'os2g');
  assert.equal(epoch_s, []);
  assert.ok(failed!.at_s > 0.1 && failed!.at_s < 10);
});

test.run();
