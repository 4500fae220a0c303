import { existsSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditLines, BUCKET, type Dataset, openDataset } from './kit/dataset.js';
import { Call, os2g, STUCK_ENTRY } from './kit/process.js';

let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

const consumed = (file: string): number =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).batch : -1;

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} ends a feed with ${exitCode}: the cursor is written and the run goes on from it`, async () => {
    const [cursor, audit, rest] = ['cursor', 'jsonl', 'rest'].map((end) => data.file(`${signal}.${end}`)) as [
      string,
      string,
      string,
    ];
    const source = `s3://${BUCKET}/train/`;
    const flags = ['--cursor-out', cursor, '--step-time', '50ms', '--json'];
    const running = new Call(['feed', source, '--batch-samples', '4', '--audit', audit, ...flags], data.env);
    await running.until(() => consumed(cursor) >= 2);
    running.child.kill(signal);
    const { code, stdout, stderr } = await running.ended;
    assert.is(code, exitCode, stderr);
    const { schema, error, result } = JSON.parse(stdout);
    assert.equal([schema, error.code, result.schema], ['os2g.error/1', 'aborted', 'os2g.feed-result/1']);
    const done = consumed(cursor);
    const inHand = result.batches - done;
    assert.is(
      error.message,
      `stopped after epoch 0, batch ${done - 1}${inHand > 0 ? `; ${inHand} batch in hand, not consumed` : ''}`,
    );
    assert.is(error.mend, `go on with --resume ${cursor}`);
    assert.equal(error.cursor, JSON.parse(readFileSync(cursor, 'utf8')));
    assert.equal(result.cursor, error.cursor);
    assert.ok(done >= 2 && done <= auditLines(audit).length);
    const resumed = await os2g(['feed', source, '--resume', cursor, '--audit', rest, '--json'], data.env);
    assert.is(resumed.code, 0, resumed.stderr);
    assert.is(auditLines(rest)[0]?.batch, done);
    assert.is(auditLines(rest).length, 30 - done);
  });
}

test('a signal in the middle of a long step: the batch is not consumed', async () => {
  const [cursor, audit] = [data.file('long.cursor'), data.file('long.jsonl')];
  const argv = [
    'feed',
    `s3://${BUCKET}/train/`,
    '--step-time',
    '1h',
    '--cursor-out',
    cursor,
    '--audit',
    audit,
  ];
  const running = new Call(argv, data.env);
  await running.until(() => existsSync(audit) && auditLines(audit).length === 1);
  running.child.kill('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  assert.is(code, 130, stderr);
  assert.is(consumed(cursor), 0);
  assert.match(
    stderr,
    /stopped before a batch was consumed \(the first would be epoch 0, batch 0\); 1 batch in hand, not consumed/,
  );
  assert.match(stderr, /go on with --resume .*long\.cursor/);
  assert.match(stdout, /samples +64 in 1 batch/);
});

test('a signal before the first batch has come: the cursor is there', async () => {
  const rule = data.store.faults.add({ match: { operation: 'get' }, fault: { kind: 'silence' } });
  const before = data.store.counters.faultsFired;
  const cursor = data.file('early.cursor');
  const running = new Call(['feed', `s3://${BUCKET}/train/`, '--cursor-out', cursor], data.env);
  await running.until(() => data.store.counters.faultsFired > before);
  running.child.kill('SIGINT');
  const { code, stderr } = await running.ended;
  rule.remove();
  assert.is(code, 130, stderr);
  assert.is(consumed(cursor), 0);
  const flags = ['--resume', cursor, '--cursor-out', cursor, '--json'];
  const resumed = await os2g(['feed', `s3://${BUCKET}/train/`, ...flags], data.env);
  assert.is(JSON.parse(resumed.stdout).samples, 64, resumed.stderr);
});

test('a signal before the feed is open: nothing was started', async () => {
  const rule = data.store.faults.add({ match: { operation: 'list' }, fault: { kind: 'silence' } });
  const before = data.store.counters.faultsFired;
  const cursor = data.file('unopened.cursor');
  const running = new Call(['feed', `s3://${BUCKET}/train/`, '--cursor-out', cursor], data.env);
  await running.until(() => data.store.counters.faultsFired > before);
  running.child.kill('SIGTERM');
  const { code, stdout, stderr } = await running.ended;
  rule.remove();
  assert.equal([code, stdout], [143, '']);
  assert.match(stderr, /interrupted before the feed was open: nothing was started/);
  assert.not(existsSync(cursor));
});

test('a signal while a store keeps silent', async () => {
  const rule = data.store.faults.add({ match: { operation: 'get' }, fault: { kind: 'silence' } });
  const before = data.store.counters.faultsFired;
  const running = new Call(['feed', `s3://${BUCKET}/train/`], data.env);
  await running.until(() => data.store.counters.faultsFired > before);
  running.child.kill('SIGTERM');
  assert.is((await running.ended).code, 143);
  rule.remove();
});

test('a second signal ends what did not hear the first', async () => {
  const running = new Call(['stuck'], {}, STUCK_ENTRY);
  await running.until(() => running.stderr.includes('begun'));
  running.child.kill('SIGINT');
  await running.until(() => running.stderr.includes('heard'));
  running.child.kill('SIGINT');
  assert.is((await running.ended).code, 130);
});

test('a reader that goes away is no error', async () => {
  for (const argv of [['feed', '--help-settings'], ['--help'], ['feed', '--epochs', '0', '--json']]) {
    const running = new Call(argv);
    running.child.stdout?.destroy();
    const { code, stderr } = await running.ended;
    assert.is(code, argv.includes('--json') ? 2 : 0);
    assert.not.match(stderr, /EPIPE|\n\s+at /);
  }
});

test.run();
