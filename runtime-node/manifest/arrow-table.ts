import { Endianness } from 'apache-arrow/fb/endianness';
import type { Schema } from 'apache-arrow/fb/schema';
import { Os2gError } from '../errors.js';
import {
  type ColumnContext,
  type Dictionaries,
  extendDictionary,
  isInteger,
  isText,
  readDictionary,
  readFields,
  readNumbers,
  readNumbersOrNull,
  readShape,
  readText,
  wrongType,
} from './arrow-columns.js';
import { type ArrowMessages, type DataMessage, readMessages } from './arrow-messages.js';
import { type ArrowField, decodeField } from './arrow-types.js';
import { BatchReader } from './batch-reader.js';
import { ColumnManifest, type ManifestFacts } from './column-manifest.js';
import { badManifest, MEND_DAMAGED } from './manifest-error.js';
import { NO_OPTIONAL_COLUMNS, OPTIONAL_COLUMNS, type RowBatch } from './row-batch.js';

const REQUIRED = ['key', 'offset', 'length', 'etag', 'object_size'];
const KNOWN: readonly string[] = [...REQUIRED, ...OPTIONAL_COLUMNS];
const MANIFEST_VERSION = '1';
/** Metadata V4 and V5, as Arrow counts them; older files are from before its 1.0. */
const OLDEST_VERSION = 3;

/** A manifest over the bytes of an Arrow IPC file or stream, which must not change while it is used. */
export function parseManifest(bytes: Uint8Array, file: string): ColumnManifest {
  let read: { batches: RowBatch[]; facts: ManifestFacts };
  try {
    read = readTable(bytes, file);
  } catch (error) {
    if (error instanceof Os2gError) throw error;
    const what = error instanceof RangeError ? error.message : 'it cannot be read';
    throw badManifest({ file }, `the file is damaged: ${what}`, MEND_DAMAGED, error);
  }
  return new ColumnManifest(read.batches, read.facts, file);
}

function readTable(bytes: Uint8Array, file: string): { batches: RowBatch[]; facts: ManifestFacts } {
  const messages = readMessages(bytes, file);
  if (messages.version < OLDEST_VERSION || messages.schema.endianness() !== Endianness.Little) {
    throw badManifest(
      { file },
      'it is big-endian or older than Arrow 1.0',
      'write it with a current Arrow library',
    );
  }
  const facts = factsOf(messages.schema, file);
  const fields = schemaFields(messages);
  checkColumns(fields, file);
  return { batches: readBatches(messages.data, fields, file), facts };
}

function schemaFields({ schema, version }: ArrowMessages): ArrowField[] {
  const fields: ArrowField[] = [];
  for (let i = 0; i < schema.fieldsLength(); i++) {
    const field = schema.fields(i);
    if (field === null) throw new RangeError('its schema has an empty column');
    fields.push(decodeField(field, version));
  }
  return fields;
}

function checkColumns(fields: ArrowField[], file: string): void {
  for (const column of KNOWN) {
    const found = fields.filter((field) => field.name === column).length;
    if (found > 1)
      throw badManifest({ file, column }, 'there are two columns of this name', 'drop one of them');
    if (found === 0 && REQUIRED.includes(column)) {
      throw badManifest(
        { file, column },
        'the column is missing',
        'a manifest has key (utf8), offset (uint64), length (uint64), etag (utf8, may be null) and object_size (uint64)',
      );
    }
  }
}

function readBatches(data: DataMessage[], fields: ArrowField[], file: string): RowBatch[] {
  const batches: RowBatch[] = [];
  const dictionaries: Dictionaries = new Map();
  let firstRow = 0;
  for (const message of data) {
    const reader = new BatchReader(message.batch, message.body, file);
    if (message.dictionary !== null) {
      addDictionary(message.dictionary, reader, fields, dictionaries);
      continue;
    }
    const batch = readBatch(fields, { reader, dictionaries, file, firstRow });
    batches.push(batch);
    firstRow += batch.rows;
  }
  return batches;
}

function addDictionary(
  { id, isDelta }: { id: bigint; isDelta: boolean },
  reader: BatchReader,
  fields: ArrowField[],
  dictionaries: Dictionaries,
): void {
  const field = fields.find((candidate) => candidate.dictionary?.id === id);
  // Of a column that is not read, or nested in one.
  if (field === undefined || !KNOWN.includes(field.name) || !isText(field)) return;
  const values = readDictionary(field, reader);
  const before = dictionaries.get(id);
  dictionaries.set(id, isDelta && before !== undefined ? extendDictionary(before, values) : values);
}

function readBatch(fields: ArrowField[], context: ColumnContext): RowBatch {
  const { reader, file, firstRow } = context;
  const rows = reader.rows;
  const batch: Partial<RowBatch> = { etag: null, ...NO_OPTIONAL_COLUMNS };
  for (const field of fields) {
    if (field.name === 'key') batch.key = readText(field, rows, context) ?? refuseNull(field, file);
    else if (field.name === 'offset') batch.offset = readNumbers(field, rows, context);
    else if (field.name === 'length') batch.length = readNumbers(field, rows, context);
    else if (field.name === 'etag') batch.etag = readText(field, rows, context);
    else if (field.name === 'object_size') batch.objectSize = readNumbers(field, rows, context);
    else if (field.name === 'label') {
      batch.label = isInteger(field) ? readNumbers(field, rows, context) : readText(field, rows, context);
    } else if (field.name === 'fields') batch.fields = readFields(field, rows, context);
    else if (field.name === 'width') batch.width = readNumbersOrNull(field, rows, context);
    else if (field.name === 'height') batch.height = readNumbersOrNull(field, rows, context);
    else if (field.name === 'dtype') batch.dtype = readText(field, rows, context);
    else if (field.name === 'shape') batch.shape = readShape(field, rows, context);
    else reader.skip(field, rows);
  }
  reader.finish();
  const { key, offset, length, objectSize, etag = null } = batch;
  if (!key || !offset || !length || !objectSize) throw new RangeError('a batch lacks a column');
  return { ...NO_OPTIONAL_COLUMNS, ...batch, firstRow, rows, key, offset, length, etag, objectSize };
}

function refuseNull(field: ArrowField, file: string): never {
  throw wrongType(field, 'utf8', file);
}

function factsOf(schema: Schema, file: string): ManifestFacts {
  const facts = new Map<string, string>();
  for (let i = 0; i < schema.customMetadataLength(); i++) {
    const entry = schema.customMetadata(i);
    const key = entry?.key() ?? null;
    if (key !== null) facts.set(key, entry?.value() ?? '');
  }
  const version = facts.get('os2g.manifest');
  if (version !== undefined && version !== MANIFEST_VERSION) {
    throw badManifest(
      { file },
      `it is a manifest of version ${version}`,
      'read it with a newer os2g, or index again',
    );
  }
  return {
    bucket: facts.get('os2g.bucket') ?? null,
    prefix: facts.get('os2g.prefix') ?? null,
    format: facts.get('os2g.format') ?? null,
    ...plannedFrom(facts.get('os2g.planned_from')),
  };
}

/** Of another writer's, what is no list of texts says nothing: `--update` then reads anew. */
function plannedFrom(text: string | undefined): Pick<ManifestFacts, 'plannedFrom'> {
  if (text === undefined) return {};
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? { plannedFrom: list.filter((one) => typeof one === 'string') } : {};
  } catch {
    return {};
  }
}
