import type { FieldsColumn } from './fields-column.js';
import type { NumberColumn } from './number-column.js';
import type { ShapeColumn } from './shape-column.js';
import type { TextColumn } from './text-column.js';

/** Rows that lie together: one record batch, or all rows of a manifest made in memory. */
export interface RowBatch {
  firstRow: number;
  rows: number;
  key: TextColumn;
  offset: NumberColumn;
  length: NumberColumn;
  /** Null: all are null. */
  etag: TextColumn | null;
  objectSize: NumberColumn;
  label: TextColumn | NumberColumn | null;
  fields: FieldsColumn | null;
  /** Of a picture, in pixels. */
  width: NumberColumn | null;
  height: NumberColumn | null;
  /** Of a raw tensor. */
  dtype: TextColumn | null;
  shape: ShapeColumn | null;
}

/** The columns that a manifest may have beside those that it must have, in the order in which they are written. */
export const OPTIONAL_COLUMNS = ['label', 'fields', 'width', 'height', 'dtype', 'shape'] as const;
export type OptionalColumn = (typeof OPTIONAL_COLUMNS)[number];

/** No optional column: a row batch begins with it. */
export const NO_OPTIONAL_COLUMNS: Pick<RowBatch, OptionalColumn> = {
  label: null,
  fields: null,
  width: null,
  height: null,
  dtype: null,
  shape: null,
};

export function etagIsNull(batch: RowBatch, row: number): boolean {
  return batch.etag === null || batch.etag.isNull(row);
}
