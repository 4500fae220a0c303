import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { daliIndex } from './dali.js';
import { readTars } from './memory-store.js';
import { type Member, pax, tar } from './tar-writer.js';

const MEMBERS: Member[] = Array.from({ length: 50 }, (_, i) => [
  { name: `${i}.jpg`, data: new Uint8Array(100_000 + i) },
  { name: `${i}.cls`, data: String(i) },
]).flat();
const ARCHIVE = tar(MEMBERS);
const INDEX = daliIndex(MEMBERS);

for (const name of ['a.idx', 'a.b.idx']) {
  test(`${name} beside a.b.tar is used: the same samples, only headers read`, async () => {
    const plain = await readTars({ 'd/a.b.tar': ARCHIVE });
    const { rows, notes, store } = await readTars({
      'd/a.b.tar': ARCHIVE,
      [`d/${name}`]: Buffer.from(INDEX),
    });
    assert.equal([rows, notes], [plain.rows, []]);
    assert.is(store.requests, 53, 'the index, headers 51 times, the end');
    const headers = 100 * 512;
    assert.ok(store.bytesRead <= INDEX.length + headers + 50 * 512 + 2048, `${store.bytesRead} bytes`);
    assert.ok(plain.store.bytesRead > 5 * store.bytesRead);
  });
}

const words = INDEX.split('\n');
const withDir: Member[] = [{ name: 'd/', type: '5' }, ...MEMBERS];
const SITUATIONS: [situation: string, archive: Buffer, index: string, why: RegExp][] = [
  ['of another version', ARCHIVE, INDEX.replace('v1.2', 'v1.1'), /no index of version v1.2/],
  ['of more samples', tar(MEMBERS.slice(0, -2)), INDEX, /lists more than the shard holds/],
  ['of fewer samples', ARCHIVE, daliIndex(MEMBERS.slice(0, -2)), /lists less than the shard holds/],
  ['whose count is wrong', ARCHIVE, INDEX.replace('v1.2 50', 'v1.2 51'), /says 51 samples and lists 50/],
  ['that is cut off', ARCHIVE, INDEX.slice(0, -4), /last line is cut off/],
  [
    'that leaves a member out',
    ARCHIVE,
    [words[0], words[1], ...words.slice(3), '']
      .join('\n')
      .replace('v1.2 50', 'v1.2 49')
      .replace(/\n\n$/, '\n'),
    /something stands before "2.jpg"/,
  ],
  ['with a name of spaces', ARCHIVE, INDEX.replace('3.jpg', '3 a.jpg'), /four words/],
  [
    'that joins two samples in one line',
    ARCHIVE,
    INDEX.replace('0.cls\njpg', '0.cls jpg').replace('v1.2 50', 'v1.2 49'),
    /not those of the names/,
  ],
  [
    'of a shard that was written anew with other names',
    tar(MEMBERS.map((member) => ({ ...member, name: `9${member.name}` }))),
    INDEX,
    /another member at byte 0/,
  ],
  [
    'that knows nothing of a folder in the shard',
    tar(withDir),
    daliIndex(withDir)
      .replace(/^.*d\/\n/m, '')
      .replace('v1.2 51', 'v1.2 50'),
    /something stands before "0.jpg"/,
  ],
  [
    'of a shard with extended headers',
    tar([pax({ path: '0.jpg' }), ...MEMBERS]),
    INDEX,
    /another member at byte 0/,
  ],
  ['that is empty', ARCHIVE, '', /it has 0 bytes/],
];
for (const [situation, archive, index, why] of SITUATIONS) {
  test(`an index ${situation}: the headers are read, and it is said`, async () => {
    const plain = await readTars({ 's.tar': archive });
    const { rows, notes } = await readTars({ 's.tar': archive, 's.idx': Buffer.from(index) });
    assert.equal(rows, plain.rows);
    assert.is(notes.length, 1);
    assert.match(
      notes[0] ?? '',
      /^an index does not fit its shard, whose headers are read instead: s\.idx: /,
    );
    assert.match(notes[0] ?? '', why);
  });
}

test.run();
