import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readImageSize } from '../../runtime-node/formats/jpeg/image-size.js';
import { fuzz } from '../fuzz/mutations.js';
import { fixtureFile, fixtureJson, MemoryBucket } from './memory-bucket.js';

const TRUTH = fixtureJson<Record<string, [number, number]>>('images', 'truth.json');
/** Requests beyond the first KiB: one for each block of metadata that reaches over the end of what was read. */
const MORE_REQUESTS: Record<string, number> = {
  'big_exif.jpg': 1,
  'big_icc.jpg': 2,
  'exif_and_icc.jpg': 1,
  'thumbnail.jpg': 1,
  'comment.jpg': 1,
};

async function sizeOf(bytes: Uint8Array, offset = 0, length = bytes.length - offset) {
  const bucket = new MemoryBucket({ a: bytes });
  const size = await readImageSize(bucket, bucket.listed('a'), offset, length);
  return { size, bucket };
}

for (const [name, [width, height]] of Object.entries(TRUTH)) {
  const requests = 1 + (MORE_REQUESTS[name] ?? 0);
  test(`${name}: ${width} x ${height}, as Pillow reads it, in ${requests} requests`, async () => {
    const { size, bucket } = await sizeOf(fixtureFile('images', name));
    assert.equal(size, { width, height });
    assert.is(bucket.requests, requests);
    assert.ok(bucket.bytes <= 1024 * requests);
  });
}

const BASELINE = fixtureFile('images', 'baseline.jpg');
const FRAME = BASELINE.findIndex((byte, i) => byte === 0xff && BASELINE[i + 1] === 0xc0);
const with_ = (at: number, ...bytes: number[]) => {
  const copy = BASELINE.slice();
  copy.set(bytes, at);
  return copy;
};
const inserted = (...bytes: number[]) => Uint8Array.from([0xff, 0xd8, ...bytes, ...BASELINE.subarray(2)]);
const SIZE = { width: 31, height: 17 };

const SITUATIONS: [string, Uint8Array, unknown][] = [
  ...[0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf].map(
    (code): [string, Uint8Array, unknown] => [
      `frame header ${code.toString(16)}`,
      with_(FRAME + 1, code),
      SIZE,
    ],
  ),
  ['Huffman tables are no frame header', with_(FRAME + 1, 0xc4), null],
  ['an extension is no frame header', with_(FRAME + 1, 0xc8), null],
  ['arithmetic conditioning is no frame header', with_(FRAME + 1, 0xcc), null],
  ['fill bytes before a marker', inserted(0xff, 0xff, 0xff, 0xfe, 0, 3, 7), SIZE],
  ['markers without a length', inserted(0xff, 0x01, 0xff, 0xd0), SIZE],
  ['a block shorter than its length field', inserted(0xff, 0xfe, 0, 1), null],
  ['something else where a marker belongs', inserted(0x00), null],
  ['data before the frame header', inserted(0xff, 0xda, 0, 2), null],
  ['the end before the frame header', inserted(0xff, 0xd9), null],
  ['a height to follow after the scan', with_(FRAME + 5, 0, 0), null],
  ['a width of 0', with_(FRAME + 7, 0, 0), null],
  ['cut within the frame header', BASELINE.slice(0, FRAME + 8), null],
  ['cut just behind the sides', BASELINE.slice(0, FRAME + 9), SIZE],
  ['a block that reaches beyond the end', inserted(0xff, 0xe1, 0xff, 0xff), null],
  ['more blocks than are followed', manyBlocks(), null],
  ['fill bytes without end', Uint8Array.from([0xff, 0xd8, ...new Array(5000).fill(0xff)]), null],
  ['nothing', new Uint8Array(0), null],
  ['two bytes', Uint8Array.from([0xff, 0xd8]), null],
  ['a GIF', fixtureFile('images', 'other.gif'), null],
  ['a WebP', fixtureFile('images', 'other.webp'), null],
  ['text', Buffer.from('no picture'), null],
  ['a PNG cut within its header', fixtureFile('images', 'plain.png').slice(0, 23), null],
  ['a PNG whose first chunk is another', swapped(fixtureFile('images', 'plain.png'), 12, 0x69), null],
  ['a PNG of width 0', swapped(fixtureFile('images', 'plain.png'), 19, 0), null],
];

/** 70 comments of 60 000 bytes before the picture: over 4 MiB. */
function manyBlocks(): Uint8Array {
  const comment = new Uint8Array(60_002);
  comment.set([0xff, 0xfe, 60_000 >> 8, 60_000 & 255]);
  return Buffer.concat([
    BASELINE.subarray(0, 2),
    ...Array.from({ length: 70 }, () => comment),
    BASELINE.subarray(2),
  ]);
}

function swapped(bytes: Uint8Array, at: number, byte: number): Uint8Array {
  bytes[at] = byte;
  return bytes;
}

for (const [situation, bytes, outcome] of SITUATIONS) {
  test(`${situation}: ${outcome === null ? 'no size' : 'its size'}`, async () => {
    const { size, bucket } = await sizeOf(bytes);
    assert.equal(size, outcome);
    assert.ok(bucket.requests <= 64);
  });
}

test('a picture within a shard is found by its range, and never looked for beyond it', async () => {
  const shard = Buffer.concat([new Uint8Array(777), BASELINE, fixtureFile('images', 'progressive.jpg')]);
  assert.equal((await sizeOf(shard, 777, BASELINE.length)).size, SIZE);
  const { size, bucket } = await sizeOf(shard, 777, FRAME + 4);
  assert.is(size, null);
  assert.ok(bucket.bytes <= 2 * (FRAME + 4));
});

for (const name of ['big_exif.jpg', 'progressive.jpg', 'plain.png']) {
  test(`mutations of ${name}: a size or none`, async () => {
    const seed = 20_261_130;
    const outcome = await fuzz(
      'pictures',
      seed,
      1000,
      fixtureFile('images', name).slice(0, 4096),
      sizeOf,
      ({ size, bucket }) => {
        assert.ok(size === null || (size.width > 0 && size.height > 0));
        assert.ok(bucket.requests <= 64);
      },
    );
    assert.is(outcome.taken, outcome.inputs);
  });
}

test.run();
