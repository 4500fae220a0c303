// What people read when something is not as they thought: situation -> words.
import { writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resultText } from '../../runtime-node/cli/feed/report.js';
import { counted } from '../../runtime-node/cli/output/numbers.js';
import { printableStart } from '../../runtime-node/engine/error-document.js';
import { socketFailure } from '../../runtime-node/engine/socket-failure.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { BUCKET, type Dataset, openDataset } from './kit/dataset.js';
import { os2g } from './kit/process.js';

let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

/** Writes files by name, `@name` in the call stands for their path. */
function call(argv: readonly string[], files: Record<string, string> = {}): ReturnType<typeof os2g> {
  for (const [name, text] of Object.entries(files)) writeFileSync(data.file(name), text);
  const words = argv.map((word) => (word.startsWith('@') ? data.file(word.slice(1)) : word));
  return os2g(words, data.env);
}

const source = `s3://${BUCKET}/train/`;
const policy = (set: object): string => JSON.stringify({ schema: 'os2g.policy/1', preset: 'os2g', set });

const refusals: [name: string, argv: string[], files: Record<string, string>, says: RegExp][] = [
  ['a manifest as the source', ['feed', 'train.arrow'], {}, /--manifest train\.arrow/],
  ['nothing as the source', ['feed', ''], {}, /--manifest FILE/],
  [
    'a source as the manifest',
    ['feed', '--manifest', source],
    {},
    /a manifest is a local file[\s\S]*os2g feed s3:\/\/BUCKET\/PREFIX/,
  ],
  [
    'a prefix of no bucket',
    ['index', 's3://nowhere/imgs/', '-o', '@m.arrow'],
    {},
    /cannot list s3:\/\/nowhere\/imgs\//,
  ],
  [
    'a size without its unit in a policy file',
    ['feed', source, '--policy', '@p.json'],
    { 'p.json': policy({ 'window.bytes': 5 }) },
    /p\.json[\s\S]*5 is not text with a unit[\s\S]*for example "\d+MiB"/,
  ],
  [
    'a count as text in a policy file',
    ['feed', source, '--policy', '@p.json'],
    { 'p.json': policy({ 'concurrency.max': '16' }) },
    /"16" is not a whole number[\s\S]*for example \d+/,
  ],
  [
    'a setting that is none in a policy file',
    ['feed', source, '--policy', '@p.json'],
    { 'p.json': policy({ 'window.byte': '1MiB' }) },
    /p\.json[\s\S]*did you mean/,
  ],
  [
    'a policy file of another schema',
    ['feed', source, '--policy', '@p.json'],
    { 'p.json': '{"schema":"os2g.policy/2"}' },
    /schema is "os2g\.policy\/2", and must be "os2g\.policy\/1"/,
  ],
  [
    'a policy file without a schema',
    ['feed', source, '--policy', '@p.json'],
    { 'p.json': '{}' },
    /schema is not given, and must be "os2g\.policy\/1"/,
  ],
  [
    'a field that is none in a policy file',
    ['feed', source, '--policy', '@p.json'],
    { 'p.json': '{"schema":"os2g.policy/1","sets":{}}' },
    /it has the field "sets", which is none of its fields/,
  ],
  [
    'a cursor of another kind',
    ['feed', source, '--resume', '@c.json'],
    { 'c.json': '{"schema":"other"}' },
    /schema is "other", and must be "os2g\.cursor\/1"/,
  ],
  [
    'a policy file that is not there',
    ['feed', source, '--policy', '@gone.json'],
    {},
    /gone\.json[\s\S]*there is no such file/,
  ],
  [
    'a cursor that is not there',
    ['feed', source, '--resume', '@gone.json'],
    {},
    /gone\.json[\s\S]*there is no such file/,
  ],
  [
    'a configuration that is not there',
    ['feed', source, '--config', '@gone.json'],
    {},
    /gone\.json[\s\S]*there is no such file/,
  ],
  ['a trace that is not there', ['replay', '@gone.trace'], {}, /gone\.trace[\s\S]*there is no such file/],
  ['an audit in no folder', ['feed', source, '--audit', '/nowhere/a'], {}, /\/nowhere\/a/],
];
for (const [name, argv, files, says] of refusals) {
  test(`refused in words: ${name}`, async () => {
    const { code, stderr } = await call(argv, files);
    assert.ok(code === 1 || code === 2, stderr);
    assert.match(stderr, says);
    // Neither the parser's own sentence, nor the system's, which names the path a second time.
    assert.not.match(stderr, /Invalid input|no such file or directory|, open '/);
    const paths = stderr.match(/\S*gone\.\w+/g) ?? [];
    assert.ok(paths.length <= 1, stderr);
  });
}

test('feed names what it leaves out of a listing as index does', async () => {
  data.store.createBucket('noted');
  for (const [key, sizeBytes] of [
    ['t/', 0],
    ['t/a', 0],
    ['t/b', 10],
  ] as const)
    data.store.put('noted', key, { sizeBytes, seed: 1 });
  const feed = await call(['feed', 's3://noted/t/', '--batch-samples', '1']);
  const index = await call(['index', 's3://noted/t/', '-o', '@noted.arrow']);
  for (const { code, stderr } of [feed, index]) {
    assert.is(code, 0, stderr);
    assert.match(stderr, /1 folder marker of zero bytes left out: "t\/"/);
    assert.match(stderr, /1 object of zero bytes kept as empty samples: "t\/a"/);
  }
});

test('an object that is not there: the bucket is named, since a store may say so of a bucket, too', async () => {
  const { code } = await call(['index', source, '-o', '@m.arrow']);
  assert.is(code, 0);
  data.store.createBucket('other');
  const { code: failed, stderr } = await call(['feed', '--manifest', '@m.arrow', '--bucket', 'other']);
  assert.is(failed, 1);
  assert.match(stderr, /in bucket other/);
  assert.match(stderr, /check that this is the bucket/);
});

test('one of a kind is no plural', async () => {
  assert.equal(
    [0, 1, 2].map((n) => counted(n, 'batch', 'batches')),
    ['0 batches', '1 batch', '2 batches'],
  );
  const { code, stdout, stderr } = await call(['feed', source, '--batch-samples', '120', '--json']);
  assert.is(code, 0, stderr);
  const stats = JSON.parse(stdout) as FeedStats;
  const text = resultText(
    { ...stats, requests: 1, retries: 1, hedges: 1, list_requests: 1, padded: 1 },
    undefined,
  );
  assert.match(text, /in 1 batch, 1 pad$/m);
  assert.match(text, /1 read \(1 retry, 1 hedge\), 1 listing/);
  assert.not.match(`${text}\n${stderr}`, /landing memory: landing memory|MiB in memory|memory: landing/);
});

test('the beginning of a body ends at a tag, or says that it goes on', () => {
  assert.is(printableStart('<Error>short</Error>'), '<Error>short</Error>');
  const tags = printableStart(`<Error>${'<Code>SlowDown</Code>'.repeat(20)}`);
  assert.match(tags, /<\/Code>\.\.\.$/);
  assert.ok(tags.length <= 203);
  assert.is(printableStart('x'.repeat(500)), `${'x'.repeat(200)}...`);
  assert.is(printableStart('a\u0007b'), 'a.b');
});

test('https on a port of http: said without the lines of OpenSSL', () => {
  const error = Object.assign(
    new Error(
      'write EPROTO 00A8:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/ssl3_record.c:354:\n',
    ),
    { code: 'EPROTO' },
  );
  const { name, what } = socketFailure(error, { sent: false, answered: false, reused: false });
  assert.is(name, 'tls');
  assert.is(what, 'TLS failed: this port speaks http, not https');
});

test.run();
