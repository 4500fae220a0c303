import type { SampleRow } from '../formats/format.js';
import { fieldsColumn, numberColumn, pixelColumn, shapeColumn, textColumn } from './columns.js';
import { NO_OPTIONAL_COLUMNS, type OptionalColumn, type RowBatch } from './row-batch.js';

/** Rows of one batch, and of a record batch of a file; a manifest's bytes depend on it. */
export const BATCH_ROWS = 65_536;

/** Rows as columns, some at a time. @param optional the columns to make beside those that every manifest has */
export function* rowBatches(
  rows: Iterable<SampleRow>,
  optional: readonly OptionalColumn[],
): Generator<RowBatch> {
  let firstRow = 0;
  let waiting: SampleRow[] = [];
  for (const row of rows) {
    waiting.push(row);
    if (waiting.length < BATCH_ROWS) continue;
    yield rowBatch(firstRow, waiting, optional);
    firstRow += waiting.length;
    waiting = [];
  }
  if (waiting.length > 0) yield rowBatch(firstRow, waiting, optional);
}

function rowBatch(
  firstRow: number,
  rows: readonly SampleRow[],
  optional: readonly OptionalColumn[],
): RowBatch {
  const make: { [C in OptionalColumn]: () => RowBatch[C] } = {
    label: () => texts(rows, 'label'),
    fields: () => fieldsColumn(rows.map((row) => row.fields)),
    width: () => pixelColumn(rows.map((row) => row.width)),
    height: () => pixelColumn(rows.map((row) => row.height)),
    dtype: () => texts(rows, 'dtype'),
    shape: () => shapeColumn(rows.map((row) => row.shape)),
  };
  const columns = Object.fromEntries(optional.map((name) => [name, make[name]()]));
  return {
    ...NO_OPTIONAL_COLUMNS,
    ...columns,
    firstRow,
    rows: rows.length,
    key: texts(rows, 'key'),
    offset: numberColumn(rows.map((row) => row.offset)),
    length: numberColumn(rows.map((row) => row.length)),
    etag: texts(rows, 'etag'),
    objectSize: numberColumn(rows.map((row) => row.objectSizeBytes)),
  };
}

function texts(rows: readonly SampleRow[], name: 'key' | 'etag' | 'label' | 'dtype') {
  return textColumn(
    rows.map((row) => row[name]),
    name,
  );
}
