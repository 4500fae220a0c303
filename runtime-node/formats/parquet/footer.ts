import {
  type ColumnMetaData,
  type FileMetaData,
  parquetMetadata,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { unsupportedData } from '../format-error.js';
import type { ParquetFile } from './parquet-file.js';
import { structEnd } from './thrift-bounds.js';

/** A column of one row group: where its pages are, in bytes of the file. */
export interface ColumnChunk {
  offset: number;
  length: number;
  metadata: ColumnMetaData;
}

export interface RowGroup {
  rows: number;
  /** Chunks by the name of the top-level column; nested columns have none here. */
  chunks: ReadonlyMap<string, ColumnChunk>;
}

/** What a Parquet file's footer says. */
export interface ParquetTable {
  rows: number;
  groups: readonly RowGroup[];
  /** Root of the schema; its children are the columns. */
  schema: SchemaTree;
}

const MAGIC = 'PAR1';
const ENCRYPTED_MAGIC = 'PARE';
const FIRST_READ_BYTES = 64 * 1024;
/** Some 100 000 column chunks. What the parser makes of it takes many times as much. */
const LARGEST_FOOTER_BYTES = 16 * 2 ** 20;

/**
 * Reads a file's footer: one request of up to 64 KiB, another one where it is longer.
 * @throws Os2gError `bad_shard`, `unsupported_data`; StoreError
 */
export async function readFooter(file: ParquetFile): Promise<ParquetTable> {
  const metadata = parse(file, await footerBytes(file));
  try {
    return tableOf(file, metadata);
  } catch (error) {
    throw isOwn(error)
      ? error
      : file.damaged(footerAt(file, metadata), 'its footer contradicts itself', error);
  }
}

/** Metadata, their length and the magic: the end of the file, in memory of its own. */
async function footerBytes(file: ParquetFile): Promise<Uint8Array> {
  const { sizeBytes, key } = file.object;
  if (sizeBytes < 12) throw file.damaged(0, `it has ${sizeBytes} bytes, too few for a Parquet file`);
  const tail = await file.read(
    Math.max(0, sizeBytes - FIRST_READ_BYTES),
    Math.min(sizeBytes, FIRST_READ_BYTES),
  );
  const magic = Buffer.from(tail.subarray(-4)).toString('latin1');
  if (magic === ENCRYPTED_MAGIC) {
    throw unsupportedData(key, 'the Parquet file has an encrypted footer', 'write it without encryption');
  }
  if (magic !== MAGIC) throw file.damaged(sizeBytes - 4, 'it does not end as a Parquet file does');
  const metadataBytes = new DataView(tail.buffer).getUint32(tail.length - 8, true);
  const bytes = metadataBytes + 8;
  if (bytes > sizeBytes - 4 || metadataBytes > LARGEST_FOOTER_BYTES) {
    const what = `its footer is said to have ${metadataBytes} bytes; the file has ${sizeBytes}, and at most ${LARGEST_FOOTER_BYTES} are read`;
    throw file.damaged(sizeBytes - 8, what);
  }
  return bytes <= tail.length ? tail.slice(tail.length - bytes) : file.read(sizeBytes - bytes, bytes);
}

function parse(file: ParquetFile, footer: Uint8Array): FileMetaData {
  const start = file.object.sizeBytes - footer.length;
  try {
    const end = structEnd(footer.subarray(0, -8), 0);
    if (end === null) throw new RangeError('it is cut off');
    return parquetMetadata(footer, { geoparquet: false });
  } catch (error) {
    throw file.damaged(start, 'its footer is no metadata of Parquet', error);
  }
}

function tableOf(file: ParquetFile, metadata: FileMetaData): ParquetTable {
  const groups = metadata.row_groups.map((group): RowGroup => {
    const chunks = new Map<string, ColumnChunk>();
    for (const { meta_data, file_path } of group.columns) {
      const [name, ...below] = meta_data?.path_in_schema ?? [];
      if (meta_data === undefined || file_path || name === undefined || below.length > 0) continue;
      chunks.set(name, chunkOf(meta_data));
    }
    return { rows: count(group.num_rows), chunks };
  });
  const rows = count(metadata.num_rows);
  const inGroups = groups.reduce((sum, group) => sum + group.rows, 0);
  if (rows !== inGroups) {
    throw file.damaged(footerAt(file, metadata), `it says ${rows} rows, and ${inGroups} in its row groups`);
  }
  return { rows, groups, schema: parquetSchema(metadata) };
}

/** A dictionary stands before the data; writers that have none leave its offset out or write 0. */
function chunkOf(metadata: ColumnMetaData): ColumnChunk {
  const data = count(metadata.data_page_offset);
  const dictionary = count(metadata.dictionary_page_offset ?? 0n);
  const offset = dictionary > 0 && dictionary < data ? dictionary : data;
  return { offset, length: count(metadata.total_compressed_size), metadata };
}

function count(value: bigint | number): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new RangeError(`${value} is no count`);
}

function footerAt(file: ParquetFile, { metadata_length }: FileMetaData): number {
  return file.object.sizeBytes - 8 - metadata_length;
}

function isOwn(error: unknown): boolean {
  return error instanceof Error && 'mend' in error;
}
