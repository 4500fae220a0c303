import { ColumnManifest, type ManifestFacts } from './column-manifest.js';
import { FieldsColumn } from './fields-column.js';
import type { SampleField } from './manifest.js';
import { badManifest } from './manifest-error.js';
import { NumberColumn } from './number-column.js';
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
  };
  const { bucket = null, prefix = null, format = null } = columns;
  return new ColumnManifest([batch], { bucket, prefix, format }, null);
}

/** A half of a surrogate pair has no UTF-8, and would silently become another key. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

function textColumn(texts: readonly (string | null)[], column: string): TextColumn {
  const builder = new TextBuilder(texts.length);
  for (const [row, text] of texts.entries()) {
    if (text !== null && hasLoneSurrogate(text)) {
      throw badManifest({ file: null, row, column }, 'text with half a character', 'give well-formed text');
    }
    builder.add(text);
  }
  return new TextColumn(texts.length, builder.finish(), null);
}

function numberColumn(values: ArrayLike<number>): NumberColumn {
  return new NumberColumn(values.length, Float64Array.from(values), 'no', null);
}

function fieldsColumn(rows: readonly (readonly SampleField[] | null)[]): FieldsColumn {
  const offsets = [0];
  const validity = new Uint8Array(Math.ceil(rows.length / 8));
  const entries: SampleField[] = [];
  for (const [row, fields] of rows.entries()) {
    entries.push(...(fields ?? []));
    offsets.push(entries.length);
    if (fields !== null) validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
  }
  const names = textColumn(
    entries.map((entry) => entry.name),
    'fields',
  );
  return new FieldsColumn(
    rows.length,
    numberColumn(offsets),
    validity,
    names,
    numberColumn(entries.map((entry) => entry.offset)),
    numberColumn(entries.map((entry) => entry.length)),
  );
}
