import type { DecodedArray, PageHeader, SchemaTree } from 'hyparquet';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert, DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { unsupportedData } from '../format-error.js';
import { ChunkBytes } from './chunk-bytes.js';
import type { ColumnChunk } from './footer.js';
import { LARGEST_PAGE_BYTES, type PlainPage, plainPage, UnreadEncoding } from './page.js';
import type { ParquetFile } from './parquet-file.js';
import { structEnd } from './thrift-bounds.js';

/** Headers have some 50 bytes, and statistics of values that may be long. */
const USUAL_HEADER_BYTES = 1024;
const LARGEST_HEADER_BYTES = 2 ** 20;

/** What was wrong where in a page; becomes an error that names file and column. */
class PageProblem {
  constructor(
    readonly byte: number,
    readonly cause: unknown,
  ) {}
}

/** Text must be text: a key with a replacement character in it would be another key. */
const strictText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const PARSERS = { ...DEFAULT_PARSERS, stringFromBytes: (bytes: Uint8Array) => strictText.decode(bytes) };

/**
 * The values of one column of a row group, page by page: what hyparquet makes of them, `null` for null. Exactly `rows` values, or an error.
 * hyparquet's decoder of single pages is used, not its reader of row groups: that one holds a whole group, and trusts the counts in it.
 * @param path the schema's root and the column
 * @throws Os2gError `bad_shard`, `unsupported_data`; StoreError
 */
export async function* columnPages(
  file: ParquetFile,
  chunk: ColumnChunk,
  path: SchemaTree[],
  rows: number,
): AsyncGenerator<DecodedArray> {
  const name = path[1]!.element.name;
  const bytes = new ChunkBytes(file, chunk.offset, chunk.length);
  const decoder = new PageDecoder(chunk, path);
  let left = rows;
  while (left > 0) {
    const at = bytes.at;
    let values: DecodedArray;
    try {
      values = decoder.decode(await nextPage(bytes), at);
      if (values.length > left) throw new RangeError(`${values.length} values where ${left} rows are left`);
    } catch (error) {
      throw pageError(file, name, error, at);
    }
    left -= values.length;
    if (values.length > 0) yield values;
  }
}

function pageError(file: ParquetFile, name: string, error: unknown, at: number): unknown {
  const problem = error instanceof PageProblem ? error : new PageProblem(at, error);
  const { byte, cause } = problem;
  if (cause instanceof UnreadEncoding) {
    return unsupportedData(
      file.object.key,
      `column ${name} holds ${cause.message}, which is not read`,
      'write the column with the dictionary or the plain encoding, as pyarrow does where it is not told otherwise',
    );
  }
  if (cause instanceof Error && 'mend' in cause) return cause;
  const why = cause instanceof RangeError ? `: ${cause.message}` : '';
  return file.damaged(byte, `a page of column ${name} is damaged${why}`, cause);
}

async function nextPage(bytes: ChunkBytes): Promise<{ header: PageHeader; stored: Uint8Array }> {
  if (bytes.at >= bytes.end) throw new RangeError('the column ends before the rows do');
  const header = await nextHeader(bytes);
  const { compressed_page_size: stored, uncompressed_page_size: size } = header;
  const isPlain = stored >= 0 && size >= 0 && bytes.at + stored <= bytes.end;
  if (!isPlain || Math.max(stored, size) > LARGEST_PAGE_BYTES) {
    throw new RangeError(
      `a page of ${stored} bytes, ${size} unpacked; at most ${LARGEST_PAGE_BYTES} are read`,
    );
  }
  const page = (await bytes.peek(stored)).subarray(0, stored);
  bytes.at += stored;
  return { header, stored: page };
}

async function nextHeader(bytes: ChunkBytes): Promise<PageHeader> {
  for (let wanted = USUAL_HEADER_BYTES; ; wanted *= 32) {
    const start = await bytes.peek(wanted);
    const end = structEnd(start, 0);
    if (end !== null) {
      bytes.at += end;
      return parquetHeader({ view: new DataView(start.buffer, start.byteOffset, end), offset: 0 });
    }
    if (wanted >= LARGEST_HEADER_BYTES || start.length >= bytes.end - bytes.at) {
      throw new RangeError('its header has no end');
    }
  }
}

class PageDecoder {
  private dictionary: DecodedArray | undefined;
  private readonly column: Parameters<typeof readPage>[2];

  constructor(
    private readonly chunk: ColumnChunk,
    path: SchemaTree[],
  ) {
    const { element } = path[1]!;
    this.column = {
      pathInSchema: [element.name],
      type: element.type!,
      element,
      schemaPath: path,
      // Pages are unpacked before they are decoded.
      codec: 'UNCOMPRESSED',
      parsers: PARSERS,
    };
  }

  /** The values of a data page; none of a dictionary, which later pages are read with. */
  decode({ header, stored }: { header: PageHeader; stored: Uint8Array }, at: number): DecodedArray {
    try {
      const { type, repetition_type } = this.column.element;
      if (header.type === 'INDEX_PAGE') return [];
      const page = plainPage(header, stored, {
        codec: this.chunk.metadata.codec,
        isBoolean: type === 'BOOLEAN',
        isOptional: repetition_type !== 'REQUIRED',
        hasDictionary: this.dictionary !== undefined,
      });
      if (header.type !== 'DICTIONARY_PAGE') return page.values === 0 ? [] : this.values(page);
      if (this.dictionary !== undefined) throw new RangeError('a second dictionary');
      this.dictionary = convert(this.read(page), this.column);
      return [];
    } catch (error) {
      throw new PageProblem(at, error);
    }
  }

  private values(page: PlainPage): DecodedArray {
    const values = this.read(page);
    if (values.length !== page.values)
      throw new RangeError(`${values.length} values instead of ${page.values}`);
    // What a dictionary does not have, or a page ends before, reads as undefined; null is null.
    if (Array.isArray(values) && values.includes(undefined)) {
      throw new RangeError('a value that the page or its dictionary does not have');
    }
    return values;
  }

  private read({ header, bytes }: PlainPage): DecodedArray {
    const reader = { view: new DataView(bytes.buffer), offset: 0 };
    return readPage(reader, header, this.column, this.dictionary, undefined, 0).data ?? [];
  }
}
