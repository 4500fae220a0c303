// `os2g index --image-size` on the scripted store, as a process; what the feed's batches then say.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openFeed } from '../../runtime-node/feed/open.js';
import { BUCKET, type Dataset, openDataset } from '../cli/kit/dataset.js';
import { os2g } from '../cli/kit/process.js';
import { keysOf, withAwsEnv } from '../s3/aws-env.js';
import { fixtureFolder, fixtureJson } from './memory-bucket.js';
import { tar } from './tar-writer.js';

let data: Dataset;
/** By name of the file; what is none of these is no JPEG or PNG. */
const SIZES = fixtureJson<Record<string, [number, number]>>('images', 'truth.json');
const IMAGES = Object.entries(fixtureFolder('', 'images')).filter(([name]) => !name.endsWith('.json'));
const OTHERS = IMAGES.filter(([name]) => !(name in SIZES)).map(([name]) => name);

test.before(async () => {
  data = await openDataset();
  for (const [name, bytes] of IMAGES) data.store.put(BUCKET, `images/all/${name}`, Buffer.from(bytes));
  const members = IMAGES.flatMap(([name, bytes]) => [
    { name: `${name.replace('.', '_')}.txt`, data: name },
    { name: name.replace('.', `_${name.split('.')[1]}.`), data: bytes },
  ]).sort((a, b) => (a.name < b.name ? -1 : 1));
  data.store.put(BUCKET, 'sized/0.tar', tar(members));
});
test.after(() => data.close());

const FORMATS: [format: string, source: string, nameOf: (key: string, text: string) => string][] = [
  ['objects', `s3://${BUCKET}/images/`, (key) => key.split('/').at(-1)!],
  ['tar', `s3://${BUCKET}/sized/`, (_key, text) => text],
];
for (const [format, source, nameOf] of FORMATS) {
  test(`${format}: the result counts, the notes name, and a batch tells the sizes that Pillow reads`, async () => {
    data.store.resetCounters();
    const output = data.file(`${format}.arrow`);
    const argv = [
      'index',
      source,
      '-o',
      output,
      '--image-size',
      '--concurrency',
      '4',
      '--progress',
      'always',
    ];
    const { code, stdout, stderr } = await os2g([...argv, '--json'], data.env);
    assert.is(code, 0, stderr);
    const result = JSON.parse(stdout) as Record<string, unknown>;
    assert.is(result.format, format);
    assert.equal(result.pictures, { sized: Object.keys(SIZES).length, without: OTHERS.length });
    assert.match(
      JSON.stringify(result.format_notes),
      new RegExp(`width and height are null: ${OTHERS.length} `),
    );
    assert.match(stderr, /reading/, 'progress is shown');
    const small = data.store.requests().filter(({ operation, key, range }) => {
      if (operation !== 'get') return false;
      // An object that is asked for as a whole is asked for without a range.
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
      const bytes =
        to === undefined ? data.store.expectedBytes(BUCKET, key!).length : Number(to) + 1 - Number(from);
      return bytes <= 1024;
    });
    assert.ok(small.length >= IMAGES.length);
    // The headers of a shard are read in larger pieces.
    if (format === 'objects') assert.is(small.length, result.requests);
    const { credentials, region, endpoint } = data.store;
    await withAwsEnv({ ...keysOf(credentials), AWS_REGION: region }, async () => {
      const feed = await openFeed({ manifest: output, batchSamples: 5, tail: 'partial', s3: { endpoint } });
      let pictures = 0;
      for await (const batch of feed) {
        for (let i = 0; i < batch.length; i++) {
          const text = batch.fields(i)?.find(({ name: field }) => field === 'txt');
          const said = batch.bytes(i).subarray(text?.offset ?? 0, (text?.offset ?? 0) + (text?.length ?? 0));
          const name = nameOf(batch.key(i), Buffer.from(said).toString());
          assert.equal([batch.width(i), batch.height(i)], SIZES[name] ?? [null, null], name);
          pictures++;
        }
      }
      await feed.close();
      assert.is(pictures, IMAGES.length);
    });
  });
}

test('tensors: refused before the store is asked', async () => {
  data.store.resetCounters();
  const argv = ['index', `s3://${BUCKET}/t/`, '-o', data.file('n.arrow'), '--format', 'npy', '--image-size'];
  const { code, stdout } = await os2g([...argv, '--json'], data.env);
  assert.is(code, 2);
  assert.match(stdout, /"option":"image-size"/);
  assert.is(data.store.counters.requests, 0);
});

test.run();
