// Keys with every kind of character, listed and read byte-exact (case 1); keys that a store folds into others (case 2).
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writeManifest } from '../../runtime-node/manifest/arrow-file.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { readAudit, samplesOf } from './audit.js';
import { rigTests } from './rig.js';
import { RefusedWrite } from './s3-writer.js';
import { seededBytes, sha256 } from './truth.js';

/** What SeaweedFS stores under the very key that it is given. */
const KEYS = [
  ...['a=b', 'a+b', 'a%b', 'a%20b', 'a b', 'a^b', 'a#b', 'a?b', 'a&b', 'a&amp;b', "a'()!*b", 'a;b,c:d@e$f'],
  ...[
    'a"<>b',
    'a|b`{}[]~',
    '+',
    '%',
    '?',
    '#',
    '%2F',
    'a%2Fb',
    'a%252Fb',
    ' leading',
    'trailing ',
    '.hidden',
  ],
  ...['dots...', 'x/.y/z', 'é', 'e\u0301', '😀', '日本/語', 'nbsp\u00a0x', '\u200bwidth', '\ufffd', '\uffff'],
  ...[
    'tab\tx',
    'line\nx',
    'control\u0001x',
    'delete\u007fx',
    'out',
    'out/x',
    'deep/'.repeat(100),
    'n'.repeat(255),
  ],
].map((key) => (key.endsWith('/') ? `${key}end` : key));

/** What it refuses: `.` and `..` as a name, and names above 255 bytes, which it keeps as file names. */
const REFUSED = ['a/../b', 'a/./b', '..', '.', 'n'.repeat(256)];

/** What it stores under another key, since it takes a key for a path: it drops double slashes, and a backslash is a slash. */
const FOLDED: [key: string, storedAs: string][] = [
  ['fold//double', 'fold/double'],
  ['/fold/leading', 'fold/leading'],
  ['fold\\back', 'fold/back'],
];

const it = rigTests(async () => {});

it('keys with every kind of character: index and feed are exact', async (rig) => {
  const bodies = KEYS.map((_, i) => seededBytes(9, i, 100 + i));
  const objects = KEYS.map((key, i) => ({ key: `keys/${key}`, body: bodies[i] as Buffer }));
  // One after the other: of `out` and `out/x` written at one moment SeaweedFS loses the first now and then.
  for (const { key, body } of objects) await rig.store.writer.put(rig.store.bucket, key, body);
  const manifest = rig.file('keys.arrow');
  const { samples } = await rig.result(['index', rig.url('keys/'), '-o', manifest]);
  assert.is(samples, KEYS.length);
  for (const source of [['--manifest', manifest], [rig.url('keys/')]]) {
    const audit = rig.file('keys.jsonl');
    await rig.result(['feed', ...source, '--batch-samples', '7', '--tail', 'partial', '--audit', audit]);
    const read = samplesOf(readAudit(audit)).map(({ key, sha256 }) => [key, sha256]);
    const expected = objects.map(({ key, body }) => [key, sha256(body)]);
    assert.equal(Object.fromEntries(read), Object.fromEntries(expected));
    assert.is(read.length, KEYS.length);
  }
});

it('rows of a manifest lie in the bytewise order of their keys', async (rig) => {
  const audit = rig.file('ordered.jsonl');
  await rig.result(['feed', rig.url('keys/'), '--shuffle', 'none', '--batch-samples', '1', '--audit', audit]);
  const read = samplesOf(readAudit(audit)).map(({ key }) => key);
  const sorted = [...read].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.equal(read, sorted);
});

for (const key of REFUSED) {
  it(`SeaweedFS does not store ${JSON.stringify(key.slice(0, 20))}`, async (rig) => {
    const error = await rig.store.writer.put(rig.store.bucket, `keys/${key}`, Buffer.from('x')).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    assert.instance(error, RefusedWrite);
  });
}

for (const [key, storedAs] of FOLDED) {
  it(`${JSON.stringify(key)}, which the store folds into ${storedAs}: another object's bytes are never delivered`, async (rig) => {
    // Of the same length: only the ETag can tell.
    const [wanted, other] = [seededBytes(10, 0, 64), seededBytes(10, 1, 64)];
    const { writer, bucket } = rig.store;
    const etag = await writer.put(bucket, key, wanted);
    await writer.put(bucket, storedAs, other);
    const manifest = rig.file('folded.arrow');
    await writeManifest(manifest, manifestFromColumns({ keys: [key], lengths: [64], etags: [etag], bucket }));
    const audit = rig.file('folded.jsonl');
    const { exit, error } = await rig.failure([
      'feed',
      '--manifest',
      manifest,
      '--batch-samples',
      '1',
      '--audit',
      audit,
    ]);
    assert.equal({ exit, code: error.code, key: error.key }, { exit: 1, code: 'changed', key });
    assert.equal(readAudit(audit), []);
  });
}

test.run();
