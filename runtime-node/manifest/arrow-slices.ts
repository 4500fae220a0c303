import {
  type Data,
  Field,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Uint32,
  Uint64,
  Utf8,
} from 'apache-arrow';
import type { ManifestFacts } from './column-manifest.js';
import type { SampleField } from './manifest.js';
import { NumberColumn } from './number-column.js';
import { etagIsNull, OPTIONAL_COLUMNS, type OptionalColumn, type RowBatch } from './row-batch.js';
import { TextBuilder } from './text-builder.js';

const TWO_32 = 2 ** 32;
const ENTRY = new Struct([
  new Field('name', new Utf8()),
  new Field('offset', new Uint64()),
  new Field('length', new Uint64()),
]);
const ENTRIES = new List(new Field('item', ENTRY));
const EXTENTS = new List(new Field('item', new Uint64()));
const OPTIONAL_TYPES = {
  label: new Utf8(),
  fields: ENTRIES,
  width: new Uint32(),
  height: new Uint32(),
  dtype: new Utf8(),
  shape: EXTENTS,
};

/** The schema of a written manifest: the columns of the contract, and the optional ones named. */
export function manifestSchema(facts: ManifestFacts, optional: readonly OptionalColumn[]): Schema {
  const columns: Field[] = [
    new Field('key', new Utf8()),
    new Field('offset', new Uint64()),
    new Field('length', new Uint64()),
    new Field('etag', new Utf8(), true),
    new Field('object_size', new Uint64()),
  ];
  for (const name of OPTIONAL_COLUMNS) {
    if (optional.includes(name)) columns.push(new Field(name, OPTIONAL_TYPES[name], true));
  }
  const { bucket, prefix, format, plannedFrom = [] } = facts;
  const metadata = new Map([['os2g.manifest', '1']]);
  if (bucket !== null) metadata.set('os2g.bucket', bucket);
  if (prefix !== null) metadata.set('os2g.prefix', prefix);
  if (format !== null) metadata.set('os2g.format', format);
  if (plannedFrom.length > 0) metadata.set('os2g.planned_from', JSON.stringify(plannedFrom));
  return new Schema(columns, metadata);
}

/** The optional columns that any batch has. */
export function optionalColumns(batches: readonly RowBatch[]): OptionalColumn[] {
  return OPTIONAL_COLUMNS.filter((name) => batches.some((batch) => batch[name] !== null));
}

/** Rows `[from, to)` as one record batch, laid out afresh: how the source is batched or encoded leaves no trace. */
export function sliceBatch(
  batches: readonly RowBatch[],
  schema: Schema,
  from: number,
  to: number,
): RecordBatch {
  const rows = to - from;
  const slice = new SliceBuilder(rows);
  for (const batch of batches) {
    const last = Math.min(to, batch.firstRow + batch.rows);
    for (let row = Math.max(from, batch.firstRow); row < last; row++) slice.add(batch, row - batch.firstRow);
  }
  const children: Data[] = [
    textData(slice.key),
    slice.offset.finish(),
    slice.length.finish(),
    textData(slice.etag),
    slice.objectSize.finish(),
  ];
  const optional: Record<OptionalColumn, () => Data> = {
    label: () => textData(slice.label),
    fields: () => entriesData(slice.fields),
    width: () => pixelsData(slice.width),
    height: () => pixelsData(slice.height),
    dtype: () => textData(slice.dtype),
    shape: () => extentsData(slice.shape),
  };
  for (const name of OPTIONAL_COLUMNS) {
    if (schema.fields.some((field) => field.name === name)) children.push(optional[name]());
  }
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children }),
  );
}

class SliceBuilder {
  readonly key: TextBuilder;
  readonly etag: TextBuilder;
  readonly label: TextBuilder;
  readonly offset: WordsBuilder;
  readonly length: WordsBuilder;
  readonly objectSize: WordsBuilder;
  readonly fields: (SampleField[] | null)[] = [];
  readonly width: (number | null)[] = [];
  readonly height: (number | null)[] = [];
  readonly dtype: TextBuilder;
  readonly shape: (number[] | null)[] = [];

  constructor(rows: number) {
    this.key = new TextBuilder(rows);
    this.etag = new TextBuilder(rows);
    this.label = new TextBuilder(rows);
    this.dtype = new TextBuilder(rows);
    this.offset = new WordsBuilder(rows);
    this.length = new WordsBuilder(rows);
    this.objectSize = new WordsBuilder(rows);
  }

  add(batch: RowBatch, i: number): void {
    this.key.addFrom(batch.key, i);
    this.offset.add(batch.offset.get(i));
    this.length.add(batch.length.get(i));
    if (batch.etag === null || etagIsNull(batch, i)) this.etag.addNull();
    else this.etag.addFrom(batch.etag, i);
    this.objectSize.add(batch.objectSize.get(i));
    if (batch.label === null || batch.label.isNull(i)) this.label.addNull();
    else if (batch.label instanceof NumberColumn) this.label.add(String(batch.label.get(i)));
    else this.label.addFrom(batch.label, i);
    this.fields.push(batch.fields?.get(i) ?? null);
    this.width.push(numberOrNull(batch.width, i));
    this.height.push(numberOrNull(batch.height, i));
    if (batch.dtype === null) this.dtype.addNull();
    else this.dtype.addFrom(batch.dtype, i);
    this.shape.push(batch.shape?.get(i) ?? null);
  }
}

/** Unsigned 64-bit numbers from words. */
class WordsBuilder {
  private readonly words: Uint32Array<ArrayBuffer>;
  private count = 0;

  constructor(rows: number) {
    this.words = new Uint32Array(2 * rows);
  }

  add(value: number): void {
    this.words[2 * this.count] = value >>> 0;
    this.words[2 * this.count + 1] = Math.floor(value / TWO_32);
    this.count++;
  }

  finish(): Data<Uint64> {
    const data = new BigUint64Array(this.words.buffer);
    return makeData({ type: new Uint64(), length: this.count, nullCount: 0, data });
  }
}

function textData(builder: TextBuilder): Data<Utf8> {
  const { count, bytes, offsets, validity } = builder.finish();
  return makeData({
    type: new Utf8(),
    length: count,
    nullBitmap: validity,
    valueOffsets: new Int32Array(offsets.buffer, offsets.byteOffset, offsets.length),
    data: bytes,
  });
}

function entriesData(rows: readonly (SampleField[] | null)[]): Data<List> {
  const entries = rows.flatMap((fields) => fields ?? []);
  const { valueOffsets, nullBitmap } = listStarts(rows);
  const name = new TextBuilder(entries.length);
  const offset = new WordsBuilder(entries.length);
  const length = new WordsBuilder(entries.length);
  for (const entry of entries) {
    name.add(entry.name);
    offset.add(entry.offset);
    length.add(entry.length);
  }
  const children = [textData(name), offset.finish(), length.finish()];
  const child = makeData({ type: ENTRY, length: entries.length, nullCount: 0, children });
  return makeData({ type: ENTRIES, length: rows.length, nullBitmap, valueOffsets, child });
}

function extentsData(rows: readonly (number[] | null)[]): Data<List> {
  const extents = rows.flatMap((shape) => shape ?? []);
  const words = new WordsBuilder(extents.length);
  for (const extent of extents) words.add(extent);
  const { valueOffsets, nullBitmap } = listStarts(rows);
  return makeData({ type: EXTENTS, length: rows.length, nullBitmap, valueOffsets, child: words.finish() });
}

function pixelsData(rows: readonly (number | null)[]): Data<Uint32> {
  const data = Uint32Array.from(rows, (pixels) => pixels ?? 0);
  const { nullBitmap } = listStarts(rows.map((pixels) => (pixels === null ? null : [])));
  return makeData({ type: new Uint32(), length: rows.length, nullBitmap, data });
}

function listStarts(rows: readonly (readonly unknown[] | null)[]): {
  valueOffsets: Int32Array;
  nullBitmap: Uint8Array;
} {
  const valueOffsets = new Int32Array(rows.length + 1);
  const nullBitmap = new Uint8Array(Math.ceil(rows.length / 8));
  for (const [row, list] of rows.entries()) {
    valueOffsets[row + 1] = (valueOffsets[row] as number) + (list?.length ?? 0);
    if (list !== null) nullBitmap[row >> 3] = (nullBitmap[row >> 3] as number) | (1 << (row & 7));
  }
  return { valueOffsets, nullBitmap };
}

function numberOrNull(column: NumberColumn | null, row: number): number | null {
  return column === null || column.isNull(row) ? null : column.get(row);
}
