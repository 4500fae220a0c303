import type { FieldsColumn } from './fields-column.js';
import type { NumberColumn } from './number-column.js';
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
}

export function etagIsNull(batch: RowBatch, row: number): boolean {
  return batch.etag === null || batch.etag.isNull(row);
}
