import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Check } from '../../runtime-node/cli/doctor/check.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { auditLines, BUCKET, type Dataset, openDataset, SAMPLES } from '../cli/kit/dataset.js';
import { os2g } from '../cli/kit/process.js';
import { withFake } from './fake-cuda.js';
import { nativeModule } from './module.js';

nativeModule();
const SOURCE = `s3://${BUCKET}/train/`;
let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

test('os2g feed --landing cuda: the audit is that of memory, the result says where and why', () =>
  withFake({}, async ({ env }) => {
    const feed = async (landing: string): Promise<FeedStats> => {
      const argv = ['feed', SOURCE, '--batch-samples', '10', '--memory', '4MiB', '--json'];
      const files = ['--audit', data.file(landing), '--trace', data.file(`${landing}.trace`)];
      const { code, stdout, stderr } = await os2g([...argv, ...files, '--landing', landing], {
        ...data.env,
        ...env,
      });
      assert.is(code, 0, stderr);
      return JSON.parse(stdout) as FeedStats;
    };
    const { landing, memory_peak_bytes, samples, run_hash } = await feed('cuda');
    assert.equal([landing.backend, landing.mode, landing.direct, samples], ['cuda', 'auto', false, SAMPLES]);
    assert.match(landing.reason, /memory of GPU 0 \(Fake GPU 0\)/);
    assert.ok(memory_peak_bytes <= 4 * 2 ** 20);
    await feed('memory');
    assert.equal(auditLines(data.file('cuda')), auditLines(data.file('memory')));
    const replayed = await os2g(['replay', data.file('cuda.trace'), '--json'], {});
    assert.is(replayed.code, 0, replayed.stderr);
    assert.is((JSON.parse(replayed.stdout) as { run_hash: string }).run_hash, run_hash);
  }));

test('what cannot be had ends with exit code 2 and its reason', () =>
  withFake({}, async ({ env }) => {
    const cases: [argv: string[], env: Record<string, string>, code: string, message: RegExp][] = [
      [['--landing', 'ucx'], {}, 'landing_unavailable', /trainer’s process.*`os2g serve`/],
      [['--landing', 'cuda', '--direct', 'on'], {}, 'direct_unavailable', /host’s CPU receives/],
      [['--landing', 'cuda', '--engine', 'portable'], {}, 'landing_unavailable', /native engine/],
      [['--landing', 'cuda'], { OS2G_NATIVE: 'off' }, 'landing_unavailable', /OS2G_NATIVE is off/],
      [
        ['--landing', 'cuda'],
        { OS2G_CUDA_LIBRARY: '/nowhere/libcuda.so.1' },
        'landing_unavailable',
        /No such file/,
      ],
      [['--landing', 'cuda'], { OS2G_FAKE_CUDA_MEMORY: '1000' }, 'memory_too_large', /OUT_OF_MEMORY/],
    ];
    for (const [argv, over, code, message] of cases) {
      const line = ['feed', SOURCE, '--batch-samples', '10', '--json', ...argv];
      const said = await os2g(line, { ...data.env, ...env, ...over });
      assert.is(said.code, 2, `${argv.join(' ')}: ${said.stdout}${said.stderr}`);
      const { error } = JSON.parse(said.stdout) as { error: { code: string; message: string; mend: string } };
      assert.is(error.code, code);
      assert.match(error.message, message);
      assert.ok(error.mend);
    }
  }));

test('os2g doctor tries cuda and ucx: version and GPUs, or why not and what to install', () =>
  withFake({}, async ({ env }) => {
    const doctor = async (over: Record<string, string>): Promise<Map<string, Check>> => {
      const { code, stdout, stderr } = await os2g(['doctor', '--json'], { ...env, ...over });
      assert.is(code, 0, stdout + stderr);
      return new Map((JSON.parse(stdout) as { checks: Check[] }).checks.map((check) => [check.name, check]));
    };
    const there = await doctor({});
    assert.is(there.get('landing (shm)')?.status, 'ok');
    assert.is(there.get('landing (cuda)')?.status, 'ok');
    assert.match(
      there.get('landing (cuda)')?.detail ?? '',
      /^\d+\.\d+; 64 KiB .*GPU 0: Fake GPU 0.*GPU 1: Fake GPU 1/,
    );
    assert.match(there.get('landing (ucx)')?.detail ?? '', /for `os2g serve`, which is not there yet/);
    const gone = { OS2G_CUDA_LIBRARY: '/nowhere/libcuda.so.1', OS2G_UCX_LIBRARY: '/nowhere/libucp.so.0' };
    const without = await doctor(gone);
    for (const [name, file, mend] of [
      ['landing (cuda)', 'libcuda.so.1', /To mend it: Install the NVIDIA driver/],
      ['landing (ucx)', 'libucp.so.0', /To mend it: Install UCX >= 1\.16/],
    ] as const) {
      const { status, detail = '' } = without.get(name) ?? {};
      assert.is(status, 'info');
      assert.ok(detail.includes(file), detail);
      assert.match(detail, mend);
    }
    const broken = await doctor({ OS2G_FAKE_CUDA_FAIL: 'cuMemcpyHtoDAsync_v2:0:999' });
    assert.match(broken.get('landing (cuda)')?.detail ?? '', /cuMemcpyHtoDAsync_v2 answered/);
  }));

test.run();
