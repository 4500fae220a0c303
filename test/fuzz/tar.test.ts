// Damaged shards and indexes: an error that names the shard, or the samples of the whole one. Never a crash, a hang or fewer samples.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Os2gError } from '../../runtime-node/errors.js';
import type { SampleRow } from '../../runtime-node/formats/format.js';
import { daliIndex } from '../formats/dali.js';
import { readTars } from '../formats/memory-store.js';
import { BLOCK, headerBlock, type Member, pax, tar } from '../formats/tar-writer.js';
import { seededRandom } from '../store/random.js';
import { FuzzTally, fuzzBytes } from './mutations.js';

const SEED = Number(process.env.OS2G_FUZZ_SEED ?? 90_709);
/** Bytes of damaged shards and indexes in each test. */
const FUZZ_BYTES = fuzzBytes(4e6);
const random = seededRandom(SEED);
const below = (n: number): number => Math.floor(random() * n);

const LONG = `${'folder/'.repeat(20)}x.jpg`;
const PARTS: (Member | Buffer)[] = [
  { name: 'd/', type: '5' },
  { name: 'd/a.jpg', data: 'a'.repeat(700) },
  { name: 'd/a.cls', data: '3' },
  pax({ path: LONG, mtime: '1700000000.5' }),
  { name: 'short.jpg', data: 'b'.repeat(512) },
  { name: '././@LongLink', type: 'L', data: `${LONG}.png\0`, magic: 'gnu' },
  { name: LONG.slice(0, 99), data: 'c', magic: 'gnu' },
  { name: 'link.jpg', type: '2' },
  { name: 'e.bin', data: Buffer.alloc(1500, 7), base256: true },
  { name: 'f.txt', data: 'end' },
];
const ARCHIVE = tar(PARTS);
/** Where headers begin. */
const HEADERS: number[] = [];
for (let at = 0, i = 0; i < PARTS.length; i++) {
  HEADERS.push(at);
  at += tar([PARTS[i] as Member], Buffer.alloc(0)).length;
}

async function outcome(objects: Record<string, Uint8Array>): Promise<SampleRow[] | Os2gError> {
  try {
    return (await readTars(objects)).rows;
  } catch (error) {
    if (error instanceof Os2gError && error.context.key === 's.tar') return error;
    throw error;
  }
}

const placesOf = (rows: readonly SampleRow[]) =>
  rows.map(({ offset, length, fields }) => ({ offset, length, fields }));

test(`any byte of a header (seed ${SEED}): an error, or the same samples`, async () => {
  const whole = placesOf((await readTars({ 's.tar': ARCHIVE })).rows);
  assert.is(whole.length, 4);
  const tally = new FuzzTally('tar headers', SEED);
  const rounds = Math.ceil(FUZZ_BYTES / ARCHIVE.length);
  for (let round = 0; round < rounds; round++) {
    const damaged = Buffer.from(ARCHIVE);
    const at = (HEADERS[below(HEADERS.length)] as number) + below(BLOCK);
    damaged[at] = (damaged[at] as number) ^ (1 + below(255));
    const found = await outcome({ 's.tar': damaged });
    if (found instanceof Os2gError) {
      tally.refused(damaged.length, found);
      continue;
    }
    assert.equal(placesOf(found), whole, `byte ${at} of round ${round}`);
    tally.taken(damaged.length);
  }
  assert.ok(tally.finish().taken < rounds / 2, 'a checksum tells of nearly all');
});

test('cut at any byte: an error, or the same samples where only zeros are missing', async () => {
  const whole = placesOf((await readTars({ 's.tar': ARCHIVE })).rows);
  for (let end = 0; end < ARCHIVE.length; end += 1 + below(40)) {
    const found = await outcome({ 's.tar': ARCHIVE.subarray(0, end) });
    if (found instanceof Os2gError) assert.is(found.code, 'bad_shard');
    else {
      assert.equal(placesOf(found), whole);
      assert.ok(end >= ARCHIVE.length - BLOCK);
    }
  }
});

test(`headers of chance, with right checksums (seed ${SEED}): rows inside the object, or an error`, async () => {
  const tally = new FuzzTally('tar headers', SEED);
  const TYPES = ['0', '\0', '7', '5', '1', 'x', 'g', 'L', 'K', 'S', 'Z', 'M'];
  for (let round = 0; tally.outcome.bytes < FUZZ_BYTES; round++) {
    const parts: Buffer[] = [];
    for (let i = below(8); i >= 0; i--) {
      const sizeBytes = below(4) === 0 ? below(2 ** 31) : below(2000);
      const type = TYPES[below(TYPES.length)] as string;
      const data = Buffer.from(Array.from({ length: below(1600) }, () => below(256)));
      if ('xg'.includes(type) && below(2) === 0)
        parts.push(tar([{ ...pax({ path: 'a.b', size: String(sizeBytes) }), type }], Buffer.alloc(0)));
      else
        parts.push(
          headerBlock({ name: `${below(5)}.${below(3)}`, type, sizeBytes, base256: below(2) === 0 }),
          data,
        );
    }
    const archive = Buffer.concat([...parts, Buffer.alloc(below(3) * BLOCK)]);
    const found = await outcome({ 's.tar': archive });
    if (found instanceof Os2gError) {
      tally.refused(archive.length, found);
      continue;
    }
    for (const { offset, length, fields } of found) {
      assert.ok(offset >= 0 && length >= 0 && offset + length <= archive.length, `round ${round}`);
      for (const field of fields ?? []) assert.ok(field.offset >= 0 && field.offset + field.length <= length);
    }
    tally.taken(archive.length);
  }
  tally.finish();
});

test(`a damaged index (seed ${SEED}): the samples are those of the headers, whatever it says`, async () => {
  const members = Array.from({ length: 12 }, (_, i): Member[] => [
    { name: `d/${i}.jpg`, data: 'j'.repeat(300 + 111 * i) },
    { name: `d/${i}.cls`, data: String(i) },
  ]).flat();
  const archive = tar(members);
  const index = daliIndex(members);
  const want = placesOf((await readTars({ 's.tar': archive })).rows);
  const used = await readTars({ 's.tar': archive, 's.idx': Buffer.from(index) });
  assert.equal([used.notes, placesOf(used.rows)], [[], want]);
  const tally = new FuzzTally('index files', SEED);
  let noticed = 0;
  while (tally.outcome.bytes < FUZZ_BYTES / 10) {
    const round = tally.outcome.inputs;
    const damaged = damage(index);
    const { rows, notes } = await readTars({ 's.tar': archive, 's.idx': Buffer.from(damaged, 'latin1') });
    assert.equal(placesOf(rows), want, `round ${round}: ${JSON.stringify(damaged)}`);
    if (notes.length > 0) noticed++;
    tally.taken(damaged.length);
  }
  assert.ok(noticed > tally.finish().inputs / 2, 'nearly all are noticed');
});

function damage(index: string): string {
  const lines = index.split('\n');
  const at = below(index.length);
  const line = below(lines.length);
  const ways: (() => string)[] = [
    () => index.slice(0, at) + String.fromCharCode(below(256)) + index.slice(at + 1),
    () => index.slice(0, at) + index.slice(at + 1 + below(20)),
    () => index.slice(0, at) + index.slice(at - below(Math.min(at + 1, 20))),
    () => [...lines.slice(0, line), ...lines.slice(line + 1)].join('\n'),
    () => [...lines.slice(0, line + 1), ...lines.slice(line)].join('\n'),
    () => index.replace(/\d+/g, (digits) => (below(20) === 0 ? String(below(5000)) : digits)),
  ];
  return (ways[below(ways.length)] as () => string)();
}

test.run();
