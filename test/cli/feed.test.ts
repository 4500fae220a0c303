import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { auditFault, auditLines, BUCKET, type Dataset, keyOf, openDataset, SAMPLES } from './kit/dataset.js';
import { os2g } from './kit/process.js';

let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

const SOURCE = `s3://${BUCKET}/train/`;
const RESULT_FIELDS = [
  ...[
    'samples',
    'padded',
    'batches',
    'bytes',
    'requests',
    'list_requests',
    'retries',
    'hedges',
    'skipped',
    'wall_s',
  ],
  ...[
    'cpu_s',
    'samples_per_s',
    'bytes_per_s',
    'stall_s',
    'gpu_busy_share',
    'memory_budget_bytes',
    'memory_peak_bytes',
  ],
  ...['rss_peak_bytes', 'engine', 'landing', 'policy', 'core_sha256', 'run_hash', 'cursor'],
];

interface Failure {
  schema: string;
  error: { code: string; message: string; mend: string; option?: string; key?: string; status?: number };
}

async function json<T = FeedStats>(
  argv: string[],
  env: Record<string, string> = {},
  exitCode = 0,
): Promise<T> {
  const { code, stdout, stderr } = await os2g([...argv, '--json'], { ...data.env, ...env });
  assert.is(code, exitCode, `${argv.join(' ')}\n${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

test('index writes a manifest and tells what is in it; again replaces it', async () => {
  data.store.put(BUCKET, 'train/', new Uint8Array());
  const manifest = data.file('train.arrow');
  const result = await json<{ schema: string; samples: number; labels: number; notes: { markers: object } }>([
    ...['index', SOURCE, '-o', manifest],
  ]);
  data.store.delete(BUCKET, 'train/');
  assert.is(result.schema, 'os2g.index-result/1');
  assert.is(result.samples, SAMPLES);
  assert.is(result.labels, 3);
  assert.equal(result.notes.markers, { count: 1, examples: ['train/'] });
  const again = await os2g(['index', SOURCE, '-o', manifest], data.env);
  assert.is(again.code, 0);
  assert.match(again.stderr, /is replaced/);
  assert.match(again.stdout, /samples +120/);
});

test('feed: the document has every field of the contract, and the audit is the truth', async () => {
  const audit = data.file('whole.jsonl');
  const result = await json([
    'feed',
    SOURCE,
    '--batch-samples',
    '8',
    '--seed',
    '5',
    '--audit',
    audit,
    '--step-time',
    '1ms',
  ]);
  assert.is(result.schema, 'os2g.feed-result/1');
  for (const field of RESULT_FIELDS) assert.ok(field in result, field);
  assert.is(result.samples, SAMPLES);
  assert.is(result.batches, SAMPLES / 8);
  const busy = result.gpu_busy_share ?? 0;
  assert.ok(busy > 0 && busy <= 1);
  const lines = auditLines(audit);
  assert.is(auditFault(data.store, lines), null);
  const keys = lines.flatMap(({ samples }) => samples.map(({ key }) => key)).sort();
  assert.equal(keys, Array.from({ length: SAMPLES }, (_, i) => keyOf(i)).sort());
});

test('feed --manifest reads the same batches as feed s3://, and the run hash is that of the order', async () => {
  const manifest = data.file('same.arrow');
  await json(['index', SOURCE, '-o', manifest]);
  const [direct, indexed] = [data.file('direct.jsonl'), data.file('indexed.jsonl')];
  const call = ['--batch-samples', '7', '--tail', 'partial', '--seed', '18446744073709551615'];
  await json(['feed', SOURCE, ...call, '--audit', direct]);
  await json(['feed', '--manifest', manifest, '--bucket', BUCKET, ...call, '--audit', indexed]);
  assert.is(readFileSync(direct, 'utf8'), readFileSync(indexed, 'utf8'));
});

test('stopped after some batches and resumed: as an unbroken run', async () => {
  const whole = data.file('unbroken.jsonl');
  await json(['feed', SOURCE, '--batch-samples', '8', '--epochs', '2', '--audit', whole]);
  const cursor = data.file('run.cursor');
  const parts = [data.file('part-0.jsonl'), data.file('part-1.jsonl')];
  const stopped = await json([
    'feed',
    SOURCE,
    '--batch-samples',
    '8',
    '--epochs',
    '2',
    '--stop-after-batches',
    '11',
    '--cursor-out',
    cursor,
    '--audit',
    parts[0]!,
  ]);
  assert.is(stopped.batches, 11);
  assert.equal(JSON.parse(readFileSync(cursor, 'utf8')), stopped.cursor);
  const resumed = await json([
    'feed',
    SOURCE,
    '--epochs',
    '2',
    '--resume',
    cursor,
    '--cursor-out',
    cursor,
    '--audit',
    parts[1]!,
  ]);
  assert.is(resumed.batches, 30 - 11);
  assert.is(parts.map((part) => readFileSync(part, 'utf8')).join(''), readFileSync(whole, 'utf8'));
  const over = await json(['feed', SOURCE, '--epochs', '2', '--resume', cursor]);
  assert.is(over.batches, 0);
});

test('another order than the cursor has is refused by name', async () => {
  const cursor = data.file('order.cursor');
  await json(['feed', SOURCE, '--batch-samples', '8', '--stop-after-batches', '1', '--cursor-out', cursor]);
  const cases: [string[], RegExp][] = [
    [['--seed', '9'], /seed/],
    [['--shuffle', 'none'], /shuffle/],
    [['--batch-samples', '9'], /batch/],
    [['--world-size', '2', '--batch-samples', '8'], /batch/],
  ];
  for (const [flags, words] of cases) {
    const { error } = await json<Failure>(['feed', SOURCE, '--resume', cursor, ...flags], {}, 2);
    assert.match(error.message, words);
  }
});

test('flag, variable and file reach the feed in that order', async () => {
  const config = data.file('os2g.json');
  writeFileSync(
    config,
    JSON.stringify({ 'batch-samples': 10, seed: 1, memory: '8MiB', set: { 'concurrency.max': 3 } }),
  );
  const argv = ['feed', SOURCE, '--config', config, '--seed', '3', '--set', 'hedge.share=0'];
  const result = await json(argv, { OS2G_BATCH_SAMPLES: '12', OS2G_SEED: '2' });
  assert.is(result.batches, 10);
  assert.is(result.cursor.seed, '3');
  assert.is(result.memory_budget_bytes, 8 * 2 ** 20);
  assert.is(result.policy.set['concurrency.max'], 3);
  assert.is(result.policy.set['hedge.share'], 0);
});

test('exit codes and error documents of failed work and of wrong calls', async () => {
  const cases: [string[], number, string | undefined][] = [
    [['feed', 's3://nowhere/train'], 1, undefined],
    [['feed', `s3://${BUCKET}/nothing-here/`], 1, undefined],
    [['feed', 'http://example'], 2, undefined],
    [['feed'], 2, 'manifest'],
    [['feed', SOURCE, '--manifest', 'x.arrow'], 2, 'manifest'],
    [['feed', '--manifest', data.file('none.arrow'), '--bucket', BUCKET], 2, undefined],
    [['feed', SOURCE, '--engine', 'fast'], 2, 'engine'],
    [['feed', SOURCE, '--landing', 'cuda', '--engine', 'portable'], 2, 'landing'],
    [['feed', SOURCE, '--landing', 'ucx'], 2, 'landing'],
    [['feed', SOURCE, '--direct', 'on'], 2, 'direct'],
    [['feed', SOURCE, '--policy', 'best'], 2, 'policy'],
    [['feed', SOURCE, '--policy', data.file('none.json')], 2, 'policy'],
    [['feed', SOURCE, '--rank', '2', '--world-size', '2'], 2, 'rank'],
    [['feed', SOURCE, '--resume', data.file('none.cursor')], 2, 'resume'],
  ];
  for (const [argv, code, option] of cases) {
    const { schema, error } = await json<Failure>(argv, {}, code);
    assert.is(schema, 'os2g.error/1');
    assert.ok(error.code && error.message && error.mend, argv.join(' '));
    if (option) assert.is(error.option, option, argv.join(' '));
  }
});

test('without the native module: --engine native is refused with the mend, auto goes on and says why', async () => {
  const without = { OS2G_NATIVE: 'off' };
  for (const [flag, value, option] of [
    ['--engine', 'native', 'engine'],
    ['--landing', 'shm', 'landing'],
  ] as const) {
    const { error } = await json<Failure>(['feed', SOURCE, flag, value], without, 2);
    assert.is(error.option, option);
    assert.match(error.mend, /OS2G_NATIVE/);
  }
  const result = await json(['feed', SOURCE, '--batch-samples', '8'], without);
  assert.equal([result.engine, result.landing.backend], ['portable', 'memory']);
  assert.match(result.engine_reason, /OS2G_NATIVE is off/);
});

test('a sample that is gone: the error names its key; with --on-error skip it is a hole that is told', async () => {
  const manifest = data.file('gone.arrow');
  await json(['index', SOURCE, '-o', manifest]);
  const gone = keyOf(50);
  const size = data.store.expectedBytes(BUCKET, gone).length;
  data.store.delete(BUCKET, gone);
  try {
    const argv = ['feed', '--manifest', manifest, '--bucket', BUCKET, '--batch-samples', '8'];
    const { error } = await json<Failure>(argv, {}, 1);
    assert.is(error.key, gone);
    assert.is(error.status, 404);
    const skipping = await os2g([...argv, '--on-error', 'skip', '--max-skips', '1'], data.env);
    assert.is(skipping.code, 0, skipping.stderr);
    assert.match(skipping.stdout, new RegExp(`skipped +${gone}`));
  } finally {
    data.store.put(BUCKET, gone, { sizeBytes: size, seed: 50 });
  }
});

test('result for people on standard output, everything else on standard error', async () => {
  const { code, stdout, stderr } = await os2g(
    ['feed', SOURCE, '--batch-samples', '8', '--progress', 'always'],
    data.env,
  );
  assert.is(code, 0);
  for (const words of [
    /samples +120 in 15 batches/,
    /run hash +[0-9a-f]{16}/,
    /cursor +epoch 1, batch 0/,
    /stalls/,
  ]) {
    assert.match(stdout, words);
  }
  assert.match(stderr, /data set: 120 samples/);
  for (const text of [stdout, stderr]) assert.not.ok(text.includes(data.store.credentials.secretAccessKey));
  assert.not.ok(existsSync('undefined'));
});

test('a cursor of an external order is refused: nothing would ever ask for a position', async () => {
  const cursor = data.file('external.cursor');
  const source = `s3://${BUCKET}/train/`;
  await os2g(
    ['feed', source, '--stop-after-batches', '1', '--batch-samples', '4', '--cursor-out', cursor],
    data.env,
  );
  const text = readFileSync(cursor, 'utf8').replace('"shuffle":"sample"', '"shuffle":"external"');
  writeFileSync(cursor, text);
  const { code, stdout } = await os2g(['feed', source, '--resume', cursor, '--json'], data.env);
  assert.is(code, 2);
  assert.is(JSON.parse(stdout).error.code, 'cursor_mismatch');
});

test.run();
