// Runs that are begun, ended and gone on with, as a job script does it; and what such a run says.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EmulatedGpu } from '../../runtime-node/cli/feed/emulated-step.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { auditLines, BUCKET, type Dataset, keyOf, openDataset, SAMPLES } from './kit/dataset.js';
import { Call, type Ended, os2g } from './kit/process.js';

let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

const SOURCE = `s3://${BUCKET}/train/`;

async function feed(argv: string[], exitCode = 0): Promise<Ended & { stats: FeedStats }> {
  const ended = await os2g(['feed', SOURCE, ...argv, '--json'], data.env);
  assert.is(ended.code, exitCode, `${argv.join(' ')}\n${ended.stdout}${ended.stderr}`);
  return { ...ended, stats: JSON.parse(ended.stdout) };
}

test('one call, again and again, until the run is at its end', async () => {
  const cursor = data.file('job.cursor');
  const audit = data.file('job.jsonl');
  const call = ['--cursor-out', cursor, '--resume', cursor, '--audit', audit, '--stop-after-batches', '9'];
  const first = await feed([...call, '--batch-samples', '8', '--epochs', '2', '--seed', '4']);
  assert.match(first.stderr, /job\.cursor does not exist yet: the run starts at its beginning/);
  // What the run is, its cursor says from now on.
  const batches = [first.stats.batches];
  for (let i = 0; i < 4; i++) batches.push((await feed(call)).stats.batches);
  assert.equal(batches, [9, 9, 9, 3, 0]);
  assert.match((await feed(call)).stderr, /nothing left: the run is at its end \(2 of 2 epochs\)/);
  const whole = data.file('whole.jsonl');
  await feed(['--batch-samples', '8', '--epochs', '2', '--seed', '4', '--audit', whole]);
  assert.is(readFileSync(audit, 'utf8'), readFileSync(whole, 'utf8'));
  const failed = await os2g(['feed', SOURCE, ...call, '--epochs', '1', '--json'], data.env);
  assert.is(failed.code, 2);
  assert.is(JSON.parse(failed.stdout).error.mend, 'give --epochs 2 or more');
});

test('begun again without --resume: the run starts, and the old cursor is kept', async () => {
  const cursor = data.file('again.cursor');
  const call = ['--cursor-out', cursor, '--batch-samples', '8', '--stop-after-batches', '3'];
  await feed(call);
  const before = readFileSync(cursor, 'utf8');
  const again = await feed(call);
  assert.match(again.stderr, /again\.cursor held a cursor with progress \(epoch 0, batch 3\)/);
  assert.is(readFileSync(`${cursor}.previous`, 'utf8'), before);
  assert.is(again.stats.batches, 3);
  assert.not.match((await feed(call)).stderr, /progress/);
  assert.not(existsSync(`${cursor}.previous-2`));
});

test('outputs that would destroy something: exit 2, and nothing is touched', async () => {
  const manifest = data.file('m.arrow');
  assert.is((await os2g(['index', SOURCE, '-o', manifest], data.env)).code, 0);
  const config = data.file('c.json');
  writeFileSync(config, '{"batch-samples": 8}');
  const bytes = readFileSync(manifest);
  const cases: [flags: string[], option: string, words: RegExp][] = [
    [['--cursor-out', manifest], 'cursor-out', /^--cursor-out: .* something else than a cursor/],
    [['--audit', manifest], 'audit', /^--audit: .* something else than an audit/],
    [['--trace', config, '--config', config], 'trace', /^--trace: .* something else than a trace/],
    [['--cursor-out', '/dev/full'], 'cursor-out', /a device/],
    [['--trace', data.file('none/x')], 'trace', /the folder .*none does not exist/],
    [['--trace', data.file('x'), '--audit', data.file('x')], 'trace', /is also what --audit names/],
  ];
  for (const [flags, option, words] of cases) {
    const { stdout } = await feed(flags, 2);
    const { error } = JSON.parse(stdout);
    assert.equal([error.code, error.option], ['bad_output', option]);
    assert.match(error.message, words);
  }
  assert.ok(bytes.equals(readFileSync(manifest)));
  assert.not(existsSync(data.file('x')));
});

test('a batch larger than the data set: exit 0, and a warning with the numbers', async () => {
  const { stats, stderr } = await feed(['--batch-samples', '200']);
  assert.equal([stats.batches, stats.dropped], [0, SAMPLES]);
  assert.match(stderr, /nothing will be delivered: the data set has 120 samples, a global batch 200/);
});

test('--on-error skip has a limit that can be used, and says it where it is not enough', async () => {
  const manifest = data.file('skips.arrow');
  assert.is((await os2g(['index', SOURCE, '-o', manifest], data.env)).code, 0);
  const gone = [3, 50, 90].map(keyOf);
  const sizes = gone.map((key) => data.store.expectedBytes(BUCKET, key).length);
  for (const key of gone) data.store.delete(BUCKET, key);
  try {
    const call = ['feed', '--manifest', manifest, '--bucket', BUCKET, '--on-error', 'skip', '--json'];
    const { code, stdout } = await os2g([...call, '--tail', 'partial'], data.env);
    assert.equal([code, JSON.parse(stdout).skipped.length], [0, 3]);
    const few = await os2g([...call, '--tail', 'partial', '--max-skips', '2'], data.env);
    assert.is(few.code, 1);
    const { error } = JSON.parse(few.stdout);
    assert.equal([error.code, error.option], ['too_many_skips', 'max-skips']);
    assert.match(error.message, /more than 2 samples failed: --max-skips is 2, for all epochs/);
    assert.match(error.mend, /^raise --max-skips; or: index the data set again/);
  } finally {
    for (const [i, key] of gone.entries()) data.store.put(BUCKET, key, { sizeBytes: sizes[i] ?? 0, seed: 1 });
  }
});

test('checksums that were asked for and did not come are counted and said', async () => {
  const { stats, stderr } = await feed(['--batch-samples', '8', '--verify', 'checksum']);
  const { checked, unchecked } = stats.checksums;
  assert.ok(checked + unchecked >= SAMPLES);
  assert.is(/no answer had a checksum/.test(stderr), checked === 0);
});

test('a failure tells where the run stopped and how it goes on', async () => {
  const rule = data.store.faults.add({
    match: { operation: 'get', key: keyOf(119) },
    fault: { kind: 'status', status: 404 },
  });
  const cursor = data.file('failed.cursor');
  const flags = ['--batch-samples', '8', '--shuffle', 'none', '--cursor-out', cursor];
  const { stderr, stdout } = await feed(flags, 1);
  rule.remove();
  assert.equal(JSON.parse(stdout).error.cursor, JSON.parse(readFileSync(cursor, 'utf8')));
  assert.match(stderr, /stopped after epoch 0, batch \d+; go on with --resume .*failed\.cursor/);
  assert.is((await feed(['--cursor-out', cursor, '--resume', cursor])).code, 0);
});

test('a step is as long as it was asked for, however late the timer is', async () => {
  const gpu = new EmulatedGpu(2e6, new AbortController().signal);
  for (let i = 0; i < 3; i++) assert.is(await gpu.step(), 2e6);
  assert.is(await new EmulatedGpu(0, new AbortController().signal).step(), 0);
  const controller = new AbortController();
  const cut = new EmulatedGpu(3600e9, controller.signal).step();
  controller.abort();
  assert.ok((await cut) < 3600e9);
  const audit = data.file('steps.jsonl');
  const { stats } = await feed(['--batch-samples', '8', '--step-time', '3ms', '--audit', audit]);
  const busyS = 0.003 * auditLines(audit).length;
  assert.ok((stats.gpu_busy_share ?? 0) >= busyS / stats.wall_s - 1e-9);
  assert.ok((stats.gpu_busy_share ?? 2) <= 1);
});

test('a key with terminal escapes: shown as text, exact in the result', async () => {
  const key = 'odd/\x1b]0;owned\x07\x1b[2J\n.bin';
  data.store.put(BUCKET, key, { sizeBytes: 100, seed: 1 });
  const rule = data.store.faults.add({
    match: { operation: 'get', key },
    fault: { kind: 'status', status: 403, code: 'AccessDenied' },
  });
  const argv = ['feed', `s3://${BUCKET}/odd/`, '--batch-samples', '1'];
  const failed = await os2g(argv, data.env);
  const skipped = await os2g([...argv, '--on-error', 'skip'], data.env);
  const document = JSON.parse((await os2g([...argv, '--on-error', 'skip', '--json'], data.env)).stdout);
  rule.remove();
  data.store.delete(BUCKET, key);
  assert.is(failed.code, 1);
  for (const text of [failed.stderr, skipped.stdout, skipped.stderr]) {
    assert.match(text, /\\x1b\]0;owned\\x07|\\u001b\]0;owned\\u0007/);
    assert.not.match(text.replaceAll('\n', ''), /\p{Cc}/u);
  }
  assert.is(document.skipped[0].key, key);
});

test('fewer files may be open than there may be connections: said at the start', async () => {
  const argv = ['feed', SOURCE, '--json', '--set', 'concurrency.max=16000'];
  const { code, stderr } = await Call.ofShell('ulimit -n 1000; "$@"', argv, data.env).ended;
  assert.is(code, 0, stderr);
  assert.match(stderr, /warn .*may have 1000 files open, and concurrency\.max is 16000/);
});

test.run();
