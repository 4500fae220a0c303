// Data sets that MosaicML Streaming, NumPy and pyarrow wrote, through the command from a real S3 server: what the feed lands is what
// those tools themselves read back. The files and the truth are fixtures, with the scripts that made them beside.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readManifest } from '../../runtime-node/manifest/arrow-file.js';
import { fixtureFile, fixtureFolder, fixtureJson } from '../formats/memory-bucket.js';
import { type AuditedSample, readAudit, samplesOf } from './audit.js';
import { type Rig, rigTests } from './rig.js';
import { seededBytes, sha256 } from './truth.js';

const SEED = 424_242;
const MDS_SETS = ['one', 'several', 'fixed', 'merged'];

interface MdsSample {
  shard: string;
  sha256: string;
  columns: [string, number, string][];
}

interface Range {
  key: string;
  offset: number;
  length: number;
  label: string;
}

const RANGES = fixtureJson<Range[]>('parquet', 'ranges.json');
const objectBytes = (key: string): Buffer => seededBytes(SEED, Number(/\d+/.exec(key)![0]), 400);

function* objects(): Generator<{ key: string; body: Buffer }> {
  const files = {
    ...Object.assign({}, ...MDS_SETS.map((name) => fixtureFolder(`mds/${name}/`, 'mds', name))),
    ...fixtureFolder('mds/zipped/', 'mds', 'zipped'),
    ...fixtureFolder('npy/', 'npy', 'read'),
    'lists/ranges.parquet': fixtureFile('parquet', 'columns', 'ranges.parquet'),
  } as Record<string, Uint8Array>;
  for (const [key, body] of Object.entries(files)) yield { key, body: Buffer.from(body) };
  for (const key of new Set(RANGES.map(({ key }) => key))) yield { key, body: objectBytes(key) };
}

const it = rigTests(async (rig) => {
  await rig.store.writer.putAll(rig.store.bucket, objects());
});

interface Epoch {
  index: Record<string, unknown>;
  manifest: string;
  samples: AuditedSample[];
}

/** Indexes a prefix, feeds one epoch of it, shuffled, and reads the audit; samples in the order of the manifest. */
async function epochOf(rig: Rig, prefix: string, name: string): Promise<Epoch> {
  const [manifest, audit] = [rig.file(`${name}.arrow`), rig.file(`${name}.jsonl`)];
  const index = await rig.result(['index', rig.url(prefix), '-o', manifest]);
  const order = ['--batch-samples', '8', '--tail', 'partial', '--seed', '3'];
  await rig.result(['feed', '--manifest', manifest, ...order, '--audit', audit]);
  const samples = samplesOf(readAudit(audit)).sort((a, b) => a.index - b.index);
  assert.equal(
    samples.map((sample) => sample.index),
    samples.map((_, row) => row),
    'each row once',
  );
  return { index, manifest, samples };
}

for (const name of MDS_SETS) {
  it(`MDS (${name}): an epoch is what MosaicML Streaming reads back, column by column`, async (rig) => {
    const prefix = `mds/${name}/`;
    const { index, samples } = await epochOf(rig, prefix, `mds-${name}`);
    assert.is(index.format, 'mds');
    const found = samples.map((sample) => ({
      shard: sample.key.slice(prefix.length),
      sha256: sample.sha256,
      columns: (sample as AuditedSample & { fields: { name: string; length: number }[] }).fields.map(
        ({ name: column, length }) => [column, length],
      ),
    }));
    const truth = fixtureJson<Record<string, MdsSample[]>>('mds', 'truth.json')[name]!;
    assert.equal(
      found,
      truth.map(({ columns, ...sample }) => ({
        ...sample,
        columns: columns.map(([column, length]) => [column, length]),
      })),
    );
  });
}

it('MDS, compressed: refused by name, nothing written', async (rig) => {
  const { exit, error } = await rig.failure(['index', rig.url('mds/zipped/'), '-o', rig.file('z.arrow')]);
  assert.equal([exit, error.code], [1, 'unsupported_data']);
});

it('.npy: an epoch is the bytes of the tensors, with dtype and shape, as NumPy reads them back', async (rig) => {
  const { index, manifest: file, samples } = await epochOf(rig, 'npy/', 'npy');
  assert.is(index.format, 'npy');
  const manifest = await readManifest(file);
  const found = samples.map(({ key, sha256: hash, index: row }) => [
    key.slice('npy/'.length),
    { dtype: manifest.dtype(row), shape: manifest.shape(row), sha256: hash },
  ]);
  assert.equal(Object.fromEntries(found), fixtureJson('npy', 'truth.json'));
});

it('Parquet: an epoch is the ranges that the list names, in objects outside of its prefix', async (rig) => {
  const { index, manifest: file, samples } = await epochOf(rig, 'lists/', 'parquet');
  assert.is(index.format, 'parquet');
  const manifest = await readManifest(file);
  const found = samples.map(({ key, offset, length, sha256: hash, index: row }) => {
    return { key, offset, length, label: manifest.label(row), sha256: hash };
  });
  const wanted = RANGES.map((range) => {
    const body = objectBytes(range.key).subarray(range.offset, range.offset + range.length);
    return { ...range, sha256: sha256(body) };
  });
  assert.equal(found, wanted);
});

test.run();
