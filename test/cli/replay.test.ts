import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RECORD_BYTES, TRACE_CONFIG_OFFSET, TRACE_HEADER_BYTES } from '../../assembly/layout.js';
import { findWasmtime } from '../../runtime-node/cli/replay/wasmtime.js';
import { corePath } from '../../runtime-node/core.js';
import { BUCKET, type Dataset, openDataset } from './kit/dataset.js';
import { os2g } from './kit/process.js';

let data: Dataset;
let trace = '';
let runHash = '';
let coreSha256 = '';
test.before(async () => {
  data = await openDataset();
  trace = data.file('run.trace');
  // The wasi build replays what any build recorded: they are one core.
  const argv = [
    'feed',
    `s3://${BUCKET}/train/`,
    '--batch-samples',
    '8',
    '--epochs',
    '2',
    '--trace',
    trace,
    '--json',
  ];
  const { code, stdout, stderr } = await os2g(argv, data.env);
  assert.is(code, 0, stderr);
  runHash = JSON.parse(stdout).run_hash;
  coreSha256 = JSON.parse(stdout).core_sha256;
});
test.after(() => data.close());

const wasmtime = await findWasmtime(process.env);
const hosts = ['node', 'wasi', ...(wasmtime ? ['wasmtime'] : [])];
if (!wasmtime) {
  process.stdout.write(`# skip: wasmtime: ${process.env.OS2G_PYTHON_MISSING ?? 'not found'}\n`);
  test.skip('replay under wasmtime', () => {});
}

for (const host of hosts) {
  test(`replay under ${host}: the same run hash`, async () => {
    const { code, stdout, stderr } = await os2g(['replay', trace, '--host', host, '--json'], wasmtimeEnv());
    assert.is(code, 0, stderr);
    const result = JSON.parse(stdout);
    assert.is(result.run_hash, runHash);
    assert.is(result.recorded_run_hash, runHash);
    assert.is(result.match, true);
    assert.ok(result.events > 0);
    // One binary in every host: the one on the disk.
    const wasi = createHash('sha256')
      .update(readFileSync(corePath('wasi')))
      .digest('hex');
    assert.is(result.core_sha256, process.env.OS2G_CORE && host === 'node' ? coreSha256 : wasi);
    assert.is(result.recorded_core_sha256, coreSha256);
  });

  test(`replay under ${host}: a trace that was changed does not match`, async () => {
    const bytes = readFileSync(trace);
    // The recorded hash at the end; the words before it stay as they are.
    bytes[bytes.length - RECORD_BYTES + 8] = bytes[bytes.length - RECORD_BYTES + 8]! ^ 1;
    const changed = data.file('changed.trace');
    writeFileSync(changed, bytes);
    const { code, stdout } = await os2g(['replay', changed, '--host', host, '--json'], wasmtimeEnv());
    assert.is(code, 1);
    assert.is(JSON.parse(stdout).match, false);
  });

  test(`replay under ${host}: a damaged configuration or step is told as in every host`, async () => {
    const whole = readFileSync(trace);
    const stepAt = TRACE_HEADER_BYTES;
    const rows: [name: string, at: number, bytes: Buffer, says: RegExp][] = [
      [
        'config',
        TRACE_CONFIG_OFFSET,
        Buffer.from(new Float64Array([Number.NaN]).buffer),
        /its configuration is damaged/,
      ],
      ['step', stepAt, Buffer.from([0xee, 0xee, 0, 0]), /stands where a step should begin/],
    ];
    for (const [name, at, bytes, says] of rows) {
      const damaged = Buffer.from(whole);
      bytes.copy(damaged, at);
      const file = data.file(`${name}.trace`);
      writeFileSync(file, damaged);
      const { code, stdout, stderr } = await os2g(['replay', file, '--host', host, '--json'], wasmtimeEnv());
      assert.is(code, 2, `${name}: ${stdout}${stderr}`);
      const { error } = JSON.parse(stdout);
      assert.is(error.code, 'bad_trace');
      assert.match(error.message, says);
    }
  });

  test(`replay under ${host}: a file that is no trace`, async () => {
    const junk = data.file('junk.trace');
    writeFileSync(junk, 'not a trace');
    const { code, stdout, stderr } = await os2g(['replay', junk, '--host', host, '--json'], wasmtimeEnv());
    assert.is(code, 2, stderr);
    assert.is(JSON.parse(stdout).error.code, 'bad_trace');
  });
}

test('a trace that was cut off is replayed up to its last whole step, and says so', async () => {
  const bytes = readFileSync(trace);
  const cut = data.file('cut.trace');
  writeFileSync(cut, bytes.subarray(0, bytes.length - RECORD_BYTES - 7));
  const { code, stdout, stderr } = await os2g(['replay', cut], {});
  assert.is(code, 0, stderr);
  assert.match(stderr, /was cut off/);
  assert.match(stdout, /recorded_run_hash +none/);
});

test('without wasmtime the host is refused with what to install', async () => {
  const { code, stdout } = await os2g(['replay', trace, '--host', 'wasmtime', '--json'], {
    PATH: '/nowhere',
    OS2G_PYTHON: '/nowhere/python',
  });
  // A checkout's own .venv is found without a PATH.
  if (code === 0) return;
  assert.is(code, 2);
  assert.is(JSON.parse(stdout).error.code, 'no_wasmtime');
  assert.match(JSON.parse(stdout).error.mend, /pip install wasmtime/);
});

function wasmtimeEnv(): Record<string, string> {
  return process.env.OS2G_PYTHON ? { OS2G_PYTHON: process.env.OS2G_PYTHON } : {};
}

test.run();
