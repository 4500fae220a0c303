import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Os2gError } from '../../runtime-node/errors.js';
import { thrown } from '../manifest/fixtures.js';
import { fieldsOf, readTars } from './memory-store.js';
import { BLOCK, END, headerBlock, type Member, pax, tar, withChecksum } from './tar-writer.js';

const file = (name: string, data: string = name): Member => ({ name, data });
const LONG = `${'d/'.repeat(70)}a.jpg`;

const SAMPLES: [situation: string, members: (Member | Buffer)[], samples: Record<string, string>[]][] = [
  [
    'members with one basename are one sample, extensions in lower case',
    [file('a.JPG', '1'), file('a.cls', '2'), file('b.jpg', '3')],
    [{ jpg: '1', cls: '2' }, { jpg: '3' }],
  ],
  [
    'the first dot of the file name, not of the folder, ends the basename',
    [file('x.y/a.seg.png', '1'), file('x.y/a.jpg', '2'), file('x/a.jpg', '3')],
    [{ 'seg.png': '1', jpg: '2' }, { jpg: '3' }],
  ],
  [
    'interleaved basenames: a new sample each time the basename changes',
    [file('a.jpg', '1'), file('b.jpg', '2'), file('a.cls', '3')],
    [{ jpg: '1' }, { jpg: '2' }, { cls: '3' }],
  ],
  [
    'folders, links and names without a dot do not end a sample',
    [
      { name: 'd/', type: '5' },
      file('a.jpg', '1'),
      { name: 'l.jpg', type: '2' },
      file('README', 'r'),
      { name: 'fifo.jpg', type: '6' },
      file('a.cls', '2'),
    ],
    [{ jpg: '1', cls: '2' }],
  ],
  ['hidden files are none', [file('.DS_Store', 'x'), file('a.jpg', '1')], [{ jpg: '1' }]],
  [
    'webdataset takes a hidden file in a folder for an extension of the folder, and so do we',
    [file('d/.x', '1'), file('d/a.jpg', '2')],
    [{ x: '1' }, { jpg: '2' }],
  ],
  [
    'names kept for the shard itself are left out',
    [file('__meta__.json', 'm'), file('__index__', 'm'), file('__d__/a.jpg', 'm'), file('a.jpg', '1')],
    [{ json: 'm' }, { jpg: '1' }],
  ],
  [
    'empty members',
    [file('a.jpg', ''), file('b.jpg', ''), file('b.txt', '')],
    [{ jpg: '' }, { jpg: '', txt: '' }],
  ],
  [
    'ustar prefix',
    [{ name: 'a.jpg', prefix: 'long/folder.x', data: '1' }, file('a.jpg', '2')],
    [{ jpg: '1' }, { jpg: '2' }],
  ],
  [
    'in GNU headers the prefix is something else',
    [
      { name: 'a.jpg', prefix: '14700000000', data: '1', magic: 'gnu' },
      { name: 'a.cls', data: '2', magic: 'gnu' },
    ],
    [{ jpg: '1', cls: '2' }],
  ],
  ['headers from before ustar', [{ name: 'a.jpg', data: '1', magic: 'none', type: '\0' }], [{ jpg: '1' }]],
  [
    'a folder without a flag, as the oldest archives have it',
    [{ name: 'd.x/', type: '\0' }, file('a.jpg', '1')],
    [{ jpg: '1' }],
  ],
  [
    'pax path and size',
    [pax({ path: LONG, size: '5' }), { name: 'cut', data: '12345', sizeBytes: 0 }, file('b.x', '2')],
    [{ jpg: '12345' }, { x: '2' }],
  ],
  [
    'a global pax header holds for all, one of a member for it alone, an empty value takes back',
    [
      pax({ size: '3' }, 'g'),
      { name: 'a.x', data: '123', sizeBytes: 0 },
      pax({ size: '' }),
      file('b.x', 'four'),
    ],
    [{ x: '123' }, { x: 'four' }],
  ],
  [
    'GNU long names, of members and of links',
    [
      { name: '././@LongLink', type: 'L', data: `${LONG}\0`, magic: 'gnu' },
      { name: LONG.slice(0, 100), data: '1', magic: 'gnu' },
      { name: '././@LongLink', type: 'K', data: `${LONG}\0`, magic: 'gnu' },
      { name: 'l.jpg', type: '2', magic: 'gnu' },
      file('b.jpg', '2'),
    ],
    [{ jpg: '1' }, { jpg: '2' }],
  ],
  ['a size in binary', [{ name: 'a.jpg', data: '123', base256: true }], [{ jpg: '123' }]],
  [
    'an unknown type is no file, its data is stepped over',
    [{ name: 'a.jpg', type: 'Z', data: 'xy' }, file('b.jpg', '1')],
    [{ jpg: '1' }],
  ],
  [
    'a hard link has no data, whatever its size says',
    [{ name: 'a.jpg', type: '1', sizeBytes: 5000 }, file('b.jpg', '1')],
    [{ jpg: '1' }],
  ],
  ['a signed checksum', [signed(headerBlock({ name: 'é.jpg', data: '' }))], [{ jpg: '' }]],
  [
    'names that are not UTF-8 stay apart',
    [latin1Name('\xe9.jpg'), latin1Name('\xe8.jpg')],
    [{ jpg: '' }, { jpg: '' }],
  ],
];

function signed(block: Buffer): Buffer {
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + (byte > 127 ? byte - 256 : byte), 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function latin1Name(name: string): Buffer {
  const block = headerBlock({ name: 'x' });
  block.write(name, 0, 'latin1');
  return withChecksum(block);
}

for (const [situation, members, samples] of SAMPLES) {
  test(`samples: ${situation}`, async () => {
    const archive = tar(members);
    const { rows } = await readTars({ 's.tar': archive });
    assert.equal(
      rows.map((row) => fieldsOf(row, archive)),
      samples,
    );
    for (const row of rows) {
      assert.is(row.fields?.[0]?.offset, 0);
      const last = row.fields?.at(-1);
      assert.is(row.length, (last?.offset ?? 0) + (last?.length ?? 0));
      assert.equal([row.key, row.label, row.objectSizeBytes], ['s.tar', null, archive.length]);
    }
  });
}

const whole = tar([file('a.jpg', 'x'.repeat(600)), file('b.jpg', 'y')]);
const badSum = Buffer.from(whole);
badSum[0] = 0x7a;
const REFUSED: [situation: string, archive: Buffer, code: string, message: RegExp][] = [
  ['an empty object', Buffer.alloc(0), 'bad_shard', /^s\.tar, byte 0: the archive ends without/],
  ['a wrong checksum', badSum, 'bad_shard', /byte 0: the header there has a wrong checksum/],
  ['cut inside a header', whole.subarray(0, 1536 + 100), 'bad_shard', /byte 1536: a header is cut off/],
  [
    'cut inside data',
    whole.subarray(0, 900),
    'bad_shard',
    /byte 512: the data of "a.jpg", 600 bytes long, ends beyond/,
  ],
  [
    'cut inside the filling of the last block',
    whole.subarray(0, 1200),
    'bad_shard',
    /byte 512: the data of "a.jpg"/,
  ],
  [
    'cut between members',
    whole.subarray(0, 1536),
    'bad_shard',
    /byte 1536: the archive ends without the zero blocks/,
  ],
  [
    'two archives end to end',
    Buffer.concat([whole, whole]),
    'bad_shard',
    /byte 3584: more follows the zero block at byte 2560/,
  ],
  [
    'more than a mebibyte of zeros',
    tar([file('a.x')], Buffer.alloc(2 ** 21)),
    'bad_shard',
    /byte 1049600: more follows/,
  ],
  [
    'gzip',
    Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(1022)]),
    'unsupported_data',
    /compressed with gzip/,
  ],
  [
    'a sparse member',
    tar([{ name: 'a.jpg', type: 'S' }]),
    'unsupported_data',
    /"a.jpg" is stored with holes/,
  ],
  [
    'a sparse member in pax',
    tar([pax({ 'GNU.sparse.major': '1' }), file('a.jpg')]),
    'unsupported_data',
    /"a.jpg" is stored with holes/,
  ],
  [
    'a member from another volume',
    tar([{ name: 'a.jpg', type: 'M' }]),
    'unsupported_data',
    /began in another archive/,
  ],
  [
    'a field twice',
    tar([file('a.jpg'), file('a.JPG')]),
    'bad_shard',
    /byte 1536: the sample "a" has the field "jpg" twice/,
  ],
  [
    'a damaged pax header',
    tar([{ name: 'p', type: 'x', data: '8 path=a\n' }, file('a.x')]),
    'bad_shard',
    /byte 512: an extended/,
  ],
  ['a pax size that is none', tar([pax({ size: '-1' }), file('a.x')]), 'bad_shard', /byte 512: an extended/],
  [
    'an endless pax header',
    tar([{ name: 'p', type: 'x', sizeBytes: 2 ** 30 }]),
    'bad_shard',
    /has 1073741824 bytes/,
  ],
  [
    'an extended header and nothing after',
    tar([pax({ path: 'x.y' })]),
    'bad_shard',
    /ends behind an extended header/,
  ],
  [
    'a size beyond the object',
    tar([{ name: 'a.x', sizeBytes: 2 ** 40, base256: true }]),
    'bad_shard',
    /1099511627776 bytes long/,
  ],
  ['a size that is no number', tar([badSize()]), 'bad_shard', /byte 0: the size in the header/],
];

function badSize(): Buffer {
  const block = headerBlock(file('a.jpg'));
  block.write('0000000009\0', 124);
  return withChecksum(block);
}

for (const [situation, archive, code, message] of REFUSED) {
  test(`refused: ${situation}`, async () => {
    const error = (await thrown(() => readTars({ 's.tar': archive }))) as Os2gError;
    assert.instance(error, Os2gError);
    assert.equal([error.code, error.context.key], [code, 's.tar']);
    assert.match(error.message, message);
  });
}

test('what is left out is named', async () => {
  const link: Member = { name: 'l.jpg', type: '2' };
  const { notes } = await readTars({
    's.tar': tar([link, file('README'), file('a.jpg')]),
    't.tar': tar([]),
    LICENSE: Buffer.from('x'),
    'u.tar.gz': Buffer.from('x'),
  });
  assert.equal(notes, [
    'left out: 1 compressed archive (u.tar.gz); ranges of compressed archives cannot be read: store the shards as plain .tar',
    'left out: 1 object that is no tar shard (LICENSE)',
    'members that are links, devices or pipes are left out, as webdataset does: s.tar: l.jpg',
    'members without an extension are left out, as webdataset does: s.tar: README',
    'the shard holds no sample: t.tar',
  ]);
});

test('only compressed archives: refused by name', async () => {
  const error = (await thrown(() => readTars({ 'a.tar.gz': Buffer.from('x') }))) as Os2gError;
  assert.equal([error.code, error.context.key], ['unsupported_data', 'a.tar.gz']);
});

test('a member beyond 8 GiB, its size in binary or in pax: what follows is found without reading it', async () => {
  const sizeBytes = 9 * 2 ** 30 + 1;
  for (const head of [
    headerBlock({ name: 'a.bin', sizeBytes, base256: true }),
    tar([pax({ size: String(sizeBytes) }), headerBlock({ name: 'a.bin', sizeBytes: 0 })], Buffer.alloc(0)),
  ]) {
    const body = Math.ceil(sizeBytes / BLOCK) * BLOCK;
    const tail = tar([file('b.txt', 'tail')]);
    const total = head.length + body + tail.length;
    const reads: number[] = [];
    const { tarFormat } = await import('../../runtime-node/formats/tar/tar.js');
    const reader = {
      async read(_: unknown, offset: number, length: number) {
        const bytes = Buffer.alloc(Math.min(length, total - offset));
        reads.push(bytes.length);
        for (const [at, part] of [
          [0, head],
          [head.length + body, tail],
        ] as const) {
          for (let i = 0; i < part.length; i++) {
            const to = at + i - offset;
            if (to >= 0 && to < bytes.length) bytes[to] = part[i] as number;
          }
        }
        return bytes;
      },
      stat: async () => assert.unreachable('nothing is asked for') as never,
    };
    const object = { key: 'big.tar', sizeBytes: total, etag: null, storageClass: null, archived: false };
    const { units } = await tarFormat.plan([object], '', reader);
    const rows = [];
    for await (const some of units[0]!.rows(reader)) rows.push(...some);
    assert.equal(
      rows.map(({ offset, length }) => [offset, length]),
      [
        [head.length, sizeBytes],
        [head.length + body + BLOCK, 4],
      ],
    );
    assert.ok(reads.reduce((sum, bytes) => sum + bytes, 0) < 32 * 1024);
  }
});

const READS: [
  situation: string,
  dataBytes: number[],
  samples: number,
  mostRequests: number,
  mostShare: number,
][] = [
  ['small members: read through, few requests', [1000, 10], 4000, 20, 1.01],
  ['100 KB with a label beside it: one request a sample, no bodies', [100_000, 1], 200, 206, 0.1],
  ['members of 10 MB', [10_000_000], 5, 8, 0.01],
];
for (const [situation, dataBytes, samples, mostRequests, mostShare] of READS) {
  test(`reads: ${situation}`, async () => {
    const members = Array.from({ length: samples }, (_, n) =>
      dataBytes.map((bytes, i) => ({ name: `${n}.f${i}`, data: new Uint8Array(bytes) })),
    ).flat();
    const archive = tar(members);
    const { rows, store } = await readTars({ 's.tar': archive });
    assert.is(rows.length, samples);
    assert.ok(store.requests <= mostRequests, `${store.requests} requests`);
    const share = store.bytesRead / archive.length;
    assert.ok(share <= mostShare, `${share} of the archive read`);
  });
}

test('a zero block alone ends an archive, as tarfile has it', async () => {
  const { rows } = await readTars({ 's.tar': tar([file('a.jpg')], END.subarray(0, BLOCK)) });
  assert.is(rows.length, 1);
});

test.run();
