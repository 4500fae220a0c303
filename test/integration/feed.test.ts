// An epoch from a real S3 server through the command: index, feed, audit, ranks, replay, and calls that must fail.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { findWasmtime } from '../../runtime-node/cli/replay/wasmtime.js';
import { type AuditedBatch, assertTrue, assertWhole, readAudit, samplesOf } from './audit.js';
import { storeTruth, testObjects } from './dataset.js';
import { type Rig, rigTests } from './rig.js';
import type { Truth } from './truth.js';

const SEED = 20251;
const BATCH = 48;
const order = ['--seed', '11', '--batch-samples', String(BATCH)];

let truth: Truth;
let manifest = '';
let first: AuditedBatch[] = [];
const it = rigTests(async (rig) => {
  ({ truth, manifest } = await storeTruth(rig, SEED));
});

const audited = async (
  rig: Rig,
  name: string,
  argv: readonly string[],
): Promise<{ result: Record<string, unknown>; lines: AuditedBatch[] }> => {
  const audit = rig.file(`${name}.jsonl`);
  const result = await rig.result(['feed', ...argv, '--audit', audit]);
  return { result, lines: readAudit(audit) };
};

it('index lists every object', async (rig) => {
  const result = await rig.result(['index', rig.url('train/'), '-o', rig.file('again.arrow')]);
  assert.is(result.samples, truth.keys.length);
  assert.is(result.bytes, truth.totalBytes);
  assert.is(result.labels, 10, 'the class of each is its folder');
  assert.ok((result.list_requests as number) >= testObjects() / 1000, 'as many pages as it takes');
});

it('feed s3://: two epochs, each the whole data set, in different orders', async (rig) => {
  const argv = [rig.url('train/'), ...order, '--tail', 'partial', '--epochs', '2'];
  const { result, lines } = await audited(rig, 'listed', argv);
  const perEpoch = Math.ceil(truth.keys.length / BATCH);
  const places = lines.map(({ epoch, batch }) => [epoch, batch]);
  const inOrder = Array.from({ length: 2 * perEpoch }, (_, i) => [Math.floor(i / perEpoch), i % perEpoch]);
  assert.equal(places, inOrder);
  for (const epoch of [0, 1]) {
    assertWhole(samplesOf(lines.filter((line) => line.epoch === epoch)), truth);
  }
  const rowsOf = (part: AuditedBatch[]): number[] => samplesOf(part).map(({ index }) => index);
  assert.not.equal(rowsOf(lines.slice(0, perEpoch)), rowsOf(lines.slice(perEpoch)));
  const { samples, padded, batches, bytes, skipped } = result;
  assert.equal(
    { samples, padded, batches, bytes, skipped },
    {
      samples: 2 * truth.keys.length,
      padded: 0,
      batches: 2 * perEpoch,
      bytes: 2 * truth.totalBytes,
      skipped: [],
    },
  );
  assert.equal(result.cursor && (result.cursor as { epoch: number }).epoch, 2);
  first = lines;
});

it('feed --manifest: the same order for the same seed, another one for another', async (rig) => {
  const argv = ['--manifest', manifest, '--batch-samples', String(BATCH), '--tail', 'partial'];
  const same = await audited(rig, 'same', [...argv, '--epochs', '2', '--seed', '11']);
  assert.equal(same.lines, first);
  const other = await audited(rig, 'other', [...argv, '--seed', '12']);
  assertWhole(samplesOf(other.lines), truth);
  assert.not.equal(other.lines, first.slice(0, other.lines.length));
});

for (const worldSize of [2, 3]) {
  it(`world size ${worldSize}: each global batch is what one rank alone would get`, async (rig) => {
    const ranks: AuditedBatch[][] = [];
    for (let rank = 0; rank < worldSize; rank++) {
      const share = ['--rank', String(rank), '--world-size', String(worldSize)];
      const batch = ['--seed', '11', '--batch-samples', String(BATCH / worldSize)];
      const name = `rank-${rank}-of-${worldSize}`;
      ranks.push((await audited(rig, name, ['--manifest', manifest, ...batch, ...share])).lines);
    }
    const whole = Math.floor(truth.keys.length / BATCH);
    for (const lines of ranks) assert.is(lines.length, whole, 'equal steps on every rank');
    const rows = (batches: readonly (AuditedBatch | undefined)[]): number[] =>
      batches.flatMap((line) => line?.samples.map(({ index }) => index) ?? []).sort((a, b) => a - b);
    for (let batch = 0; batch < whole; batch++) {
      assert.equal(rows(ranks.map((lines) => lines[batch])), rows([first[batch]]), `batch ${batch}`);
    }
    for (const lines of ranks) assertTrue(samplesOf(lines), truth);
  });
}

const wasmtime = await findWasmtime(process.env);
if (!wasmtime) process.stdout.write(`# skip: wasmtime: ${process.env.OS2G_PYTHON_MISSING ?? 'not found'}\n`);
it('a recorded trace replays with the run hash of the run', async (rig) => {
  const trace = rig.file('run.trace');
  const result = await rig.result(['feed', '--manifest', manifest, ...order, '--trace', trace]);
  for (const host of ['node', 'wasi', ...(wasmtime ? ['wasmtime'] : [])]) {
    const replayed = await rig.result(['replay', trace, '--host', host]);
    const { run_hash, recorded_run_hash, match } = replayed;
    const hash = result.run_hash;
    assert.equal(
      { run_hash, recorded_run_hash, match },
      { run_hash: hash, recorded_run_hash: hash, match: true },
      host,
    );
    assert.ok((replayed.events as number) > 2 * truth.keys.length, 'an answer for each request at least');
  }
});
if (!wasmtime) test.skip('the trace under wasmtime', () => {});

// SeaweedFS takes the region of a signature as it comes, so a wrong one is no error here: the scripted store has that case.
const wrongCalls: [what: string, env: Record<string, string>, bucket: string, code: string][] = [
  ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'wrong' }, 'data', 'forbidden'],
  ['an unknown access key', { AWS_ACCESS_KEY_ID: 'NOBODY' }, 'data', 'forbidden'],
  ['no such bucket', {}, 'no-such-bucket', 'not_found'],
  ['nobody listens', { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' }, 'data', 'connect'],
];
for (const [what, env, bucket, code] of wrongCalls) {
  it(`${what}: ${code}`, async (rig) => {
    const source = `s3://${bucket}/train/`;
    const calls = [
      ['index', source, '-o', rig.file('never.arrow')],
      ['feed', source],
      ['feed', '--manifest', manifest, '--bucket', bucket, '--set', 'retry.attempts=2'],
    ];
    for (const argv of calls) {
      const { exit, error } = await rig.failure(argv, env);
      assert.equal({ exit, code: error.code }, { exit: 1, code }, argv.join(' '));
      assert.ok(error.message && error.mend);
      assert.not.match(JSON.stringify(error), rig.store.access.secretAccessKey);
    }
  });
}

it('a prefix without objects: no_objects', async (rig) => {
  const { exit, error } = await rig.failure(['feed', rig.url('elsewhere/')]);
  assert.equal({ exit, code: error.code }, { exit: 1, code: 'no_objects' });
});

test.run();
