// Every wait of a GPU is charged to what it waited for, in runs that end early too.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PipelineResult } from '../../simulator/result.js';
import { ideal, type Parts, runOne, withParts } from './kit.js';

const constant = (value: number): Parts => ({ kind: 'constant', value });
const oneBatchKnown = { kind: 'zipf', exponent: 1, lookahead_batches: 0 };

/** Ten batches, each asked for when the one before is computed: CPU of its requests, then their first bytes. */
function bursts(cores: number, cpuUs: number, firstByteMs: number, batch: number): Parts {
  return ideal({
    dataset: { samples: 10 * batch, sample_bytes: constant(1000) },
    training: { batch_samples_per_gpu: batch, access: oneBatchKnown },
    store: { first_byte_ms: constant(firstByteMs) },
    host: { cores },
    clients: { os2g: { cpu_us_per_request: cpuUs } },
  });
}

// The first batch is the start's, so nine count; of its burst the CPU is `cpuMs`, and the rest is the store's.
const rows: [cores: number, cpuUs: number, firstByteMs: number, batch: number, cpuMs: number][] = [
  [1, 1, 500, 10, 0.01],
  [2, 1, 500, 10, 0.005],
  [12, 1, 500, 10, 0],
  [32, 60, 100, 256, 0.48],
  [1, 1000, 1, 10, 10],
];
for (const [hostCores, cpuUs, firstByteMs, batch, cpuMs] of rows) {
  test(`os2g-host: ${batch} requests of ${cpuUs} us on ${hostCores} cores: ${cpuMs} ms of each wait are the CPU's`, async () => {
    const { stall_s } = await runOne(bursts(hostCores, cpuUs, firstByteMs, batch), 'os2g-host');
    near(stall_s.client_cpu, 9 * cpuMs * 1e-3);
    near(stall_s.store, 9 * firstByteMs * 1e-3);
  });
}

test('one request after the other on one core: the CPU of each, and not its latency', async () => {
  const scenario = withParts(bursts(1, 60, 100, 1), { policy: { preset: 'sync' } });
  const { stall_s } = await runOne(scenario, 'os2g-host');
  near(stall_s.client_cpu, 9 * 60e-6);
  near(stall_s.store, 9 * 0.1);
});

test('bodies that wait for a core are the CPU', async () => {
  const scenario = withParts(bursts(1, 0, 1, 10), {
    dataset: { sample_bytes: constant(1e6) },
    clients: { os2g: { cpu_us_per_mb: 10_000 } },
  });
  const { stall_s } = await runOne(scenario, 'os2g-host');
  near(stall_s.client_cpu, 9 * 0.1);
  near(stall_s.store, 9 * 0.001);
});

test('a loader and the core charge the same world alike', async () => {
  const scenario = withParts(bursts(1, 60, 100, 1), { clients: { s3connector: { cpu_us_per_request: 60 } } });
  const own = (await runOne(scenario, 'os2g-host')).stall_s;
  const peer = (await runOne(scenario, 's3connector')).stall_s;
  near(own.client_cpu, peer.client_cpu);
  near(own.store, peer.store);
});

/** Up to what links and copies of the ideal world cost in all batches, and CPU of requests for which a core is free. */
function near(gotS: number, wantedS: number): void {
  assert.ok(Math.abs(gotS - wantedS) < 1e-5, `${gotS} s, expected ${wantedS} s`);
}

const failing = ideal({
  dataset: { samples: 0, sample_bytes: constant(1e5) },
  training: { batch_samples_per_gpu: 3 },
  store: { error_share: 0.3 },
  policy: { set: { 'retry.attempts': 4 } },
});
const machines: [gpus: number, nodes: number, firstByteMs: number][] = [
  [1, 1, 5],
  [2, 1, 5],
  [4, 1, 50],
  [1, 2, 5],
  [2, 3, 50],
];
const work: [what: string, training: Parts][] = [
  ['a short step', { gpu_samples_per_s: 100 }],
  ['a long step', { gpu_samples_per_s: 10 }],
  ["the host's work", { gpu_samples_per_s: 100, host_us_per_sample: 50_000 }],
  ['pauses', { gpu_samples_per_s: 1000, checkpoint: { every_batches: 1, pause_s: 0.3 } }],
  ['short last steps', { gpu_samples_per_s: 10, epochs: 3, tail: 'partial' }],
];
for (const [gpus, nodes, firstByteMs] of machines) {
  for (const [what, training] of work) {
    test(`a run that fails: ${gpus} GPUs, ${nodes} nodes, ${what}: causes add up to the idle time`, async () => {
      let failed = 0;
      for (const seed of [1, 2, 3, 4]) {
        const scenario = withParts(failing, {
          seed,
          nodes,
          dataset: { samples: 61 * nodes * gpus },
          training: { gpus, ...training },
          store: { first_byte_ms: constant(firstByteMs) },
          host: { cores: 2 },
          clients: { os2g: { cpu_us_per_request: 2000 } },
        });
        const result = await runOne(scenario, 'os2g-host');
        if (result.failed) failed++;
        checkTimes(result, gpus * nodes, 2 * nodes);
      }
      assert.ok(failed > 0, 'no run failed');
    });
  }
}

/** What holds of every run. */
function checkTimes(result: PipelineResult, gpus: number, hostCores: number): void {
  const { failed, stall_s, gpu_idle_s, gpu_busy_share, host_cpu_s, epoch_s } = result;
  const endS = failed ? failed.at_s : epoch_s.reduce((a, b) => a + b);
  const chargedNs = Object.values(stall_s).reduce((sum, s) => sum + Math.round(s * 1e9), 0);
  assert.is(chargedNs, Math.round(gpu_idle_s * 1e9));
  for (const [cause, s] of Object.entries(stall_s)) assert.ok(s >= 0, `${cause}: ${s}`);
  assert.ok(gpu_busy_share >= 0 && gpu_busy_share <= 1, `busy ${gpu_busy_share}`);
  assert.ok(gpu_idle_s >= 0 && gpu_idle_s <= endS * gpus + 1e-9, `idle ${gpu_idle_s}`);
  assert.ok(host_cpu_s <= endS * hostCores + 1e-9, `${host_cpu_s} s of ${hostCores} cores in ${endS} s`);
}

test('a node that had done its last step before another one failed is idle up to its own end only', async () => {
  const result = await runOne(
    withParts(failing, {
      seed: 5,
      nodes: 2,
      dataset: { samples: 12 },
      training: { gpu_samples_per_s: 1e6 },
      store: { error_share: 0, hang_share: 0.1 },
      policy: { set: { 'retry.attempts': 1, 'hedge.share': 0, 'limits.first_byte': '2s' } },
    }),
  );
  assert.ok(result.failed);
  checkTimes(result, 2, 128);
});

test.run();
