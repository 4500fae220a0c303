import { ColumnManifest, type ManifestFacts } from './column-manifest.js';
import { FieldsColumn } from './fields-column.js';
import type { SampleField } from './manifest.js';
import { badManifest } from './manifest-error.js';
import { NumberColumn } from './number-column.js';
import { ShapeColumn } from './shape-column.js';
import { TextBuilder } from './text-builder.js';
import { TextColumn } from './text-column.js';

/** Columns of equal length; what is left out takes the default named. */
export interface ManifestColumns extends Partial<ManifestFacts> {
  keys: readonly string[];
  /** Bytes of each sample. */
  lengths: ArrayLike<number>;
  /** Default: 0. */
  offsets?: ArrayLike<number>;
  /** Default: null. */
  etags?: readonly (string | null)[];
  /** Bytes of each whole object; only to be left out together with `offsets`: then a sample is a whole object. */
  objectSizes?: ArrayLike<number>;
  labels?: readonly (string | null)[];
  fields?: readonly (readonly SampleField[] | null)[];
  /** Of pictures, in pixels. */
  widths?: readonly (number | null)[];
  heights?: readonly (number | null)[];
  /** Of raw tensors: NumPy's names of their types, and their shapes. */
  dtypes?: readonly (string | null)[];
  shapes?: readonly (readonly number[] | null)[];
}

/**
 * A manifest in memory. The order of rows stays as it is.
 * @throws ConfigError `bad_manifest`
 */
export function manifestFromColumns(columns: ManifestColumns): ColumnManifest {
  const rows = columns.keys.length;
  for (const [name, column] of Object.entries(columns)) {
    if (column !== null && typeof column === 'object' && column.length !== rows) {
      throw badManifest(
        { file: null, column: name },
        `${column.length} values for ${rows} keys`,
        'give one for each key',
      );
    }
  }
  const objectSizes = columns.objectSizes ?? (columns.offsets === undefined ? columns.lengths : undefined);
  if (objectSizes === undefined) {
    throw badManifest(
      { file: null, column: 'objectSizes' },
      'it is missing',
      'give the size of each whole object',
    );
  }
  const batch = {
    firstRow: 0,
    rows,
    key: textColumn(columns.keys, 'keys'),
    offset: numberColumn(columns.offsets ?? new Float64Array(rows)),
    length: numberColumn(columns.lengths),
    etag: columns.etags === undefined ? null : textColumn(columns.etags, 'etags'),
    objectSize: numberColumn(objectSizes),
    label: columns.labels === undefined ? null : textColumn(columns.labels, 'labels'),
    fields: columns.fields === undefined ? null : fieldsColumn(columns.fields),
    width: columns.widths === undefined ? null : pixelColumn(columns.widths),
    height: columns.heights === undefined ? null : pixelColumn(columns.heights),
    dtype: columns.dtypes === undefined ? null : textColumn(columns.dtypes, 'dtypes'),
    shape: columns.shapes === undefined ? null : shapeColumn(columns.shapes),
  };
  const { bucket = null, prefix = null, format = null } = columns;
  return new ColumnManifest([batch], { bucket, prefix, format }, null);
}

/** A half of a surrogate pair has no UTF-8, and would silently become another key. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

export function textColumn(texts: readonly (string | null)[], column: string): TextColumn {
  const builder = new TextBuilder(texts.length);
  for (const [row, text] of texts.entries()) {
    if (text !== null && hasLoneSurrogate(text)) {
      throw badManifest({ file: null, row, column }, 'text with half a character', 'give well-formed text');
    }
    builder.add(text);
  }
  return new TextColumn(texts.length, builder.finish(), null);
}

export function numberColumn(values: ArrayLike<number>): NumberColumn {
  return new NumberColumn(values.length, Float64Array.from(values), 'no', null);
}

/** Null where a number is; not checked to be whole. */
export function pixelColumn(values: readonly (number | null)[]): NumberColumn {
  const numbers = Float64Array.from(values, (value) => value ?? 0);
  return new NumberColumn(values.length, numbers, 'no', validityOf(values));
}

export function shapeColumn(rows: readonly (readonly number[] | null)[]): ShapeColumn {
  const [offsets, extents] = flatten(rows);
  return new ShapeColumn(rows.length, numberColumn(offsets), validityOf(rows), numberColumn(extents));
}

export function fieldsColumn(rows: readonly (readonly SampleField[] | null)[]): FieldsColumn {
  const [offsets, entries] = flatten(rows);
  const names = textColumn(
    entries.map((entry) => entry.name),
    'fields',
  );
  return new FieldsColumn(
    rows.length,
    numberColumn(offsets),
    validityOf(rows),
    names,
    numberColumn(entries.map((entry) => entry.offset)),
    numberColumn(entries.map((entry) => entry.length)),
  );
}

/** Lists end to end, and where each begins and the last one ends. */
function flatten<T>(rows: readonly (readonly T[] | null)[]): [offsets: number[], entries: T[]] {
  const offsets = [0];
  const entries: T[] = [];
  for (const list of rows) {
    for (const entry of list ?? []) entries.push(entry);
    offsets.push(entries.length);
  }
  return [offsets, entries];
}

function validityOf(rows: readonly unknown[]): Uint8Array {
  const validity = new Uint8Array(Math.ceil(rows.length / 8));
  for (const [row, value] of rows.entries()) {
    if (value !== null) validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
  }
  return validity;
}
