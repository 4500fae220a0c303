// `os2g index` and `os2g feed` of tar shards on the scripted store, as processes.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readManifest } from '../../runtime-node/manifest/arrow-file.js';
import { BUCKET, SAMPLES as OBJECTS, openDataset } from '../cli/kit/dataset.js';
import { Call, type Ended, os2g } from '../cli/kit/process.js';
import type { Fault, FaultMatch, ScriptedStore } from '../store/index.js';
import { daliIndex } from './dali.js';
import { type Member, tar } from './tar-writer.js';

const SHARDS = 6;
const SAMPLES = 20;
const SEED = 61_057;

let store: ScriptedStore;
let env: Record<string, string>;
let close: () => Promise<void>;
let file: (name: string) => string;
/** SHA-256 of each sample's range, and its fields, by key and offset. */
const truth = new Map<string, { sha256: string; jpg: string; cls: string }>();

const bytesOf = (seed: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let state = seed * 2654435761;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
};
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test.before(async () => {
  const data = await openDataset();
  ({ store, env, file, close } = data);
  for (let shard = 0; shard < SHARDS; shard++) {
    const key = `shards/${shard}.tar`;
    const members: Member[] = [];
    const samples: { jpg: Buffer; cls: Buffer }[] = [];
    for (let i = 0; i < SAMPLES; i++) {
      const jpg = bytesOf(SEED + shard * SAMPLES + i, 3000 + 37 * i);
      const cls = Buffer.from(String(i % 10));
      samples.push({ jpg, cls });
      members.push({ name: `d/${i}.jpg`, data: jpg }, { name: `d/${i}.cls`, data: cls });
    }
    const archive = tar(members);
    let at = 0;
    for (const { jpg, cls } of samples) {
      const offset = at + 512;
      const end = offset + Math.ceil(jpg.length / 512) * 512 + 512 + cls.length;
      truth.set(`${key} ${offset}`, {
        sha256: sha256(archive.subarray(offset, end)),
        jpg: sha256(jpg),
        cls: sha256(cls),
      });
      at = Math.ceil(end / 512) * 512;
    }
    store.put(BUCKET, key, archive);
  }
});
test.after(() => close());

const SOURCE = `s3://${BUCKET}/shards/`;
const document = ({ code, stdout, stderr }: Ended): Record<string, unknown> => {
  assert.is(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
};
const index = async (output: string, ...more: string[]) =>
  document(await os2g(['index', SOURCE, '-o', file(output), '--json', ...more], env));

test('index: a row for each sample, with its fields; the format is said', async () => {
  const call = await os2g(['index', SOURCE, '-o', file('m.arrow')], env);
  assert.is(call.code, 0, call.stderr);
  assert.match(call.stderr, /samples are of the format tar: 6 tar \("shards\/0\.tar", /);
  assert.match(call.stdout, /format +tar: members of one name in a shard, one sample/);
  const manifest = await readManifest(file('m.arrow'));
  assert.equal([manifest.rows, manifest.objects, manifest.facts.format], [SHARDS * SAMPLES, SHARDS, 'tar']);
  for (let row = 0; row < manifest.rows; row++) {
    assert.ok(truth.has(`${manifest.key(row)} ${manifest.offset(row)}`));
    assert.equal(
      manifest.fields(row)?.map(({ name }) => name),
      ['jpg', 'cls'],
    );
  }
});

for (const source of ['s3', 'manifest'] as const) {
  test(`feed of ${source}: every sample whole, with its fields as the audit names them`, async () => {
    const audit = file(`${source}.jsonl`);
    const from = source === 's3' ? [SOURCE] : ['--manifest', file('m.arrow')];
    const argv = ['feed', ...from, '--tail', 'partial', '--batch-samples', '7', '--audit', audit, '--json'];
    const result = document(await os2g(argv, env));
    assert.is(result.samples, SHARDS * SAMPLES);
    const samples = readFileSync(audit, 'utf8')
      .split('\n')
      .filter(Boolean)
      .flatMap((line) => (JSON.parse(line) as { samples: Audited[] }).samples);
    assert.is(new Set(samples.map(({ key, offset }) => `${key} ${offset}`)).size, truth.size);
    for (const sample of samples) {
      const want = truth.get(`${sample.key} ${sample.offset}`);
      assert.is(sample.sha256, want?.sha256);
      const bytes = store.expectedBytes(BUCKET, sample.key, sample.offset, sample.length);
      const fields = sample.fields.map(({ name, offset, length }) => [
        name,
        sha256(bytes.subarray(offset, offset + length)),
      ]);
      assert.equal(fields, [
        ['jpg', want?.jpg],
        ['cls', want?.cls],
      ]);
    }
  });
}

interface Audited {
  key: string;
  offset: number;
  length: number;
  sha256: string;
  fields: { name: string; offset: number; length: number }[];
}

const KEY = 'shards/2.tar';
const FAULTS: [situation: string, match: FaultMatch, fault: Fault, times: number, code: string | null][] = [
  ['503 a few times', { operation: 'get' }, { kind: 'status', status: 503, code: 'SlowDown' }, 4, null],
  ['a body that is cut off', { key: KEY }, { kind: 'cut', afterBodyBytes: 10, how: 'rst' }, 2, null],
  ['500 for good', { key: KEY }, { kind: 'status', status: 500, code: 'InternalError' }, 99, 'server'],
  ['403', { key: KEY }, { kind: 'status', status: 403, code: 'AccessDenied' }, 99, 'forbidden'],
  [
    'another version',
    { key: KEY },
    { kind: 'replace', body: tar([{ name: 'a.x', data: '1' }]) },
    1,
    'changed',
  ],
  ['everything for a range', { key: KEY }, { kind: 'ignore-range' }, 99, 'range'],
  [
    'If-Match not known',
    { operation: 'get' },
    { kind: 'status', status: 501, code: 'NotImplemented' },
    1,
    null,
  ],
];
for (const [situation, match, fault, times, code] of FAULTS) {
  test(`index when ${situation}: ${code ?? 'the same manifest'}`, async () => {
    const before = store.expectedBytes(BUCKET, KEY);
    const rule = store.faults.add({ match, times, fault });
    try {
      const output = `faulty-${situation.replaceAll(' ', '-')}.arrow`;
      const ended = await os2g(['index', SOURCE, '-o', file(output), '--json'], env);
      if (code === null) {
        document(ended);
        assert.ok(readFileSync(file(output)).equals(readFileSync(file('m.arrow'))));
        assert.not(existsSync(file(`${output}.work`)));
        return;
      }
      assert.is(ended.code, 1, ended.stderr);
      const { error } = JSON.parse(ended.stdout) as { error: Record<string, unknown> };
      assert.equal([error.code, error.key], [code, KEY]);
      assert.not(existsSync(file(output)));
    } finally {
      rule.remove();
      store.put(BUCKET, KEY, before);
    }
  });
}

for (const signal of ['SIGKILL', 'SIGINT'] as const) {
  test(`after ${signal} the next run goes on, and says how much it skipped`, async () => {
    const output = `killed-${signal}.arrow`;
    const rule = store.faults.add({ match: { key: 'shards/5.tar' }, fault: { kind: 'silence' } });
    store.resetCounters();
    const call = new Call(['index', SOURCE, '-o', file(output), '--concurrency', '1'], env);
    const work = file(`${output}.work`);
    await call.until(() => existsSync(work) && store.requests().some(({ key }) => key === 'shards/5.tar'));
    call.child.kill(signal);
    const ended = await call.ended;
    assert.equal([ended.code, ended.signal], signal === 'SIGINT' ? [130, null] : [null, 'SIGKILL']);
    rule.remove();
    assert.not(existsSync(file(output)));
    if (signal === 'SIGINT') assert.match(ended.stderr, /what was indexed so far is kept in .*\.work/);
    const again = await os2g(['index', SOURCE, '-o', file(output), '--json'], env);
    const { pieces } = document(again);
    assert.equal(pieces, { read: 1, from_work_file: 5, from_manifest: 0 });
    assert.match(again.stderr, /5 objects had been read by an earlier run and were skipped/);
    assert.ok(readFileSync(file(output)).equals(readFileSync(file('m.arrow'))));
    const left = readdirSync(file('.')).filter((name) => name.includes(output));
    assert.equal(left, [output]);
  });
}

test('an index beside a shard: its headers are read side by side, as many at one time as are asked for', async () => {
  const members = Array.from({ length: 40 }, (_, i) => ({
    name: `${i}.bin`,
    data: new Uint8Array(70_000 + i),
  }));
  store.put(BUCKET, 'indexed/a.tar', tar(members));
  const source = `s3://${BUCKET}/indexed/`;
  const plain = document(await os2g(['index', source, '-o', file('plain.arrow'), '--json'], env));
  store.put(BUCKET, 'indexed/a.idx', Buffer.from(daliIndex(members)));
  for (const concurrency of ['1', '8']) {
    const argv = ['index', source, '-o', file('idx.arrow'), '--concurrency', concurrency, '--json'];
    const result = document(await os2g(argv, env));
    assert.equal([result.samples, result.format_notes], [40, []]);
    assert.is(result.dataset_hash, plain.dataset_hash);
    assert.is(result.requests, 42, 'the index, each header, the end');
  }
  for (const name of ['a.tar', 'a.idx']) store.delete(BUCKET, `indexed/${name}`);
});

test('index --update: counts, and reads of what changed alone', async () => {
  await index('u.arrow');
  store.put(BUCKET, 'shards/6.tar', tar([{ name: 'new.jpg', data: 'n' }]));
  store.resetCounters();
  const result = await index('u.arrow', '--update');
  assert.equal(result.update, { added: 1, removed: 0, changed: 0, unchanged: SHARDS });
  assert.is(result.samples, SHARDS * SAMPLES + 1);
  const gets = store.requests().filter(({ operation }) => operation === 'get');
  assert.equal(
    gets.map(({ key }) => key),
    ['shards/6.tar'],
  );
  const call = await os2g(['index', SOURCE, '-o', file('u.arrow'), '--update'], env);
  assert.match(call.stderr, /samples are of the format tar: as the manifest says/);
  store.delete(BUCKET, 'shards/6.tar');
  const back = await index('u.arrow', '--update');
  assert.equal(back.update, { added: 0, removed: 1, changed: 0, unchanged: SHARDS });
  assert.ok(readFileSync(file('u.arrow')).equals(readFileSync(file('m.arrow'))));
});

test('a manifest that cannot be written is told before the store is asked', async () => {
  store.resetCounters();
  for (const output of [file('nowhere/m.arrow'), file('.')]) {
    const { code, stdout } = await os2g(['index', SOURCE, '-o', output, '--json'], env);
    assert.is(code, 2);
    const { error } = JSON.parse(stdout) as { error: Record<string, unknown> };
    assert.equal([error.code, error.option], ['bad_output', 'output']);
  }
  assert.is(store.counters.requests, 0);
});

const NO_WORK_FILES: [situation: string, make: (path: string) => void][] = [
  ['a file of the user', (path) => writeFileSync(path, 'precious\n'.repeat(100))],
  ['a short file of the user', (path) => writeFileSync(path, 'precious\n')],
  ['a folder', (path) => mkdirSync(path)],
];
for (const [situation, make] of NO_WORK_FILES) {
  test(`${situation} where the work file belongs is not replaced`, async () => {
    const output = file(`${situation.replaceAll(' ', '-')}.arrow`);
    make(`${output}.work`);
    const before = situation === 'a folder' ? null : readFileSync(`${output}.work`);
    const { code, stdout } = await os2g(['index', SOURCE, '-o', output, '--json'], env);
    const { error } = JSON.parse(stdout) as { error: Record<string, unknown> };
    assert.equal([code, error.code, error.option, error.file], [2, 'bad_output', 'output', `${output}.work`]);
    assert.match(String(error.mend), /^move it away/);
    if (before !== null) assert.ok(readFileSync(`${output}.work`).equals(before));
    assert.not(existsSync(output));
  });
}

test('a mix of formats is an error for feed, too', async () => {
  const { code, stdout } = await os2g(['feed', `s3://${BUCKET}/`, '--json'], env);
  assert.is(code, 1);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
  assert.is(error.code, 'mixed_formats');
  assert.match(error.message, /6 tar .* 120 other/);
  assert.match(stdout, /give --format objects/);
});

test('a mix with --format: feed takes the samples of that format, or each object as one', async () => {
  const feed = (format: string) => [
    ...['feed', `s3://${BUCKET}/`, '--format', format, '--batch-samples', '7', '--tail', 'partial', '--json'],
  ];
  assert.is(document(await os2g(feed('tar'), env)).samples, SHARDS * SAMPLES);
  assert.is(document(await os2g(feed('objects'), env)).samples, SHARDS + OBJECTS);
  const { code, stdout } = await os2g(feed('mds'), env);
  assert.is(code, 1);
  assert.match(stdout, /no index.json/);
});

test.run();
