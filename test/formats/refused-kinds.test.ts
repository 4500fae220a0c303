// Data that is whole and of a kind that is not read, through the command: refused by name, with what to do; and what falls to `objects`.
import { existsSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BUCKET, type Dataset, openDataset } from '../cli/kit/dataset.js';
import { os2g } from '../cli/kit/process.js';
import { fixtureFile, fixtureFolder } from './memory-bucket.js';
import { tar } from './tar-writer.js';

let data: Dataset;
const JUNK = Buffer.from('junk');
const NPZ = fixtureFile('npy', 'refused', 'archive.npz');
const SHARD = tar([{ name: 'a.bin', data: '1' }]);

const PREFIXES: Record<string, Record<string, Uint8Array>> = {
  npz: { 'a.npz': NPZ, 'b.npz': NPZ },
  'npz-and-npy': { 'a.npz': NPZ, 'b.npy': fixtureFile('npy', 'read', 'top_level.npy') },
  mds: fixtureFolder('', 'mds', 'zipped'),
  'tar.gz': { '0.tar.gz': JUNK, '1.tar.gz': JUNK, LICENSE: JUNK },
  tgz: { '0.TGZ': JUNK },
  'tar-and-gz': { '0.tar': SHARD, '1.tar.gz': JUNK },
  'mostly-gz': { '0.tar': SHARD, '1.tar.gz': JUNK, '2.tar.gz': JUNK },
  unknown: { 'a.webp': JUNK, 'b.bin': JUNK, c: JUNK },
  'few-gz': { 'a.webp': JUNK, 'b.bin': JUNK, 'c.tar.gz': JUNK },
};
test.before(async () => {
  data = await openDataset();
  for (const [prefix, objects] of Object.entries(PREFIXES))
    for (const [name, bytes] of Object.entries(objects))
      data.store.put(BUCKET, `${prefix}/${name}`, Buffer.from(bytes));
});
test.after(() => data.close());

const REFUSED: [prefix: string, format: string | null, code: string, key: string | null, mend: RegExp][] = [
  ['npz', null, 'unsupported_data', 'npz/a.npz', /numpy\.save/],
  ['npz', 'npy', 'unsupported_data', 'npz/a.npz', /numpy\.save/],
  ['mds', null, 'unsupported_data', 'mds/shard.00000.mds.zstd', /unpack it/],
  ['tar.gz', null, 'unsupported_data', 'tar.gz/0.tar.gz', /store the shards as plain \.tar/],
  ['tar.gz', 'tar', 'unsupported_data', 'tar.gz/0.tar.gz', /store the shards as plain \.tar/],
  ['tgz', null, 'unsupported_data', 'tgz/0.TGZ', /store the shards as plain \.tar/],
  ['mostly-gz', null, 'mixed_formats', null, /--format objects/],
];
for (const [prefix, format, code, key, mend] of REFUSED) {
  test(`${prefix}, ${format === null ? 'found out' : `--format ${format}`}: ${code}, exit 1, with a mend`, async () => {
    const output = data.file(`${prefix}.arrow`);
    const named = format === null ? [] : ['--format', format];
    const ended = await os2g(
      ['index', `s3://${BUCKET}/${prefix}/`, '-o', output, ...named, '--json'],
      data.env,
    );
    assert.is(ended.code, 1, ended.stderr);
    const { error } = JSON.parse(ended.stdout) as { error: Record<string, unknown> };
    assert.equal([error.code, error.key ?? null], [code, key]);
    assert.match(String(error.mend), mend);
    assert.not(existsSync(output));
    assert.not(existsSync(`${output}.work`));
  });
}

const TAKEN: [prefix: string, argv: string[], format: string, samples: number, said: RegExp][] = [
  ['unknown', [], 'objects', 3, /format objects: 3 objects \("unknown\/a\.webp", .*\) of no other format/],
  ['few-gz', [], 'objects', 3, /format objects: 3 objects .* of no other format/],
  ['npz', ['--format', 'objects'], 'objects', 2, /format objects: as asked for/],
  ['npz-and-npy', [], 'npy', 1, /left out: 1 \.npz archive \(npz-and-npy\/a\.npz\)/],
  ['tar-and-gz', [], 'tar', 1, /left out: 1 compressed archive \(tar-and-gz\/1\.tar\.gz\)/],
];
for (const [prefix, argv, format, samples, said] of TAKEN) {
  test(`${[prefix, ...argv].join(' ')}: ${format}, and it is said`, async () => {
    const output = data.file(`${prefix}-taken.arrow`);
    const ended = await os2g(
      ['index', `s3://${BUCKET}/${prefix}/`, '-o', output, ...argv, '--json'],
      data.env,
    );
    assert.is(ended.code, 0, ended.stderr);
    const result = JSON.parse(ended.stdout) as Record<string, unknown>;
    assert.equal([result.format, result.samples], [format, samples]);
    assert.match(ended.stderr, said);
  });
}

test.run();
