import type { SchemaElement, SchemaTree } from 'hyparquet';
import { badIndex, unsupportedData } from '../format-error.js';
import { READ_CODECS } from './codecs.js';
import type { ParquetTable } from './footer.js';
import type { ParquetFile } from './parquet-file.js';

/** Columns of a row list, as a manifest names them. */
export const LIST_COLUMNS = {
  key: 'text',
  offset: 'number',
  length: 'number',
  etag: 'text',
  object_size: 'number',
  label: 'text or number',
  width: 'number',
  height: 'number',
  dtype: 'text',
} as const;

export type ListColumn = keyof typeof LIST_COLUMNS;

/** The columns of one list that are read: the schema's path to each. */
export type ListPaths = ReadonlyMap<ListColumn, SchemaTree[]>;

const WANTED: Readonly<Record<(typeof LIST_COLUMNS)[ListColumn], string>> = {
  text: 'text (utf8)',
  number: 'whole numbers',
  'text or number': 'text or whole numbers',
};

/**
 * Finds the columns of a row list, and refuses what cannot be read, before a page is.
 * @throws Os2gError `bad_index`, `unsupported_data`
 */
export function listPaths(file: ParquetFile, { schema, groups }: ParquetTable): ListPaths {
  const { key } = file.object;
  const paths = new Map<ListColumn, SchemaTree[]>();
  for (const child of schema.children) {
    const { name } = child.element;
    if (!isListColumn(name)) continue;
    if (paths.has(name)) throw badIndex(key, `it has two columns ${name}`, 'write it with one of each');
    checkType(key, child, name);
    paths.set(name, [schema, child]);
  }
  if (!paths.has('key')) throw noKey(key, schema);
  for (const { chunks } of groups) {
    for (const name of paths.keys()) checkCodec(key, name, chunks.get(name)?.metadata.codec);
  }
  return paths;
}

/** Names of columns that are not read. */
export function otherColumns({ schema }: ParquetTable): string[] {
  return schema.children.map(({ element }) => element.name).filter((name) => !isListColumn(name));
}

function isListColumn(name: string): name is ListColumn {
  return Object.hasOwn(LIST_COLUMNS, name);
}

function noKey(key: string, schema: SchemaTree): Error {
  const names = schema.children.map(({ element }) => element.name);
  const shown = names.length > 8 ? `${names.slice(0, 8).join(', ')}, …` : names.join(', ');
  return badIndex(
    key,
    `it has no column key (but ${shown || 'none'}): a Parquet file is read as a list of samples that lie in other objects`,
    'write a row for each sample with key, offset and length; samples inside of Parquet files are not read',
  );
}

function checkType(key: string, { element, children }: SchemaTree, name: ListColumn): void {
  const wanted = LIST_COLUMNS[name];
  const isFlat = children.length === 0 && element.repetition_type !== 'REPEATED';
  const fits =
    isFlat &&
    ((wanted !== 'number' && isText(element)) ||
      (wanted !== 'text' && isNumber(element)) ||
      (wanted === 'text or number' && element.type === 'BOOLEAN'));
  if (fits) return;
  throw badIndex(
    key,
    `column ${name} is ${typeName(element, isFlat)}, and must be ${WANTED[wanted]}`,
    'cast it when the list is written',
  );
}

function isText({ type, converted_type, logical_type }: SchemaElement): boolean {
  const isPlain =
    logical_type === undefined || logical_type.type === 'STRING' || logical_type.type === 'ENUM';
  const isConverted = converted_type === undefined || converted_type === 'UTF8' || converted_type === 'ENUM';
  return type === 'BYTE_ARRAY' && isPlain && isConverted;
}

/** Numbers with a fraction are looked at row by row: pandas makes floats of a column with gaps. */
function isNumber({ type, converted_type, logical_type }: SchemaElement): boolean {
  const isPlain = logical_type === undefined || logical_type.type === 'INTEGER';
  const isConverted = converted_type === undefined || /^U?INT_/.test(converted_type);
  return (
    isPlain && isConverted && (type === 'INT32' || type === 'INT64' || type === 'FLOAT' || type === 'DOUBLE')
  );
}

function typeName({ type, converted_type, logical_type }: SchemaElement, isFlat: boolean): string {
  if (!isFlat) return 'a nested column';
  return [type, logical_type?.type ?? converted_type].filter((part) => part !== undefined).join(' ');
}

function checkCodec(key: string, name: string, codec: string | undefined): void {
  if (codec === undefined) {
    throw unsupportedData(
      key,
      `column ${name} is in another file, encrypted, or missing in a row group`,
      'write the list to one file',
    );
  }
  if (READ_CODECS.includes(codec)) return;
  throw unsupportedData(
    key,
    `column ${name} is compressed with ${codec}; here are read ${READ_CODECS.join(', ')}`,
    codec === 'ZSTD'
      ? 'run os2g with Node 22.15 or later, or write the list with another compression: pyarrow.parquet.write_table(…, compression="snappy")'
      : 'write the list with another compression: pyarrow.parquet.write_table(…, compression="snappy")',
  );
}
