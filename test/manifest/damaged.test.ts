import { Footer } from 'apache-arrow/fb/footer';
import fc from 'fast-check';
import { ByteBuffer } from 'flatbuffers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { parseManifest } from '../../runtime-node/manifest/arrow-table.js';
import type { ColumnManifest } from '../../runtime-node/manifest/column-manifest.js';
import { type Encoding, encode, ROWS, rowsOf } from './fixtures.js';

const SEED = 31_337;
const RUNS = 400;
const ENCODINGS: Encoding[] = [
  { kind: 'file', batches: [4, 5] },
  { kind: 'stream', batches: [3, 3, 3] },
  { kind: 'file', text: 'dictionary of utf8' },
  { kind: 'stream', text: 'large_utf8', number: 'int64' },
  { kind: 'stream', text: 'utf8_view' },
];

/** A damaged file that still opens (a bit in a key, say) must keep every promise that a manifest makes. */
function keepsPromises(manifest: ColumnManifest): void {
  let total = 0;
  for (const [row, { key, offset, length, etag, objectSize }] of rowsOf(manifest).entries()) {
    assert.ok(key.length > 0 && !key.includes('\ufffd'));
    assert.ok(etag === null || !etag.includes('\ufffd'));
    for (const number of [offset, length, objectSize]) assert.ok(Number.isSafeInteger(number) && number >= 0);
    assert.ok(offset + length <= objectSize && length <= manifest.maxLength);
    const handle = manifest.objectHandle(row);
    assert.ok(handle <= row && manifest.key(handle) === key && manifest.objectSize(handle) === objectSize);
    total += length;
  }
  assert.is(total, manifest.totalLength);
  assert.match(manifest.datasetHash, /^[0-9a-f]{64}$/);
}

function openDamaged(bytes: Uint8Array): 'opened' | 'refused' {
  let manifest: ColumnManifest;
  try {
    manifest = parseManifest(bytes, 'm.arrow');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    assert.match(error.message, /^m\.arrow/);
    return 'refused';
  }
  keepsPromises(manifest);
  return 'opened';
}

for (const encoding of ENCODINGS) {
  const whole = encode(ROWS, encoding);
  const name = JSON.stringify(encoding);

  test(`cut at any byte, never opened: ${name}`, () => {
    for (let length = 0; length < whole.length; length++) {
      assert.is(openDamaged(whole.slice(0, length)), 'refused', `cut at ${length} of ${whole.length}`);
    }
  });

  test(`flipped bits: refused, or a manifest that keeps its promises: ${name}`, () => {
    const flip = fc.record({ at: fc.nat(whole.length - 1), mask: fc.integer({ min: 1, max: 255 }) });
    fc.assert(
      fc.property(fc.array(flip, { minLength: 1, maxLength: 3 }), (flips) => {
        const bytes = whole.slice();
        for (const { at, mask } of flips) bytes[at] = (bytes[at] ?? 0) ^ mask;
        openDamaged(bytes);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test(`numbers of the metadata replaced by large and negative ones: ${name}`, () => {
    const value = fc.constantFrom(0, 1, -1, 0x7fffffff, -0x80000000, 0x00ffffff, 64, 1 << 16);
    const word = fc.nat(Math.floor(whole.length / 4) - 1);
    fc.assert(
      fc.property(word, value, (at, number) => {
        const bytes = whole.slice();
        new DataView(bytes.buffer).setInt32(at * 4, number, true);
        openDamaged(bytes);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
}

test('a footer that names one batch fewer, first or last: refused, not read short', () => {
  const whole = encode(ROWS, { batches: [3, 3, 3] });
  const footerStart =
    whole.length - 10 - new DataView(whole.buffer, whole.byteOffset).getInt32(whole.length - 10, true);
  const buffer = new ByteBuffer(whole.subarray(footerStart, whole.length - 10));
  const footer = Footer.getRootAsFooter(buffer);
  assert.is(footer.recordBatchesLength(), 3);
  const vector = buffer.__indirect(footer.bb_pos + buffer.__offset(footer.bb_pos, 10));
  for (const isFirstLost of [false, true]) {
    const bytes = whole.slice();
    const lengthAt = footerStart + vector;
    const blockBytes = 24;
    if (isFirstLost) bytes.copyWithin(lengthAt + 4, lengthAt + 4 + blockBytes, lengthAt + 4 + 3 * blockBytes);
    bytes[lengthAt] = 2;
    assert.throws(() => parseManifest(bytes, 'm.arrow'), /its footer leaves out bytes/);
  }
});

test('junk behind each magic', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('ARROW1\0\0', '\xff\xff\xff\xff\x40\0\0\0', ''),
      fc.uint8Array({ maxLength: 300 }),
      (magic, junk) => {
        const tail = magic.startsWith('A') ? 'ARROW1' : '';
        assert.is(
          openDamaged(Buffer.concat([Buffer.from(magic, 'latin1'), junk, Buffer.from(tail)])),
          'refused',
        );
      },
    ),
    { numRuns: RUNS, seed: SEED },
  );
});

test.run();
