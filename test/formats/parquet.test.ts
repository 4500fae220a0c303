import * as zlib from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SampleRow } from '../../runtime-node/formats/format.js';
import { parquetFormat } from '../../runtime-node/formats/parquet/parquet.js';
import { fixtureFile, fixtureFolder, fixtureJson, indexAll, MemoryBucket, refusal } from './memory-bucket.js';

interface TrueRow {
  key: string;
  offset: number;
  length: number;
  etag: string | null;
  object_size: number;
  label: string | null;
  width: number | null;
  height: number;
}

const TRUTH = fixtureJson<TrueRow[]>('parquet', 'truth.json');
const listed = ({ key, offset, length, etag, objectSizeBytes, label, width, height }: SampleRow) => {
  return { key, offset, length, etag, object_size: objectSizeBytes, label, width, height };
};
const list = (...path: string[]) => new MemoryBucket({ 'lists/a.parquet': fixtureFile('parquet', ...path) });

for (const file of Object.keys(fixtureFolder('', 'parquet', 'read'))) {
  test(`what pyarrow wrote (${file}): all rows are what it reads back`, async () => {
    const bucket = list('read', file);
    const { rows, notes } = await indexAll(parquetFormat, bucket, 'lists/');
    assert.equal(rows.map(listed), TRUTH);
    assert.equal(notes, []);
    // The footer for the plan and for the work, then a range for each column of each row group.
    const groups = file === 'groups.parquet' ? 4 : 1;
    assert.is(bucket.requests, 2 + 8 * groups);
    assert.equal(bucket.stats, []);
  });
}

test('zstd: read where Node has it, else refused by name', async () => {
  const bucket = list('zstd', 'zstd.parquet');
  if ('zstdDecompressSync' in zlib) {
    assert.equal((await indexAll(parquetFormat, bucket)).rows.map(listed), TRUTH);
    return;
  }
  const problem = await refusal(indexAll(parquetFormat, bucket));
  assert.is(problem.code, 'unsupported_data');
  assert.match(
    problem.message,
    /column key is compressed with ZSTD; here are read UNCOMPRESSED, SNAPPY, GZIP, BROTLI/,
  );
  assert.match(problem.mend, /Node 22\.15 or later/);
});

const REFUSED: [string, string, RegExp][] = [
  ['negative', 'bad_index', /row 2, column offset: -1 is negative/],
  ['null_offset', 'bad_index', /row 2, column offset: it is null/],
  ['null_key', 'bad_index', /row 2, column key: it is null/],
  ['empty_key', 'bad_index', /row 2, column key: it is empty/],
  ['nan', 'bad_index', /row 2, column length: NaN is not a whole number/],
  ['fraction', 'bad_index', /row 2, column length: 1\.5 is not a whole number/],
  [
    'beyond_signed',
    'bad_index',
    /row 2, column object_size: 9007199254740992 is not a whole number up to 2\^53 - 1/,
  ],
  ['beyond_unsigned', 'bad_index', /row 2, column object_size: 18446744073709551615 is not a whole number/],
  ['end_beyond', 'bad_index', /row 2, column length: offset 0 and length 11 end beyond the 10 bytes of a/],
  ['address', 'bad_index', /row 2, column key: "s3:\/\/bucket\/c" is an address, not a key/],
  ['long_key', 'bad_index', /row 2, column key: it has 1025 bytes/],
  ['no_text', 'bad_shard', /a page of column key is damaged/],
  ['fraction_label', 'bad_index', /row 2, column label: 2\.5 is not a whole number/],
  ['text_offset', 'bad_index', /column offset is BYTE_ARRAY STRING, and must be whole numbers/],
  ['time_label', 'bad_index', /column label is INT64 TIMESTAMP, and must be text or whole numbers/],
  ['number_key', 'bad_index', /column key is INT64, and must be text/],
  ['nested_key', 'bad_index', /column key is a nested column, and must be text/],
  [
    'no_key',
    'bad_index',
    /it has no column key \(but offset, length, etag, object_size, label, width, height\)/,
  ],
  ['lz4', 'unsupported_data', /column key is compressed with LZ4_RAW/],
  ['delta_byte_array', 'unsupported_data', /column key holds a page as DELTA_BYTE_ARRAY, which is not read/],
];

test('each refused fixture has its row in the table', () => {
  const files = Object.keys(fixtureFolder('', 'parquet', 'refused')).map((file) =>
    file.replace('.parquet', ''),
  );
  assert.equal(REFUSED.map(([name]) => name).sort(), files.sort());
});

for (const [name, code, message] of REFUSED) {
  test(`${name}: ${code}, with file, row and column`, async () => {
    const problem = await refusal(indexAll(parquetFormat, list('refused', `${name}.parquet`)));
    assert.is(problem.code, code, problem.message);
    assert.match(problem.message, message);
    assert.match(problem.message, /^lists\/a\.parquet[,:]/);
    assert.ok(problem.mend.length > 10);
  });
}

const KEYS = [...new Set(TRUTH.map(({ key }) => key))];
const OBJECTS = Object.fromEntries(KEYS.map((key) => [key, new Uint8Array(1000)]));

test('keys alone, objects beside the list: whole objects, from the listing, and said', async () => {
  const bucket = new MemoryBucket({
    ...OBJECTS,
    'a.parquet': fixtureFile('parquet', 'columns', 'key_only.parquet'),
  });
  const { rows, notes } = await indexAll(parquetFormat, bucket);
  assert.equal(
    rows.map(({ key, offset, length, objectSizeBytes, etag }) => [
      key,
      offset,
      length,
      objectSizeBytes,
      etag,
    ]),
    TRUTH.map(({ key }) => [key, 0, 1000, 1000, bucket.listed(key).etag]),
  );
  assert.equal(bucket.stats, []);
  assert.equal(
    notes.map((note) => note.split(';')[0]),
    ['offset', 'length', 'object_size', 'etag'].map(
      (name) => `without the column ${name}: 1 list (a.parquet)`,
    ),
  );
});

test('keys alone, objects outside of the prefix: one HEAD request for each object', async () => {
  const bucket = new MemoryBucket({
    ...OBJECTS,
    'l/a.parquet': fixtureFile('parquet', 'columns', 'key_only.parquet'),
  });
  const { rows } = await indexAll(parquetFormat, bucket, 'l/');
  assert.ok(rows.every(({ length, etag, key }) => length === 1000 && etag === bucket.listed(key).etag));
  assert.equal(bucket.stats.sort(), [...KEYS].sort());
});

test('an object that is not there: not_found, with its key, and with the list and the row that name it', async () => {
  const bucket = list('columns', 'key_only.parquet');
  const { code, message, mend } = await refusal(indexAll(parquetFormat, bucket, 'lists/'));
  assert.is(code, 'not_found');
  assert.match(message, /^lists\/.*\.parquet, row 0, column key: .*there is no such object/);
  assert.match(mend, /leave the row out of the list, or: check the key/);
});

test('no etag, objects outside of the prefix: no request, no ETag, and said', async () => {
  const bucket = list('columns', 'no_etag.parquet');
  const { rows, notes } = await indexAll(parquetFormat, bucket, 'lists/');
  assert.ok(rows.every(({ etag }) => etag === null));
  assert.equal(bucket.stats, []);
  assert.match(notes.join('\n'), /^without the column etag: 1 list .*a replaced one may go unnoticed$/);
});

/** A bucket whose objects are large enough for the list, and have the ETag that `etagOf` says. */
function withEtags(etagOf: (key: string) => string | null): MemoryBucket {
  const bucket = list('columns', 'no_size.parquet');
  bucket.stat = async (key) => ({
    ...bucket.listed('lists/a.parquet'),
    key,
    sizeBytes: 2 ** 40,
    etag: etagOf(key),
  });
  return bucket;
}

test("an ETag of a row that is not the object's any more: refused, with the row", async () => {
  const { etag, key } = TRUTH[1]!;
  const problem = await refusal(
    indexAll(
      parquetFormat,
      withEtags(() => '"new"'),
      'lists/',
    ),
  );
  assert.is(problem.code, 'bad_index');
  assert.is(
    problem.message,
    `lists/a.parquet, row 1, column etag: it says ${etag} for ${key}, the object has "new"`,
  );
});

test('a store without ETags: those of the list', async () => {
  const { rows } = await indexAll(
    parquetFormat,
    withEtags(() => null),
    'lists/',
  );
  assert.equal(
    rows.map(({ etag }) => etag),
    TRUTH.map(({ etag }) => etag),
  );
});

test("a size that is not the listed object's: refused, with the row", async () => {
  const bucket = new MemoryBucket({
    [KEYS[0]!]: new Uint8Array(5),
    'a.parquet': fixtureFile('parquet', 'read', 'snappy.parquet'),
  });
  const problem = await refusal(indexAll(parquetFormat, bucket));
  assert.match(
    problem.message,
    /row 0, column object_size: it says 17179869184 bytes for .*, the object has 5/,
  );
});

test('other columns are named, nested ones too; labels may be numbers', async () => {
  const { rows, notes } = await indexAll(parquetFormat, list('columns', 'extra.parquet'));
  assert.equal(notes, ['columns that are not read: fields, split']);
  assert.equal(
    rows.map(({ label }) => label),
    TRUTH.map((_, i) => `${i}`),
  );
});

test('a list without rows: none, and said', async () => {
  const { rows, notes } = await indexAll(parquetFormat, list('columns', 'empty.parquet'));
  assert.equal([rows.length, notes], [0, ['without rows: 1 list (lists/a.parquet)']]);
});

test('several lists: each is a piece of work; other objects are not looked at', async () => {
  const file = fixtureFile('parquet', 'read', 'snappy.parquet');
  const bucket = new MemoryBucket({ 'l/a.parquet': file, 'l/b.PQ': file, 'l/_SUCCESS': new Uint8Array(0) });
  const { rows, plan } = await indexAll(parquetFormat, bucket, 'l/');
  assert.equal(
    [plan.units.map(({ object }) => object.key), rows.length],
    [['l/a.parquet', 'l/b.PQ'], 2 * TRUTH.length],
  );
});

test('keys: which are lists, which lie beside them', () => {
  const keys: [string, boolean, boolean][] = [
    ['a.parquet', true, false],
    ['l/b.PQ', true, false],
    ['l/_SUCCESS', false, true],
    ['l/_common_metadata', false, true],
    ['l/a.parquet.crc', false, false],
  ];
  for (const [key, claimed, beside] of keys) {
    assert.equal([parquetFormat.claims(key), parquetFormat.accompanies!(key)], [claimed, beside], key);
  }
});

test('no list: bad_index', async () => {
  const problem = await refusal(
    indexAll(parquetFormat, new MemoryBucket({ 'l/a.csv': new Uint8Array(3) }), 'l/'),
  );
  assert.match(problem.message, /l\/: no Parquet files are below this prefix/);
});

const WHOLE = fixtureFile('parquet', 'read', 'snappy.parquet');
const patched = (at: number, ...bytes: number[]) => {
  const copy = WHOLE.slice();
  copy.set(bytes, at < 0 ? copy.length + at : at);
  return copy;
};

const DAMAGED: [string, Uint8Array, RegExp][] = [
  ['an empty file', new Uint8Array(0), /it has 0 bytes, too few/],
  ['another file', Buffer.from('{"a": "some other file"}'), /does not end as a Parquet file does/],
  ['cut off', WHOLE.slice(0, -1), /does not end as a Parquet file does/],
  ['a footer of 4 GiB', patched(-8, 0xff, 0xff, 0xff, 0xff), /its footer is said to have 4294967295 bytes/],
  [
    'a footer as long as the file',
    patched(-8, WHOLE.length & 255, WHOLE.length >> 8, 0, 0),
    /its footer is said to have/,
  ],
  ['a footer of another length', patched(-8, 100, 0, 0, 0), /its footer is no metadata of Parquet/],
  ['an encrypted footer', patched(-1, 0x45), /encrypted footer/],
];

for (const [situation, bytes, message] of DAMAGED) {
  test(`${situation}: refused`, async () => {
    const problem = await refusal(indexAll(parquetFormat, new MemoryBucket({ 'a.parquet': bytes })));
    assert.match(problem.message, message);
    assert.match(problem.message, /^a\.parquet[,:]/);
  });
}

test.run();
