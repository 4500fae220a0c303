import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { npyFormat } from '../../runtime-node/formats/npy/npy.js';
import { fuzz } from '../fuzz/mutations.js';
import {
  bytesOf,
  fixtureFile,
  fixtureFolder,
  fixtureJson,
  indexAll,
  MemoryBucket,
  refusal,
  sha256,
} from './memory-bucket.js';

interface Truth {
  dtype: string;
  shape: number[];
  sha256: string;
}

test('what NumPy wrote: dtype, shape and bytes are what NumPy reads back, in one request a file', async () => {
  const truth = fixtureJson<Record<string, Truth>>('npy', 'truth.json');
  const bucket = new MemoryBucket(fixtureFolder('set/', 'npy', 'read'));
  const { rows, notes } = await indexAll(npyFormat, bucket, 'set/');
  const found = rows.map((row) => [
    row.key.slice('set/'.length),
    { dtype: row.dtype, shape: row.shape, sha256: sha256(bytesOf(bucket, row, 0, row.length)) },
  ]);
  assert.equal(Object.fromEntries(found), truth);
  assert.is(rows.length, Object.keys(truth).length);
  assert.equal(notes, []);
  assert.is(bucket.requests, rows.length);
  assert.ok(bucket.largestAnswer <= 1024);
  const labels = new Map(rows.map(({ key, label }) => [key, label]));
  assert.is(labels.get('set/cats/f4_3d.npy'), 'cats');
  assert.is(labels.get('set/top_level.npy'), 'set');
  for (const row of rows) {
    const { sizeBytes, etag } = bucket.listed(row.key);
    assert.is(row.offset + row.length, sizeBytes);
    assert.is(row.objectSizeBytes, sizeBytes);
    assert.is(row.etag, etag);
  }
});

/** A file with this header, in NumPy's padding, and so many bytes behind. */
function npy(header: string, dataBytes: number, version = 1): Uint8Array {
  const start = version === 1 ? 10 : 12;
  const text = Buffer.from(header, version === 3 ? 'utf8' : 'latin1');
  const padded = Math.ceil((start + text.length + 1) / 64) * 64 - start;
  const file = Buffer.alloc(start + padded + dataBytes, 0x20);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  if (version === 1) file.writeUInt16LE(padded, 8);
  else file.writeUInt32LE(padded, 8);
  file.set(text, start);
  file[start + padded - 1] = 0x0a;
  return file;
}

const header = (descr: string, shape: string, order = 'False') =>
  `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }`;

const TAKEN: [string, Uint8Array, { dtype: string; shape: number[]; length: number }][] = [
  ['a single value', npy(header("'<f8'", '()'), 8), { dtype: '<f8', shape: [], length: 8 }],
  ['one dimension', npy(header("'<f4'", '(3,)'), 12), { dtype: '<f4', shape: [3], length: 12 }],
  [
    'no comma after the last entry',
    npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2)}", 8),
    { dtype: '<i2', shape: [2, 2], length: 8 },
  ],
  [
    'other order, other quotes',
    npy('{"shape": (2,), "descr": "|u1", "fortran_order": False}', 2),
    { dtype: '|u1', shape: [2], length: 2 },
  ],
  [
    'whole numbers of Python 2',
    npy(header("'<i8'", '(2L, 1L)'), 16),
    { dtype: '<i8', shape: [2, 1], length: 16 },
  ],
  ['text of 5 characters', npy(header("'<U5'", '(2,)'), 40), { dtype: '<U5', shape: [2], length: 40 }],
  ['an empty dimension', npy(header("'<f4'", '(0, 7)'), 0), { dtype: '<f4', shape: [0, 7], length: 0 }],
  [
    'Fortran order of one dimension',
    npy(header("'<f4'", '(1, 3, 1)', 'True'), 12),
    { dtype: '<f4', shape: [1, 3, 1], length: 12 },
  ],
  [
    'raw elements (bfloat16 of ml_dtypes)',
    npy(header("'<V2'", '(3,)'), 6),
    { dtype: '<V2', shape: [3], length: 6 },
  ],
  [
    'a header of version 2 beyond the first KiB',
    npy(`${header("'<f4'", '(1,)')}${' '.repeat(3000)}`, 4, 2),
    { dtype: '<f4', shape: [1], length: 4 },
  ],
];

for (const [situation, file, wanted] of TAKEN) {
  test(`${situation}: taken`, async () => {
    const bucket = new MemoryBucket({ 'a.npy': file });
    const { rows } = await indexAll(npyFormat, bucket);
    assert.is(rows.length, 1);
    const [{ dtype, shape, length, offset }] = rows as [(typeof rows)[0]];
    assert.equal({ dtype, shape, length }, wanted);
    assert.is(offset + length, file.length);
    assert.ok(bucket.requests <= 2);
  });
}

const whole = npy(header("'<f4'", '(3,)'), 12);
const patched = (at: number, ...bytes: number[]) => {
  const copy = Buffer.from(whole);
  copy.set(bytes, at);
  return copy;
};

const REFUSED: [string, Uint8Array, string, RegExp][] = [
  ['data cut off', whole.slice(0, -1), 'bad_shard', /<f4 of shape \(3\), 12 bytes, and 11 bytes follow/],
  ['a header cut off', whole.slice(0, 60), 'bad_shard', /byte 60: it ends within its header of 128 bytes/],
  ['an empty file', new Uint8Array(0), 'bad_shard', /byte 0: it is empty/],
  ['only the magic', whole.slice(0, 6), 'bad_shard', /version 0\.0/],
  ['another file', Buffer.from('{"a": 1}'), 'bad_shard', /does not begin as a \.npy file/],
  ['a later version', patched(6, 4), 'bad_shard', /byte 6: it is of version 4\.0/],
  [
    'a header of 4 GiB',
    npyOfLength(0xffffffff),
    'bad_shard',
    /says that its header has 4294967295 bytes, at most 1048576/,
  ],
  ['a header of 1 MiB, in a file of 64 bytes', npyOfLength(1 << 20), 'bad_shard', /ends within its header/],
  [
    'a shape of 2^54 bytes',
    npy(header("'<f8'", '(2251799813685248,)'), 8),
    'bad_shard',
    /more than 2\^53 bytes/,
  ],
  [
    'a side beyond 2^53',
    npy(header("'<f8'", '(9007199254740993,)'), 8),
    'bad_shard',
    /number 9007199254740993, beyond 2\^53/,
  ],
  ['a negative side', npy(header("'<f8'", '(-1,)'), 8), 'bad_shard', /shape is no tuple of whole numbers/],
  ['a shape that is a number', npy(header("'<f8'", '(1)'), 8), 'bad_shard', /shape is no tuple/],
  ['a shape with text', npy(header("'<f8'", "('a',)"), 8), 'bad_shard', /shape is no tuple/],
  ['65 dimensions', npy(header("'<f8'", `(${'1, '.repeat(65)})`), 8), 'bad_shard', /shape is no tuple/],
  ['an unknown type', npy(header("'<q8'", '(1,)'), 8), 'bad_shard', /unknown type "<q8"/],
  ['a type of no such size', npy(header("'<f3'", '(1,)'), 8), 'bad_shard', /unknown type "<f3"/],
  ['no shape', npy("{'descr': '<f4', 'fortran_order': False}", 4), 'bad_shard', /has no shape/],
  [
    'an entry too many',
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4),
    'bad_shard',
    /has "x"/,
  ],
  [
    'an entry twice',
    npy("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 4),
    'bad_shard',
    /"descr" twice/,
  ],
  ['an order that is none', npy(header("'<f4'", '(1,)', '0'), 4), 'bad_shard', /fortran_order is neither/],
  ['an expression', npy(header("'<f4'", '(2*2,)'), 16), 'bad_shard', /no , where|no \) where/],
  ['a call', npy("__import__('os').system('true')", 4), 'bad_shard', /something that is no value/],
  ['brackets without end', npy('('.repeat(50), 4), 'bad_shard', /nested too deeply/],
  [
    'something after the dictionary',
    npy(`${header("'<f4'", '(1,)')} 1`, 4),
    'bad_shard',
    /goes on after its end/,
  ],
  ['an escape', npy(header("'\\x3cf4'", '(1,)'), 4), 'bad_shard', /escape/],
  [
    'a header that is not UTF-8',
    Buffer.from(npy("{'é': 1}", 4)).map((byte, i) => (i === 6 ? 3 : byte === 0xe9 ? 0xff : byte)),
    'bad_shard',
    /header/,
  ],
  [
    'pickled objects',
    fixtureFile('npy', 'refused', 'object.npy'),
    'unsupported_data',
    /pickled Python objects/,
  ],
  ['a structured type', fixtureFile('npy', 'refused', 'structured.npy'), 'unsupported_data', /structured/],
  [
    'a structured type with a header beyond 1 KiB',
    fixtureFile('npy', 'refused', 'structured_long.npy'),
    'unsupported_data',
    /structured/,
  ],
  ['Fortran order', fixtureFile('npy', 'refused', 'fortran.npy'), 'unsupported_data', /Fortran order/],
];

function npyOfLength(bytes: number): Uint8Array {
  const file = Buffer.alloc(64);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 2, 0]);
  file.writeUInt32LE(bytes, 8);
  return file;
}

for (const [situation, file, code, message] of REFUSED) {
  test(`${situation}: ${code}`, async () => {
    const bucket = new MemoryBucket({ 'x/a.npy': file });
    const problem = await refusal(indexAll(npyFormat, bucket));
    assert.is(problem.code, code, problem.message);
    assert.match(problem.message, message);
    assert.match(problem.message, /^x\/a\.npy[,:]/);
    assert.ok(problem.mend.length > 10);
    assert.ok(bucket.requests <= 2);
  });
}

const NPZ = fixtureFile('npy', 'refused', 'archive.npz');

test('nothing but .npz archives: refused by name', async () => {
  const problem = await refusal(indexAll(npyFormat, new MemoryBucket({ 'x/a.npz': NPZ })));
  assert.is(problem.code, 'unsupported_data');
  assert.match(problem.message, /x\/a\.npz: a \.npz file is an archive/);
});

test('archives and other objects beside .npy files: left out, and said', async () => {
  const objects = { 'a.npy': whole, 'b.npz': NPZ, 'stats.json': NPZ, 'x/': new Uint8Array(0) };
  const { rows, notes } = await indexAll(npyFormat, new MemoryBucket(objects));
  assert.equal(
    rows.map(({ key }) => key),
    ['a.npy'],
  );
  assert.equal(notes, [
    'left out: 1 .npz archive (b.npz); only .npy files are read',
    'left out: 1 object that is no .npy file (stats.json)',
  ]);
});

test('bytes after the tensor: left out of the sample, and said', async () => {
  const { rows, notes } = await indexAll(
    npyFormat,
    new MemoryBucket({ 'a.npy': Buffer.concat([whole, whole]) }),
  );
  assert.is(rows[0]!.length, 12);
  assert.equal(notes, ['bytes after the tensor are not part of the sample: a.npy']);
});

test('mutations of headers: refused, or a sample within the file that is what dtype and shape say', async () => {
  const seed = 81_723;
  const file = npy(header("'<f4'", '(2, 3)'), 24);
  const outcome = await fuzz(
    '.npy headers',
    seed,
    4000,
    file,
    (bytes) => {
      const bucket = new MemoryBucket({ 'a.npy': bytes });
      return indexAll(npyFormat, bucket).then(({ rows }) => ({ rows, bucket }));
    },
    ({ rows, bucket }, bytes) => {
      assert.is(rows.length, 1);
      const { offset, length, shape, objectSizeBytes } = rows[0]!;
      assert.ok(offset >= 10 && offset + length <= bytes.length && objectSizeBytes === bytes.length);
      const elements = shape!.reduce((product, side) => product * side, 1);
      assert.ok(elements === 0 ? length === 0 : length % elements === 0);
      assert.ok(bucket.requests <= 2);
    },
  );
  assert.ok(outcome.taken > 100 && outcome.refused.bad_shard! > 500, JSON.stringify({ seed, ...outcome }));
});

test.run();
