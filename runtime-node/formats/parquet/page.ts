import { crc32 } from 'node:zlib';
import type { CompressionCodec, Encoding, PageHeader } from 'hyparquet';
import { decompress } from './codecs.js';
import { checkDeltaHead, checkRuns } from './run-bounds.js';

/** Largest page that is read, compressed or not; writers make pages of 1 MiB, and dictionaries of about as much. */
export const LARGEST_PAGE_BYTES = 64 * 2 ** 20;
/** Most values of one page; writers end pages after some 20 000 rows, older ones only where a row group ends. */
export const MOST_PAGE_VALUES = 4 * 2 ** 20;

/** A page that can be decoded without trust: unpacked, in memory of its own, with a header that says so. */
export interface PlainPage {
  header: PageHeader;
  bytes: Uint8Array<ArrayBuffer>;
  /** Values, nulls included; of a dictionary its entries. */
  values: number;
}

/** Encodings whose output is bounded by what is checked here, and that hyparquet reads. */
const READ_ENCODINGS: readonly Encoding[] = [
  'PLAIN',
  'PLAIN_DICTIONARY',
  'RLE_DICTIONARY',
  'RLE',
  'DELTA_BINARY_PACKED',
  'DELTA_LENGTH_BYTE_ARRAY',
  'BYTE_STREAM_SPLIT',
];

/** A page in an encoding that is not read; anything else that is wrong with a page is a RangeError or the decoder's. */
export class UnreadEncoding extends Error {}

/** What a decoder must know of the column of a page. */
export interface PageColumn {
  codec: CompressionCodec;
  isBoolean: boolean;
  /** Whether values may be null, so that levels stand before them. */
  isOptional: boolean;
  hasDictionary: boolean;
}

/** @param bytes the page as it is stored, exactly. @throws RangeError, UnreadEncoding */
export function plainPage(header: PageHeader, bytes: Uint8Array, column: PageColumn): PlainPage {
  if (header.crc !== undefined && crc32(bytes) !== header.crc >>> 0) {
    throw new RangeError('the checksum of the page is another one');
  }
  if (header.data_page_header_v2 !== undefined && header.type === 'DATA_PAGE_V2') {
    return dataPageV2(header, bytes, column);
  }
  const page = decompress(column.codec, bytes, header.uncompressed_page_size);
  const plainHeader = { ...header, compressed_page_size: page.length };
  if (header.type === 'DICTIONARY_PAGE') return dictionaryPage(plainHeader, page);
  const { num_values, encoding } = header.data_page_header!;
  checkValues(num_values);
  const from = column.isOptional ? checkLevels(page, num_values) : 0;
  checkEncoded(page, from, encoding, num_values, column);
  return { header: plainHeader, bytes: page, values: num_values };
}

function dictionaryPage(header: PageHeader, bytes: Uint8Array<ArrayBuffer>): PlainPage {
  const { num_values, encoding } = header.dictionary_page_header!;
  if (encoding !== 'PLAIN' && encoding !== 'PLAIN_DICTIONARY')
    throw new UnreadEncoding(`a dictionary as ${encoding}`);
  // Entries are numbers of 4 bytes or more, or text with a length of 4 bytes before it.
  if (!(num_values >= 0 && num_values * 4 <= bytes.length)) {
    throw new RangeError(`a dictionary of ${num_values} entries in ${bytes.length} bytes`);
  }
  return { header, bytes, values: num_values };
}

/** Levels stand uncompressed before the values. */
function dataPageV2(header: PageHeader, bytes: Uint8Array, column: PageColumn): PlainPage {
  const v2 = header.data_page_header_v2!;
  const levels = v2.definition_levels_byte_length;
  checkValues(v2.num_values);
  const isPlain =
    v2.num_rows === v2.num_values &&
    v2.num_nulls >= 0 &&
    v2.num_nulls <= v2.num_values &&
    v2.repetition_levels_byte_length === 0 &&
    (column.isOptional ? levels >= 0 && levels <= bytes.length : levels === 0) &&
    levels <= header.uncompressed_page_size;
  if (!isPlain) throw new RangeError('the header of the page contradicts itself');
  const stored = bytes.subarray(levels);
  const size = header.uncompressed_page_size - levels;
  const data = v2.is_compressed === false ? stored : decompress(column.codec, stored, size);
  const page = new Uint8Array(levels + data.length);
  page.set(bytes.subarray(0, levels));
  page.set(data, levels);
  if (column.isOptional) checkLevelRuns(page, 0, levels, v2.num_values);
  checkEncoded(page, levels, v2.encoding, v2.num_values, column);
  const plainHeader = {
    ...header,
    compressed_page_size: page.length,
    uncompressed_page_size: page.length,
    data_page_header_v2: { ...v2, is_compressed: false },
  };
  return { header: plainHeader, bytes: page, values: v2.num_values };
}

function checkValues(count: number): void {
  if (!(count >= 0 && count <= MOST_PAGE_VALUES)) {
    throw new RangeError(`a page of ${count} values, at most ${MOST_PAGE_VALUES} are read`);
  }
}

/** Levels of a page of version 1, their length first. Returns where the values begin. */
function checkLevels(page: Uint8Array, values: number): number {
  const to = 4 + lengthAt(page, 0);
  checkLevelRuns(page, 4, to, values);
  return to;
}

function checkLevelRuns(page: Uint8Array, from: number, to: number, values: number): void {
  const levels = checkRuns(page, from, to, 1, values);
  if (levels < values) throw new RangeError(`${levels} levels for ${values} values`);
}

function checkEncoded(
  page: Uint8Array,
  from: number,
  encoding: Encoding,
  values: number,
  column: PageColumn,
): void {
  if (!READ_ENCODINGS.includes(encoding)) throw new UnreadEncoding(`a page as ${encoding}`);
  if (encoding === 'PLAIN' && values > 8 * page.length && !column.isOptional) {
    throw new RangeError(`a page of ${values} values in ${page.length} bytes`);
  }
  if (encoding.startsWith('DELTA_') && from < page.length) checkDeltaHead(page, from);
  if (encoding === 'RLE') {
    if (!column.isBoolean) throw new RangeError('values that are no booleans, encoded as such');
    if (from < page.length) checkRuns(page, from + 4, from + 4 + lengthAt(page, from), 1, values);
  }
  if (!encoding.endsWith('_DICTIONARY')) return;
  if (!column.hasDictionary) throw new RangeError('a page needs a dictionary, and the column has none');
  if (from < page.length) checkRuns(page, from + 1, page.length, page[from]!, values);
}

function lengthAt(page: Uint8Array, at: number): number {
  if (at + 4 > page.length) throw new RangeError('the page is cut off');
  const length = new DataView(page.buffer, page.byteOffset, page.byteLength).getUint32(at, true);
  if (at + 4 + length > page.length) throw new RangeError(`${length} bytes in a page of ${page.length}`);
  return length;
}
