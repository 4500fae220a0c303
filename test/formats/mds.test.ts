import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../runtime-node/errors.js';
import { readImageSize } from '../../runtime-node/formats/jpeg/image-size.js';
import { mdsFormat } from '../../runtime-node/formats/mds/mds.js';
import { type Columns, indexBytes, oneShard, samplesOf, shardBytes, shardEntry } from './mds-files.js';
import {
  bytesOf,
  fixtureFolder,
  fixtureJson,
  indexAll,
  MemoryBucket,
  refusal,
  sha256,
} from './memory-bucket.js';

interface TrueSample {
  shard: string;
  sha256: string;
  /** Name, length and the first 16 digits of the SHA-256, as Streaming cuts the column out. */
  columns: [string, number, string][];
}

const TRUTH = fixtureJson<Record<string, TrueSample[]>>('mds', 'truth.json');

/** Data sets that MDSWriter wrote, and the requests that their shards cost, index.json aside. */
const SETS: [string, number, string[]][] = [
  ['one', 6, ['checksums of shards in the index (sha1, xxh64) were not checked']],
  ['several', 3, []],
  ['fixed', 5, []],
  // The merged index, and both that it was merged from.
  ['merged', 7, []],
];

for (const [name, requests, wantedNotes] of SETS) {
  test(`what MDSWriter wrote (${name}): all samples and columns are what MosaicML Streaming reads back`, async () => {
    const bucket = new MemoryBucket(fixtureFolder(`set/${name}/`, 'mds', name));
    const indexes = bucket.list().filter(({ key }) => key.endsWith('index.json')).length;
    const { rows, notes } = await indexAll(mdsFormat, bucket, `set/${name}/`);
    const found = rows.map((row) => ({
      shard: row.key.slice(`set/${name}/`.length),
      sha256: sha256(bytesOf(bucket, row, 0, row.length)),
      columns: row.fields!.map(({ name: column, offset, length }) => [
        column,
        length,
        sha256(bytesOf(bucket, row, offset, length)).slice(0, 16),
      ]),
    }));
    assert.equal(found, TRUTH[name]);
    assert.equal(notes, wantedNotes);
    assert.is(bucket.requests - indexes, requests);
    for (const row of rows) {
      assert.is(
        row.length,
        row.fields!.reduce((sum, { length }) => sum + length, 0),
      );
      assert.is(row.objectSizeBytes, bucket.listed(row.key).sizeBytes);
      assert.is(row.etag, bucket.listed(row.key).etag);
    }
  });
}

test('pictures in MDS shards: their sizes are what Streaming decodes', async () => {
  const bucket = new MemoryBucket(fixtureFolder('', 'mds', 'one'));
  const { rows } = await indexAll(mdsFormat, bucket);
  const sizes: unknown[] = [];
  for (const { key, offset, fields } of rows) {
    const image = fields!.find(({ name }) => name === 'image')!;
    const size = await readImageSize(bucket, bucket.listed(key), offset + image.offset, image.length);
    sizes.push([size!.width, size!.height]);
  }
  assert.equal(sizes, fixtureJson<Record<string, unknown>>('mds', 'truth.json').one_image_sizes);
});

test('compressed shards: refused by name, with what to do', async () => {
  const problem = await refusal(indexAll(mdsFormat, new MemoryBucket(fixtureFolder('z/', 'mds', 'zipped'))));
  assert.is(problem.code, 'unsupported_data');
  assert.match(problem.message, /z\/shard\.00000\.mds\.zstd: the shard is compressed \(zstd:7\)/);
  assert.match(problem.mend, /unpack it to z\/shard\.00000\.mds.*MDSWriter\(compression=None\)/);
});

const COLUMNS: Columns = { a: null, b: 8, c: null };
const SAMPLES = samplesOf(5, 10, 8, 3);
const SHARD = shardBytes(COLUMNS, SAMPLES);
const entry = (basename: string, changes?: Record<string, unknown>) =>
  shardEntry(basename, COLUMNS, SAMPLES.length, SHARD.length, changes);
const zip = (basename: string) => ({ compression: 'gz', zip_data: { basename, bytes: 9, hashes: {} } });
const EMPTY = new Uint8Array(0);

const TAKEN: [string, Record<string, Uint8Array>, { rows: number; keys: string[]; notes: RegExp[] }][] = [
  [
    'compressed shards that were unpacked beside: the unpacked ones',
    { 'index.json': indexBytes([entry('s.mds', zip('s.mds.gz'))]), 's.mds': SHARD, 's.mds.gz': EMPTY },
    { rows: 5, keys: ['s.mds'], notes: [] },
  ],
  [
    'two splits: put together, and said',
    {
      'train/index.json': indexBytes([entry('s.mds'), entry('t.mds')]),
      'train/s.mds': SHARD,
      'train/t.mds': SHARD,
      'val/index.json': indexBytes([entry('s.mds')]),
      'val/s.mds': SHARD,
    },
    {
      rows: 15,
      keys: ['train/s.mds', 'train/t.mds', 'val/s.mds'],
      notes: [/2 indexes were put together.*train\/: 2, val\/: 1/],
    },
  ],
  [
    'a merged index over one that has a shard more: all shards, and said',
    {
      'index.json': indexBytes([entry('a/s.mds')]),
      'a/index.json': indexBytes([entry('s.mds'), entry('t.mds')]),
      'a/s.mds': SHARD,
      'a/t.mds': SHARD,
    },
    { rows: 10, keys: ['a/s.mds', 'a/t.mds'], notes: [/2 indexes.*\(top\): 1, a\/: 1/] },
  ],
  [
    'shards that no index names: left out, and said',
    { 'index.json': indexBytes([entry('s.mds')]), 's.mds': SHARD, 't.mds': SHARD, 'u.mds.zstd': EMPTY },
    { rows: 5, keys: ['s.mds'], notes: [/left out: 2 shards that no index names \(t\.mds, u\.mds\.zstd\)/] },
  ],
  [
    'other objects: not looked at',
    { 'index.json': indexBytes([entry('s.mds')]), 's.mds': SHARD, 'README.md': EMPTY, 'x/': EMPTY },
    { rows: 5, keys: ['s.mds'], notes: [] },
  ],
  [
    'fields of a later release: not looked at',
    { 'index.json': indexBytes([entry('s.mds', { new_field: [1] })]), 's.mds': SHARD },
    { rows: 5, keys: ['s.mds'], notes: [] },
  ],
  [
    'an index without shards: no rows, and said',
    { 'index.json': indexBytes([]) },
    { rows: 0, keys: [], notes: [/names no shards/] },
  ],
  [
    'a shard without samples',
    {
      'index.json': indexBytes([shardEntry('s.mds', COLUMNS, 0, shardBytes(COLUMNS, []).length)]),
      's.mds': shardBytes(COLUMNS, []),
    },
    { rows: 0, keys: [], notes: [] },
  ],
];

for (const [situation, objects, wanted] of TAKEN) {
  test(situation, async () => {
    const { rows, notes } = await indexAll(mdsFormat, new MemoryBucket(objects));
    assert.is(rows.length, wanted.rows);
    assert.equal([...new Set(rows.map(({ key }) => key))], wanted.keys);
    assert.is(notes.length, wanted.notes.length, notes.join('\n'));
    wanted.notes.forEach((note, i) => void assert.match(notes[i]!, note));
  });
}

const withIndex = (shards: readonly unknown[], version?: number) => ({
  'd/index.json': indexBytes(shards, version),
  'd/s.mds': SHARD,
});

const INDEX_REFUSED: [string, Record<string, Uint8Array>, string, RegExp][] = [
  [
    'no index',
    { 'd/s.mds': SHARD },
    'bad_index',
    /d\/: 1 MDS shard \(d\/s\.mds\), and no index\.json, is below this prefix/,
  ],
  [
    'an index that is not JSON',
    { 'd/index.json': Buffer.from('{"shards"') },
    'bad_index',
    /d\/index\.json: it is not JSON/,
  ],
  [
    'an index that is not UTF-8',
    { 'd/index.json': Uint8Array.from([0x22, 0xff, 0x22]) },
    'bad_index',
    /not JSON/,
  ],
  [
    'an index of something else',
    { 'd/index.json': Buffer.from('{"name":"x"}') },
    'bad_index',
    /it is no MDS index: version is not given/,
  ],
  ['an empty index file', { 'd/index.json': EMPTY }, 'bad_index', /not JSON/],
  ['another version', withIndex([entry('s.mds')], 3), 'bad_index', /version is 3, and must be 2/],
  [
    'a shard of another version',
    withIndex([entry('s.mds', { version: 1 })]),
    'bad_index',
    /of shard 0, version is 1/,
  ],
  [
    'shards of CSV',
    withIndex([entry('s.mds'), entry('t', { format: 'csv' })]),
    'unsupported_data',
    /shard 1 is of the format csv/,
  ],
  [
    'an unknown format',
    withIndex([entry('s.mds', { format: 'x' })]),
    'bad_index',
    /format is "x", and must be "mds"/,
  ],
  ['a shard that is null', withIndex([null]), 'bad_index', /of shard 0, it is null/],
  [
    'no columns',
    withIndex([entry('s.mds', { column_names: [], column_sizes: [], column_encodings: [] })]),
    'bad_index',
    /column_names/,
  ],
  [
    'more names than sizes',
    withIndex([entry('s.mds', { column_sizes: [null] })]),
    'bad_index',
    /3 column_names, 3 column_encodings, 1 column_sizes/,
  ],
  [
    'two columns of one name',
    withIndex([entry('s.mds', { column_names: ['a', 'a', 'b'] })]),
    'bad_index',
    /two columns of one name/,
  ],
  [
    'a column of 0 bytes',
    withIndex([entry('s.mds', { column_sizes: [null, 0, null] })]),
    'bad_index',
    /column_sizes\.1 is 0, and must be at least 1/,
  ],
  [
    'a negative number of samples',
    withIndex([entry('s.mds', { samples: -1 })]),
    'bad_index',
    /samples is -1/,
  ],
  ['half a sample', withIndex([entry('s.mds', { samples: 1.5 })]), 'bad_index', /samples is 1\.5/],
  [
    'a shard that is not there',
    withIndex([entry('s.mds'), entry('t.mds')]),
    'bad_index',
    /d\/t\.mds: the index names this shard, and there is no such object/,
  ],
  [
    'a shard of another size',
    withIndex([entry('s.mds', { raw_data: { basename: 's.mds', bytes: 7 } })]),
    'bad_index',
    /the index says 7 bytes, the object has/,
  ],
  [
    'a shard named twice',
    withIndex([entry('s.mds'), entry('s.mds')]),
    'bad_index',
    /names the shard d\/s\.mds twice/,
  ],
  [
    'a path out of the folder',
    withIndex([entry('../s.mds')]),
    'bad_index',
    /"\.\.\/s\.mds", which is no file below/,
  ],
  ['an absolute path', withIndex([entry('/d/s.mds')]), 'bad_index', /no file below the index's folder/],
  ['a path of Windows', withIndex([entry('d\\s.mds')]), 'bad_index', /no file below the index's folder/],
  [
    'two indexes that contradict each other',
    {
      'd/index.json': indexBytes([entry('a/s.mds')]),
      'd/a/index.json': indexBytes([entry('s.mds', { samples: 4 })]),
      'd/a/s.mds': SHARD,
    },
    'bad_index',
    /d\/a\/index\.json: it says something else of the shard d\/a\/s\.mds than d\/index\.json/,
  ],
  [
    '4 billion samples in a small shard',
    withIndex([entry('s.mds', { samples: 4_000_000_000 })]),
    'bad_shard',
    /whose offsets alone need 16000000008 bytes/,
  ],
  [
    'fewer samples in the index than in the shard',
    withIndex([entry('s.mds', { samples: 4 })]),
    'bad_shard',
    /d\/s\.mds, byte 0: it says 5 samples, the index says 4/,
  ],
  [
    'columns of another data set',
    withIndex([entry('s.mds', { column_sizes: [null, 9, null] })]),
    'bad_shard',
    /do not add up to the sample's 29 bytes/,
  ],
];

for (const [situation, objects, code, message] of INDEX_REFUSED) {
  test(`${situation}: ${code}`, async () => {
    const bucket = new MemoryBucket(objects);
    const problem = await refusal(indexAll(mdsFormat, bucket, 'd/'));
    assert.is(problem.code, code, problem.message);
    assert.match(problem.message, message);
    assert.ok(problem.mend.length > 10);
  });
}

const patchedShard = (at: number, word: number, columns = COLUMNS, samples = SAMPLES) => {
  const bucket = oneShard(columns, samples);
  const shard = bucket.objects.get('d/shard.00000.mds')!;
  new DataView(shard.buffer).setUint32(at, word, true);
  return bucket;
};
const FIRST = new DataView(SHARD.buffer, SHARD.byteOffset).getUint32(4, true);
const ONE_VARIABLE: Columns = { a: null, b: 8 };

const SHARD_REFUSED: [string, MemoryBucket, RegExp][] = [
  ['another count in the head', patchedShard(0, 6), /byte 0: it says 6 samples/],
  ['4 billion samples in the head', patchedShard(0, 0xffffffff), /byte 0: it says 4294967295 samples/],
  ['a first sample within the head', patchedShard(4, 8), /byte 4: a sample is said to begin at 8, before 28/],
  ['offsets that go back', patchedShard(12, FIRST), /byte 12: a sample is said to begin at/],
  [
    'an offset beyond the end',
    patchedShard(8, 0xffffff00),
    /byte 8: a sample is said to begin at 4294967040, beyond/,
  ],
  [
    "an end before the shard's",
    patchedShard(24, SHARD.length - 1),
    /byte 24: the last sample is said to end at/,
  ],
  ['a size beyond the sample', patchedShard(FIRST, 0xffffffff), /do not add up to the sample's 29 bytes/],
  ['a size one too small', patchedShard(FIRST + 4, 2), /do not add up/],
  ['a sample smaller than its sizes', patchedShard(8, FIRST + 4), /do not add up to the sample's 4 bytes/],
  [
    'a sample smaller than its fixed columns',
    patchedShard(8, FIRST + 3, ONE_VARIABLE, samplesOf(5, 10, 8)),
    /do not add up to the sample's \d+ bytes/,
  ],
];

for (const [situation, bucket, message] of SHARD_REFUSED) {
  test(`${situation}: bad_shard, with key and byte`, async () => {
    const problem = await refusal(indexAll(mdsFormat, bucket, 'd/'));
    assert.is(problem.code, 'bad_shard', problem.message);
    assert.match(problem.message, message);
    assert.match(problem.message, /^d\/shard\.00000\.mds, byte \d+: /);
  });
}

const KIB = 1024;
/** Columns, count and lengths of samples; requests and bytes of the shard that may be read. */
const COSTS: [string, Columns, Uint8Array[][], { requests: number; bytes: number }][] = [
  [
    'one variable column: the head alone',
    { a: null, b: 8 },
    samplesOf(100, 20 * KIB, 8),
    { requests: 1, bytes: 4 * 102 },
  ],
  [
    'fixed columns: the head alone',
    { a: 20 * KIB, b: 8 },
    samplesOf(100, 20 * KIB, 8),
    { requests: 1, bytes: 4 * 102 },
  ],
  [
    'several variable columns, up to 512 KiB: the shard in one request',
    { a: null, b: null },
    samplesOf(100, 4 * KIB, 9),
    { requests: 1, bytes: 420 * KIB },
  ],
  [
    'several variable columns, samples of 100 KiB: the shard in ranges of 4 MiB',
    { a: null, b: null },
    samplesOf(90, 100 * KIB, 9),
    { requests: 1 + 3, bytes: 9003 * KIB },
  ],
  [
    'several variable columns, samples of 600 KiB: the head, and 8 bytes of each',
    { a: null, b: null },
    samplesOf(12, 600 * KIB, 9),
    { requests: 1 + 12, bytes: 4 * 14 + 8 * 12 },
  ],
];

for (const [situation, columns, samples, wanted] of COSTS) {
  test(`cost, ${situation}`, async () => {
    const bucket = oneShard(columns, samples);
    const plan = await mdsFormat.plan(bucket.list(), 'd/', bucket);
    const [requests, bytes] = [bucket.requests, bucket.bytes];
    let rows = 0;
    for await (const some of plan.units[0]!.rows(bucket)) rows += some.length;
    assert.is(rows, samples.length);
    assert.is(bucket.requests - requests, wanted.requests);
    assert.ok(bucket.bytes - bytes <= wanted.bytes, `${bucket.bytes - bytes} bytes`);
    assert.ok(bucket.largestAnswer <= 4 * KIB * KIB);
  });
}

const MANY = 300_000;
/** Columns, bytes of a sample's sizes, and requests: two for offsets, and ranges of 4 MiB where there are sizes to read. */
const LONG_SHARDS: [string, Columns, number, number][] = [
  ['a fixed column', { a: 1 }, 0, 2],
  ['two variable columns', { a: null, b: null }, 8, 2 + 2],
];

for (const [situation, columns, headBytes, requests] of LONG_SHARDS) {
  test(`more samples than one read of offsets has, ${situation}: none lost, none twice`, async () => {
    const samples = samplesOf(MANY, ...Object.keys(columns).map(() => 1));
    const shard = shardBytes(columns, samples);
    const index = indexBytes([shardEntry('s.mds', columns, MANY, shard.length)]);
    const bucket = new MemoryBucket({ 'index.json': index, 's.mds': shard });
    const plan = await mdsFormat.plan(bucket.list(), '', bucket);
    const dataBytes = Object.keys(columns).length;
    let [rows, next, largest] = [0, shard.length - MANY * (headBytes + dataBytes) + headBytes, 0];
    for await (const some of plan.units[0]!.rows(bucket)) {
      for (const { offset, length } of some) {
        if (offset !== next || length !== dataBytes)
          assert.unreachable(`row ${rows}: ${length} bytes at ${offset}`);
        next += headBytes + dataBytes;
      }
      rows += some.length;
      largest = Math.max(largest, some.length);
    }
    assert.is(rows, MANY);
    assert.is(bucket.requests, 1 + requests);
    assert.ok(largest <= 4096);
  });
}

for (const failing of [1, 2, 3, 5]) {
  test(`read ${failing} of a shard fails: the run fails with it, whatever was read ahead`, async () => {
    const bucket = oneShard({ a: null, b: null }, samplesOf(12, 600 * KIB, 9));
    const plan = await mdsFormat.plan(bucket.list(), 'd/', bucket);
    const read = bucket.read.bind(bucket);
    let reads = 0;
    bucket.read = async (...range) => {
      if (++reads >= failing) throw new StoreError('throttled', 'enough', 'wait');
      return read(...range);
    };
    const work = async () => {
      for await (const _rows of plan.units[0]!.rows(bucket));
    };
    assert.is((await refusal(work())).code, 'throttled');
  });
}

test('keys: which hold samples, which belong to those', () => {
  const keys: [string, 'claimed' | 'beside' | 'neither'][] = [
    ['index.json', 'beside'],
    ['a/index.json', 'beside'],
    ['a/shard.00000.mds', 'claimed'],
    ['a/shard.00000.mds.zstd', 'claimed'],
    ['a/myindex.json', 'neither'],
    ['a/shard.tar', 'neither'],
  ];
  for (const [key, wanted] of keys) {
    assert.equal(
      [mdsFormat.claims(key), mdsFormat.accompanies!(key)],
      [wanted === 'claimed', wanted === 'beside'],
      key,
    );
  }
});

test.run();
