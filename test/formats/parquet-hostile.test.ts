import { gzipSync } from 'node:zlib';
import type { CompressionCodec, PageHeader } from 'hyparquet';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type PageColumn, plainPage, UnreadEncoding } from '../../runtime-node/formats/parquet/page.js';
import { checkSnappy } from '../../runtime-node/formats/parquet/snappy-bounds.js';
import { structEnd } from '../../runtime-node/formats/parquet/thrift-bounds.js';

const HUGE = [0xff, 0xff, 0xff, 0xff, 0x07];
const bytes = (...values: (number | number[])[]) => Uint8Array.from(values.flat());

/** Structures of Thrift's compact protocol: where they end, null for one that goes on, or what is wrong. */
const STRUCTS: [string, Uint8Array, number | null | RegExp][] = [
  ['nothing in it', bytes(0), 1],
  ['a number and an end, and more', bytes(0x15, 2, 0, 9, 9), 3],
  ['a field with its number written out', bytes(0x05, 8, 2, 0), 4],
  ['text', bytes(0x18, 2, 65, 66, 0), 5],
  ['booleans, of which a list takes a byte each', bytes(0x11, 0x19, 0x21, 1, 2, 0), 6],
  ['a structure in a list', bytes(0x19, 0x1c, 0x15, 2, 0, 0), 6],
  ['no end', bytes(0x15, 2), null],
  ['text beyond the end', bytes(0x18, 200, 1, 65), null],
  ['text of 2 GiB', bytes(0x18, HUGE, 65), null],
  ['a list of 2 thousand million', bytes(0x19, 0xf5, HUGE, 1, 2, 3), null],
  ['a number without an end', bytes(0x16, ...new Array(11).fill(0xff), 0), /number without an end/],
  ['structures in structures without end', bytes(...new Array(64).fill(0x1c), 0), /nested too deeply/],
  ['a map', bytes(0x1b, 0, 0), /unknown type 11/],
];

for (const [situation, struct, outcome] of STRUCTS) {
  test(`a structure with ${situation}: ${outcome instanceof RegExp ? 'refused' : outcome}`, () => {
    if (outcome instanceof RegExp) assert.throws(() => structEnd(struct, 0), outcome);
    else assert.is(structEnd(struct, 0), outcome);
  });
}

const BLOCKS: [string, Uint8Array, number, 'taken' | RegExp][] = [
  ['a literal', bytes(3, 0x08, 1, 2, 3), 3, 'taken'],
  ['a literal and a copy', bytes(8, 0x00, 7, 0x0d, 1), 8, 'taken'],
  [
    'a literal that goes back by its length (a decoder never ends)',
    bytes(9, 0xfc, 0xfa, 0xff, 0xff, 0xff, 0),
    9,
    /beyond the end/,
  ],
  ['a literal of 4 GiB', bytes(9, 0xfc, 0xff, 0xff, 0xff, 0xff, 0), 9, /beyond the end/],
  ['more than it may make', bytes(3, 0x08, 1, 2, 3), 2, /beyond the end/],
  ['less than it must make', bytes(3, 0x04, 1, 2), 3, /2 bytes instead of 3/],
  ['no length', bytes(0xff, 0xff), 3, /no length/],
];

for (const [situation, block, size, outcome] of BLOCKS) {
  test(`a Snappy block with ${situation}: ${outcome === 'taken' ? outcome : 'refused'}`, () => {
    if (outcome === 'taken') checkSnappy(block, size);
    else assert.throws(() => checkSnappy(block, size), outcome);
  });
}

const COLUMN: PageColumn = { codec: 'UNCOMPRESSED', isBoolean: false, isOptional: true, hasDictionary: true };
const of = (codec: CompressionCodec): PageColumn => ({ ...COLUMN, codec });

function page(values: number, encoding: string, size: number, more: object = {}): PageHeader {
  const data_page_header = {
    num_values: values,
    encoding,
    definition_level_encoding: 'RLE',
    repetition_level_encoding: 'RLE',
  };
  return {
    type: 'DATA_PAGE',
    uncompressed_page_size: size,
    compressed_page_size: size,
    data_page_header,
    ...more,
  } as PageHeader;
}

function page2(values: number, nulls: number, levels: number, size: number, more: object = {}): PageHeader {
  const data_page_header_v2 = {
    num_values: values,
    num_nulls: nulls,
    num_rows: values,
    encoding: 'PLAIN',
    definition_levels_byte_length: levels,
    repetition_levels_byte_length: 0,
    is_compressed: false,
    ...more,
  };
  return {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: size,
    compressed_page_size: size,
    data_page_header_v2,
  } as PageHeader;
}

/** Levels of four values that are there. */
const LEVELS = [2, 0, 0, 0, 8, 1];
const BOMB = gzipSync(new Uint8Array(50_000_000));

const PAGES: [string, PageHeader, Uint8Array, PageColumn, 'taken' | RegExp][] = [
  ['four plain values', page(4, 'PLAIN', 6), bytes(LEVELS), COLUMN, 'taken'],
  ['indices of a dictionary', page(4, 'RLE_DICTIONARY', 9), bytes(LEVELS, 3, 8, 5), COLUMN, 'taken'],
  [
    '2 thousand million values',
    page(0x7fffffff, 'PLAIN', 6),
    bytes(LEVELS),
    COLUMN,
    /a page of 2147483647 values, at most 4194304/,
  ],
  ['fewer than no values', page(-1, 'PLAIN', 6), bytes(LEVELS), COLUMN, /a page of -1 values/],
  [
    'levels that repeat 1 thousand million times',
    page(4, 'PLAIN', 10),
    bytes(6, 0, 0, 0, [0xfe, 0xff, 0xff, 0xff, 0x07], 1),
    COLUMN,
    /a run of 1073741823 values where 4 are left/,
  ],
  [
    'packed levels without end',
    page(4, 'PLAIN', 10),
    bytes(6, 0, 0, 0, HUGE, 1),
    COLUMN,
    /a run of 8589934584 values where 4 are left/,
  ],
  ['fewer levels than values', page(5, 'PLAIN', 6), bytes(LEVELS), COLUMN, /4 levels for 5 values/],
  [
    'levels beyond the page',
    page(4, 'PLAIN', 6),
    bytes(255, 255, 255, 255, 8, 1),
    COLUMN,
    /4294967295 bytes in a page of 6/,
  ],
  [
    'indices that repeat 1 thousand million times',
    page(4, 'RLE_DICTIONARY', 13),
    bytes(LEVELS, 3, [0xfe, 0xff, 0xff, 0xff, 0x07], 1),
    COLUMN,
    /a run of 1073741823 values/,
  ],
  [
    'indices of 200 bits',
    page(4, 'RLE_DICTIONARY', 9),
    bytes(LEVELS, 200, 8, 5),
    COLUMN,
    /values of 200 bits/,
  ],
  [
    'indices without a dictionary (they would be taken for values)',
    page(4, 'RLE_DICTIONARY', 9),
    bytes(LEVELS, 3, 8, 5),
    { ...COLUMN, hasDictionary: false },
    /needs a dictionary/,
  ],
  [
    'delta blocks of no values',
    page(4, 'DELTA_BINARY_PACKED', 10),
    bytes(LEVELS, 0, 4, 4, 0),
    COLUMN,
    /delta blocks of 0 values in 4 parts/,
  ],
  [
    'delta blocks without parts',
    page(4, 'DELTA_BINARY_PACKED', 11),
    bytes(LEVELS, 128, 1, 0, 4, 0),
    COLUMN,
    /128 values in 0 parts/,
  ],
  [
    'delta blocks that go backwards',
    page(4, 'DELTA_BINARY_PACKED', 14),
    bytes(LEVELS, [0xff, 0xff, 0xff, 0xff, 0x0f], 4, 4, 0),
    COLUMN,
    /delta blocks of 4294967295 values/,
  ],
  ['numbers encoded as booleans', page(4, 'RLE', 6), bytes(LEVELS), COLUMN, /no booleans/],
  [
    'more plain values than bits',
    page(1000, 'PLAIN', 6),
    bytes(LEVELS),
    { ...COLUMN, isOptional: false },
    /1000 values in 6 bytes/,
  ],
  ['an encoding that is not read', page(4, 'DELTA_BYTE_ARRAY', 6), bytes(LEVELS), COLUMN, /DELTA_BYTE_ARRAY/],
  ['an encoding that there is none of', { ...page(4, 'x', 6) }, bytes(LEVELS), COLUMN, /a page as x/],
  ['another checksum', page(4, 'PLAIN', 6, { crc: 1 }), bytes(LEVELS), COLUMN, /checksum/],
  [
    '50 MB in 50 kB of gzip, said to be 6 bytes',
    page(4, 'PLAIN', 6),
    BOMB,
    of('GZIP'),
    /larger than|maximum|Cannot create/i,
  ],
  [
    'fewer bytes than said',
    page(4, 'PLAIN', 60),
    gzipSync(bytes(LEVELS)),
    of('GZIP'),
    /6 bytes instead of 60/,
  ],
  ['version 2: four values', page2(4, 0, 2, 2), bytes(8, 1), COLUMN, 'taken'],
  ['version 2: more nulls than values', page2(4, 5, 2, 2), bytes(8, 1), COLUMN, /contradicts itself/],
  ['version 2: levels beyond the page', page2(4, 0, 3, 2), bytes(8, 1), COLUMN, /contradicts itself/],
  [
    'version 2: fewer rows than values',
    page2(4, 0, 2, 2, { num_rows: 3 }),
    bytes(8, 1),
    COLUMN,
    /contradicts itself/,
  ],
  ['version 2: negative levels', page2(4, 0, -1, 2), bytes(8, 1), COLUMN, /contradicts itself/],
];

for (const [situation, header, stored, column, outcome] of PAGES) {
  test(`a page with ${situation}: ${outcome === 'taken' ? outcome : 'refused'}, and nothing large made of it`, () => {
    const before = process.memoryUsage().arrayBuffers;
    if (outcome === 'taken') plainPage(header, stored, column);
    else {
      assert.throws(
        () => plainPage(header, stored, column),
        (error: Error) =>
          outcome.test(error.message) && (error instanceof RangeError || error instanceof UnreadEncoding),
      );
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 2 ** 20);
  });
}

const dictionary = (entries: number, encoding = 'PLAIN') =>
  ({
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: 8,
    compressed_page_size: 8,
    dictionary_page_header: { num_values: entries, encoding },
  }) as PageHeader;

test('a dictionary has no more entries than fit in its page', () => {
  assert.is(plainPage(dictionary(2), new Uint8Array(8), COLUMN).values, 2);
  assert.throws(() => plainPage(dictionary(3), new Uint8Array(8), COLUMN), /3 entries in 8 bytes/);
  assert.throws(() => plainPage(dictionary(-1), new Uint8Array(8), COLUMN), /-1 entries/);
  assert.throws(
    () => plainPage(dictionary(2, 'DELTA_BYTE_ARRAY'), new Uint8Array(8), COLUMN),
    /a dictionary as/,
  );
});

test.run();
