// What the design says must show, as scenarios: the comparison has to be able to come out against os2g.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PipelineName } from '../../simulator/scenario/types.js';
import { type Parts, run, runOne, totalSeconds, withParts } from './kit.js';

/** The machine of the paper's profile on a data set that is short enough for a test. */
const paper: Parts = { schema: 'os2g.scenario/1', profile: 'paper', dataset: { samples: 20_480 } };

async function seconds(scenario: Parts, pipelines: PipelineName[]): Promise<number[]> {
  const { results } = await run(scenario, { pipelines });
  return results.map(totalSeconds);
}

test('all six pipelines in one table: the better client gains most, then the host is freed', async () => {
  const { results } = await run(paper);
  const by = new Map(results.map((result) => [result.pipeline, result]));
  const connector = by.get('s3connector')!;
  const onHost = by.get('os2g-host')!;
  const relay = by.get('relay')!;
  const direct = by.get('os2g')!;
  assert.equal(
    results.map((r) => r.pipeline),
    ['s3fs', 's3connector', 'naive-offload', 'relay', 'os2g', 'os2g-host'],
  );
  assert.ok(totalSeconds(onHost) < 0.6 * totalSeconds(connector), 'better client');
  assert.ok(relay.host_cpu_s < onHost.host_cpu_s, 'off the host');
  assert.ok(direct.host_cpu_s < relay.host_cpu_s, 'direct');
  assert.is(direct.host_bytes_copied, 0);
  assert.ok(totalSeconds(direct) <= 1.001 * totalSeconds(relay));
});

test("the paper's four numbers, within three percentage points, on a twentieth of the epoch", async () => {
  const { results } = await run(withParts(paper, { dataset: { samples: 64_000 } }), {
    pipelines: ['s3fs', 's3connector', 'os2g'],
  });
  const [s3fs, connector, os2g] = results as [(typeof results)[0], (typeof results)[0], (typeof results)[0]];
  const change = (now: number, before: number): number => 100 * (now / before - 1);
  const rows: [string, number, number][] = [
    ['time against s3fs', change(totalSeconds(os2g), totalSeconds(s3fs)), -34.3],
    ['time against s3connector', change(totalSeconds(os2g), totalSeconds(connector)), -50.4],
    ['host CPU against s3fs', change(os2g.host_cpu_s, s3fs.host_cpu_s), -61.9],
    ['host CPU against s3connector', change(os2g.host_cpu_s, connector.host_cpu_s), -57.7],
  ];
  for (const [what, got, said] of rows)
    assert.ok(Math.abs(got - said) <= 3, `${what}: ${got.toFixed(1)} %, said ${said} %`);
});

test('irregular access gains less: what is not known ahead cannot be fetched ahead', async () => {
  const known = await seconds(paper, ['s3connector', 'os2g']);
  const access = { kind: 'zipf', exponent: 1.1, lookahead_batches: 0 };
  const unknown = await seconds(withParts(paper, { training: { access } }), ['s3connector', 'os2g']);
  assert.ok(unknown[1]! > known[1]!, 'os2g is slower than with a known order');
  const ahead = await seconds(
    withParts(paper, { training: { access: { ...access, lookahead_batches: 4 } } }),
    ['os2g'],
  );
  assert.ok(ahead[0]! < unknown[1]!, 'a look-ahead gives it back');
  assert.ok(ahead[0]! < 1.05 * known[1]!);
});

test('a pipeline that is not bound by its client gains little', async () => {
  const slowGpu = withParts(paper, { training: { gpu_samples_per_s: 400 } });
  const [connector, os2g] = await seconds(slowGpu, ['s3connector', 'os2g']);
  assert.ok(os2g! > 0.97 * connector!, `${os2g} s against ${connector} s`);
});

test('a store that is the limit leaves nothing to gain for anybody', async () => {
  const slowStore = withParts(paper, { store: { total_mb_per_s: 60 } });
  const [connector, onHost, os2g] = await seconds(slowStore, ['s3connector', 'os2g-host', 'os2g']);
  assert.ok(os2g! > 0.95 * connector!);
  assert.ok(os2g! > 0.99 * onHost!);
});

test('without the direct path os2g equals relay, number by number', async () => {
  const { results } = await run(withParts(paper, { pcie: { direct: false } }), {
    pipelines: ['relay', 'os2g'],
  });
  const [relay, os2g] = results.map(({ pipeline: _p, wall_s: _w, core_events_per_s: _r, ...rest }) => rest);
  assert.equal(os2g, relay);
});

test('naive offload: worse than the client on the host where cores are weak, and the more so the weaker', async () => {
  const [host] = await seconds(paper, ['s3connector']);
  const weak = await Promise.all(
    [1, 0.4, 0.2].map((core_speed) => runOne(withParts(paper, { dpu: { core_speed } }), 'naive-offload')),
  );
  const times = weak.map(totalSeconds);
  assert.ok(times[1]! > 1.2 * host!, `${times[1]} s against ${host} s`);
  assert.ok(times[2]! > 1.3 * times[1]!);
  assert.ok(times[0]! < times[1]!);
});

test('naive offload: many weak cores may be fast in sum', async () => {
  const few = { clients: { s3connector: { workers: 4 } } };
  const many = { clients: { s3connector: { workers: 32 } }, dpu: { cores: 32 } };
  const [host] = await seconds(withParts(paper, few), ['s3connector']);
  const [moved] = await seconds(withParts(paper, many), ['naive-offload']);
  assert.ok(moved! < host!);
});

test('decoding that stays on the host caps what can be saved', async () => {
  const saved = async (host_us_per_sample: number): Promise<number> => {
    const scenario = withParts(paper, {
      training: { host_us_per_sample, gpu_samples_per_s: 800 },
      host: { cores: 32 },
    });
    const { results } = await run(scenario, { pipelines: ['s3connector', 'os2g'] });
    return 1 - results[1]!.host_cpu_s / results[0]!.host_cpu_s;
  };
  const [none, some, decode] = [await saved(0), await saved(900), await saved(5500)];
  assert.is(none, 1);
  assert.ok(none > some && some > decode);
  assert.ok(decode < 0.25, `${decode} of the host's CPU saved although it decodes`);
});

test('loader workers that decode on too few cores: the host is what binds, and the bound says so', async () => {
  const { bound, stall_s } = await runOne(
    withParts(paper, { training: { host_us_per_sample: 8000 } }),
    'os2g',
  );
  assert.is(bound.by, 'host_cpu');
  assert.ok(stall_s.host_work > 0.8 * Object.values(stall_s).reduce((a, b) => a + b, 0));
});

test("a client that its own cores hold back: the wait is charged to the client's CPU", async () => {
  const { stall_s, gpu_idle_s } = await runOne(
    withParts(paper, { dpu: { cores: 1, core_speed: 0.1 }, training: { host_us_per_sample: 0 } }),
    'os2g',
  );
  assert.ok(stall_s.client_cpu > 0.9 * gpu_idle_s, JSON.stringify(stall_s));
});

test('each station can be the one that binds', async () => {
  const rows: [string, Parts, PipelineName][] = [
    ['gpu', {}, 'os2g'],
    ['network', { network: { gbit_per_s: 0.5 } }, 'os2g'],
    ['store_rate', { store: { total_mb_per_s: 40 } }, 'os2g'],
    ['store_requests', { store: { requests_per_s: 300 } }, 'os2g'],
    [
      'store_latency',
      {
        training: { access: { kind: 'zipf', exponent: 1, lookahead_batches: 0 } },
        store: { first_byte_ms: { kind: 'constant', value: 500 } },
      },
      'os2g',
    ],
    ['dpu_cpu', { dpu: { cores: 1, core_speed: 0.1 } }, 'os2g'],
    [
      'host_cpu',
      { host: { cores: 1 }, training: { gpu_samples_per_s: 20_000 }, store: { requests_per_s: null } },
      'os2g-host',
    ],
    ['pcie', { pcie: { dpu_to_host_gb_per_s: 0.1 } }, 'relay'],
    [
      'memory',
      { memory_budget_mib: 100, store: { first_byte_ms: { kind: 'constant', value: 900 } } },
      'os2g',
    ],
  ];
  for (const [by, parts, pipeline] of rows) {
    const result = await runOne(
      withParts(withParts(paper, { training: { host_us_per_sample: 0 }, dataset: { samples: 5120 } }), parts),
      pipeline,
    );
    assert.is(result.bound.by, by, JSON.stringify(result.bound));
    assert.ok(result.bound.epoch_s <= totalSeconds(result));
  }
});

test.run();
