import { ColumnManifest } from '../manifest/column-manifest.js';
import { NumberColumn, type NumberValues } from '../manifest/number-column.js';
import type { RowBatch } from '../manifest/row-batch.js';
import { TextBuilder } from '../manifest/text-builder.js';
import { TextColumn } from '../manifest/text-column.js';
import type { NativeNumbers, NativeTable, NativeText } from '../native/module.js';
import type { ObjectTable } from './engine.js';
import { encodeObjectPath } from './object-path.js';

/** The columns of a table as the native engine reads them: of a manifest the buffers themselves, of another table a copy. */
export function nativeTable(table: ObjectTable): NativeTable {
  const batches = table instanceof ColumnManifest ? table.batches : [copied(table)];
  return { rows: table.rows, batches: batches.map(nativeBatch) };
}

type Columns = Pick<RowBatch, 'firstRow' | 'rows' | 'key' | 'etag' | 'objectSize'>;

function nativeBatch({ firstRow, rows, key, etag, objectSize }: Columns): NativeTable['batches'][number] {
  return {
    firstRow,
    rows,
    key: nativeText(key),
    etag: etag === null ? undefined : nativeText(etag),
    objectSize: nativeNumbers(objectSize),
  };
}

function nativeText({ values, indices }: TextColumn): NativeText {
  const { bytes, offsets, stride, validity } = values;
  return {
    bytes,
    offsets,
    stride,
    validity: validity ?? undefined,
    indices: indices === null ? undefined : nativeNumbers(indices),
  };
}

function nativeNumbers({ values, isWide, validity }: NumberColumn): NativeNumbers {
  const { buffer, byteOffset, byteLength } = values;
  return {
    bytes: new Uint8Array(buffer, byteOffset, byteLength),
    kind: kindOf(values, isWide),
    validity: validity ?? undefined,
  };
}

/** Signed ones are read as unsigned: a manifest holds no negative number. */
function kindOf(values: NumberValues, isWide: boolean): NativeNumbers['kind'] {
  if (values instanceof Float64Array) return 'f64';
  if (isWide) return 'u64';
  return values.BYTES_PER_ELEMENT === 1 ? 'u8' : values.BYTES_PER_ELEMENT === 2 ? 'u16' : 'u32';
}

function copied(table: ObjectTable): Columns {
  const { rows } = table;
  const keys = new TextBuilder(rows);
  const etags = new TextBuilder(rows);
  const sizes = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const key = table.key(row);
    // What UTF-8 cannot say is refused as an empty key is: no bytes of another key stand for it.
    keys.add(encodeObjectPath('', key) === null ? '' : key);
    etags.add(table.etag(row));
    sizes[row] = table.objectSize(row);
  }
  return {
    firstRow: 0,
    rows,
    key: new TextColumn(rows, keys.finish(), null),
    etag: new TextColumn(rows, etags.finish(), null),
    objectSize: new NumberColumn(rows, sizes, 'no', null),
  };
}
