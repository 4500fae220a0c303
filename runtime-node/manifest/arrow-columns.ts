import { Type } from 'apache-arrow/fb/type';
import { type ArrowField, typeName } from './arrow-types.js';
import type { BatchReader, Node } from './batch-reader.js';
import { FieldsColumn } from './fields-column.js';
import { badManifest } from './manifest-error.js';
import { type Bitmap, isSet, NumberColumn } from './number-column.js';
import { ShapeColumn } from './shape-column.js';
import { TextBuilder } from './text-builder.js';
import { findBadText, TextColumn, type TextValues } from './text-column.js';

/** Dictionaries by id, as they stand when a batch is read. */
export type Dictionaries = Map<bigint, TextValues>;

/** What a reader of columns needs besides the column. */
export interface ColumnContext {
  reader: BatchReader;
  dictionaries: Dictionaries;
  file: string;
  firstRow: number;
}

const VIEW_BYTES = 16;
const VIEW_INLINE = 12;
/** Views may share bytes; more than this many times the body's size is no honest manifest. */
const VIEW_EXPANSION = 16;

export function isText(field: ArrowField): boolean {
  return field.type === Type.Utf8 || field.type === Type.LargeUtf8 || field.type === Type.Utf8View;
}

export function isInteger(field: ArrowField): boolean {
  return field.int !== null && field.dictionary === null;
}

export function readNumbers(field: ArrowField, rows: number | null, context: ColumnContext): NumberColumn {
  if (field.int === null || field.dictionary !== null) throw wrongType(field, 'uint64', context.file);
  const node = context.reader.nextNode(rows);
  const validity = context.reader.nextValidity(node);
  return context.reader.nextIntegers(field.int, node.rows, validity);
}

/** A column of type null comes back as null: it holds no number at all. */
export function readNumbersOrNull(
  field: ArrowField,
  rows: number,
  context: ColumnContext,
): NumberColumn | null {
  if (field.type !== Type.Null) return readNumbers(field, rows, context);
  context.reader.skip(field, rows);
  return null;
}

/** A text column; a column of type null comes back as null: it holds no text at all. */
export function readText(field: ArrowField, rows: number | null, context: ColumnContext): TextColumn | null {
  const { reader, dictionaries, file } = context;
  if (field.type === Type.Null) {
    reader.skip(field, rows);
    return null;
  }
  if (!isText(field)) throw wrongType(field, 'utf8', file);
  const node = reader.nextNode(rows);
  if (field.dictionary === null) {
    const values = readTextValues(field, node, reader);
    const bad = findBadText(values);
    if (bad !== null) throw badText(field, bad.what, context, bad.slot);
    return new TextColumn(node.rows, values, null);
  }
  const validity = reader.nextValidity(node);
  const indices = reader.nextIntegers(field.dictionary.index, node.rows, validity);
  const values = dictionaries.get(field.dictionary.id);
  if (values === undefined) throw new RangeError(`the dictionary of column ${field.name} is missing`);
  const column = new TextColumn(node.rows, values, indices);
  const bad = column.findBadIndex();
  if (bad !== null) throw badText(field, bad.what, context, bad.slot);
  return column;
}

/** The values of a dictionary batch, checked. */
export function readDictionary(field: ArrowField, reader: BatchReader): TextValues {
  const values = readTextValues(field, reader.nextNode(reader.rows), reader);
  reader.finish();
  const bad = findBadText(values);
  if (bad !== null) throw new RangeError(`the dictionary of column ${field.name} holds ${bad.what}`);
  return values;
}

export function readShape(field: ArrowField, rows: number, context: ColumnContext): ShapeColumn | null {
  if (field.type === Type.Null) {
    context.reader.skip(field, rows);
    return null;
  }
  const entry = field.children[0];
  if (!isList(field) || entry === undefined || !isInteger(entry)) {
    throw wrongType(field, 'list of uint64', context.file);
  }
  const { offsets, validity } = readListStarts(field, rows, context.reader);
  return new ShapeColumn(rows, offsets, validity, readNumbers(entry, null, context));
}

function isList(field: ArrowField): boolean {
  return (field.type === Type.List || field.type === Type.LargeList) && field.dictionary === null;
}

function readListStarts(
  field: ArrowField,
  rows: number,
  reader: BatchReader,
): { node: Node; offsets: NumberColumn; validity: Bitmap } {
  const isLarge = field.type === Type.LargeList;
  const node = reader.nextNode(rows);
  const validity = reader.nextValidity(node);
  const words = reader.nextWords(node.rows + 1, isLarge ? 2 : 1);
  return {
    node,
    validity,
    offsets: new NumberColumn(node.rows + 1, words, isLarge ? 'unsigned' : 'no', null),
  };
}

export function readFields(field: ArrowField, rows: number, context: ColumnContext): FieldsColumn {
  const entry = field.children[0];
  const wanted = 'list of struct(name utf8, offset uint64, length uint64)';
  if (!isList(field) || entry?.type !== Type.Struct_ || !hasEntryColumns(entry)) {
    throw wrongType(field, wanted, context.file);
  }
  const { reader } = context;
  const { node, offsets, validity } = readListStarts(field, rows, reader);
  const structNode = reader.nextNode(null);
  const structValidity = reader.nextValidity(structNode);
  const read = readEntries(entry, structNode, context);
  if (structValidity !== null && !allSet(structValidity, structNode.rows)) {
    throw badManifest(
      { file: context.file, column: field.name },
      'an entry is null',
      'leave such entries out',
    );
  }
  return new FieldsColumn(node.rows, offsets, validity, read.name, read.offset, read.length);
}

export function wrongType(field: ArrowField, wanted: string, file: string): Error {
  return badManifest(
    { file, column: field.name },
    `its type is ${typeName(field)}, wanted ${wanted}`,
    `cast the column ${field.name} to ${wanted} and write the manifest again`,
  );
}

function readEntries(entry: ArrowField, node: Node, context: ColumnContext) {
  let name: TextColumn | null = null;
  let offset: NumberColumn | null = null;
  let length: NumberColumn | null = null;
  for (const child of entry.children) {
    if (child.name === 'name') name = readText(child, node.rows, context);
    else if (child.name === 'offset') offset = readNumbers(child, node.rows, context);
    else if (child.name === 'length') length = readNumbers(child, node.rows, context);
    else context.reader.skip(child, node.rows);
  }
  if (name === null || offset === null || length === null)
    throw new RangeError('the entries of fields are incomplete');
  return { name, offset, length };
}

function hasEntryColumns(entry: ArrowField): boolean {
  const one = (name: string) => entry.children.filter((child) => child.name === name);
  const [name, offset, length] = [one('name'), one('offset'), one('length')];
  if (name.length !== 1 || offset.length !== 1 || length.length !== 1) return false;
  return (
    name.every((child) => isText(child) && child.dictionary === null) &&
    offset.every(isInteger) &&
    length.every(isInteger)
  );
}

function badText(field: ArrowField, what: string, context: ColumnContext, slot: number): Error {
  const place = { file: context.file, column: field.name, row: context.firstRow + slot };
  return badManifest(place, what, 'write the manifest again from its source');
}

function allSet(bitmap: Uint8Array, rows: number): boolean {
  for (let i = 0; i < rows; i++) if (!isSet(bitmap, i)) return false;
  return true;
}

function readTextValues(field: ArrowField, node: Node, reader: BatchReader): TextValues {
  const validity = reader.nextValidity(node);
  if (field.type === Type.Utf8View) return gatherViews(node, validity, reader);
  const stride = field.type === Type.LargeUtf8 ? 2 : 1;
  const offsets = reader.nextWords(node.rows + 1, stride);
  const bytes = asBuffer(reader.nextBuffer());
  for (let i = 1; i < offsets.length && stride === 2; i += 2) {
    if (offsets[i] !== 0) throw new RangeError(`column ${field.name} has text beyond 4 GiB`);
  }
  return { count: node.rows, bytes, offsets, stride, validity };
}

/** Views hold short strings themselves and point to long ones in several buffers: laid end to end here. */
function gatherViews(node: Node, validity: Bitmap, reader: BatchReader): TextValues {
  const views = reader.nextBuffer();
  if (views.length < node.rows * VIEW_BYTES)
    throw new RangeError(`${node.rows} rows in ${views.length} bytes of views`);
  const sources: Uint8Array[] = [];
  for (let left = reader.nextVariadicCount(); left > 0; left--) sources.push(reader.nextBuffer());
  const limit = VIEW_EXPANSION * sources.reduce((sum, source) => sum + source.length, views.length);
  const data = new DataView(views.buffer, views.byteOffset, views.byteLength);
  const builder = new TextBuilder(node.rows, views.length);
  for (let row = 0; row < node.rows; row++) {
    if (validity !== null && !isSet(validity, row)) {
      builder.addNull();
      continue;
    }
    const at = row * VIEW_BYTES;
    const length = data.getUint32(at, true);
    const isInline = length <= VIEW_INLINE;
    const source = isInline ? views : sources[data.getUint32(at + 8, true)];
    const start = isInline ? at + 4 : data.getUint32(at + 12, true);
    if (source === undefined || start + length > source.length || builder.sizeBytes + length > limit) {
      throw new RangeError(`row ${row} of a column points outside its text`);
    }
    builder.addBytes(source, start, start + length);
  }
  return builder.finish();
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A dictionary with more values at its end. */
export function extendDictionary(first: TextValues, second: TextValues): TextValues {
  const builder = new TextBuilder(first.count + second.count, first.bytes.length + second.bytes.length);
  for (const values of [first, second]) {
    const column = new TextColumn(values.count, values, null);
    for (let i = 0; i < values.count; i++) builder.addFrom(column, i);
  }
  return builder.finish();
}
