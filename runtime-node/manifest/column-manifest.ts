import { hashRows } from './dataset-hash.js';
import type { Manifest, SampleField } from './manifest.js';
import { NumberColumn } from './number-column.js';
import { etagIsNull, type RowBatch } from './row-batch.js';
import { type RowSummary, validateRows } from './validate.js';

/** What a manifest says about where it is from; kept in the file's schema metadata. */
export interface ManifestFacts {
  bucket: string | null;
  /** Prefix that was listed. */
  prefix: string | null;
  /** What a sample is: `objects`, or a format by name. */
  format: string | null;
  /** Versions of the objects beside those of the rows that the rows come from, as texts: by them `--update` knows that they hold. */
  plannedFrom?: readonly string[];
}

/** A manifest over columns, wherever they lie. Made by `readManifest`, `listManifest` or `manifestFromColumns`. */
export class ColumnManifest implements Manifest {
  readonly rows: number;
  readonly maxLength: number;
  readonly totalLength: number;
  /** Runs of neighbouring rows with one key: the objects, where rows are sorted by key. */
  readonly objects: number;
  readonly batches: readonly RowBatch[];
  /** Rows of each batch but the last; 0 where they differ. */
  private readonly batchRows: number;
  private readonly runStarts: Uint32Array | null;
  private hash: string | null = null;

  /** Checks every row. @throws ConfigError `bad_manifest` that names file, row and column */
  constructor(
    batches: readonly RowBatch[],
    readonly facts: ManifestFacts,
    file: string | null,
  ) {
    const summary: RowSummary = validateRows(batches, file);
    this.batches = batches.filter((batch) => batch.rows > 0);
    this.batchRows = equalRows(this.batches);
    this.rows = summary.rows;
    this.maxLength = summary.maxLength;
    this.totalLength = summary.totalLength;
    this.runStarts = summary.runStarts;
    this.objects = summary.runStarts?.length ?? summary.rows;
  }

  get bucket(): string | null {
    return this.facts.bucket;
  }

  /** See `hashRows` for the bytes that are hashed. */
  get datasetHash(): string {
    this.hash ??= hashRows(this.batches, this.rows);
    return this.hash;
  }

  key(row: number): string {
    const batch = this.batchOf(row);
    return batch.key.text(row - batch.firstRow);
  }

  offset(row: number): number {
    const batch = this.batchOf(row);
    return batch.offset.get(row - batch.firstRow);
  }

  length(row: number): number {
    const batch = this.batchOf(row);
    return batch.length.get(row - batch.firstRow);
  }

  etag(row: number): string | null {
    const batch = this.batchOf(row);
    const at = row - batch.firstRow;
    return batch.etag === null || etagIsNull(batch, at) ? null : batch.etag.text(at);
  }

  objectSize(row: number): number {
    const batch = this.batchOf(row);
    return batch.objectSize.get(row - batch.firstRow);
  }

  objectHandle(row: number): number {
    this.batchOf(row);
    const starts = this.runStarts;
    return starts === null
      ? row
      : (starts[lastAtMost(starts.length, row, (i) => starts[i] as number)] as number);
  }

  label(row: number): string | null {
    const batch = this.batchOf(row);
    const at = row - batch.firstRow;
    const label = batch.label;
    if (label === null || label.isNull(at)) return null;
    return label instanceof NumberColumn ? String(label.get(at)) : label.text(at);
  }

  fields(row: number): SampleField[] | null {
    const batch = this.batchOf(row);
    return batch.fields?.get(row - batch.firstRow) ?? null;
  }

  width(row: number): number | null {
    return this.number(row, 'width');
  }

  height(row: number): number | null {
    return this.number(row, 'height');
  }

  dtype(row: number): string | null {
    const batch = this.batchOf(row);
    const at = row - batch.firstRow;
    return batch.dtype === null || batch.dtype.isNull(at) ? null : batch.dtype.text(at);
  }

  shape(row: number): number[] | null {
    const batch = this.batchOf(row);
    return batch.shape?.get(row - batch.firstRow) ?? null;
  }

  private number(row: number, name: 'width' | 'height'): number | null {
    const batch = this.batchOf(row);
    const [column, at] = [batch[name], row - batch.firstRow];
    return column === null || column.isNull(at) ? null : column.get(at);
  }

  private batchOf(row: number): RowBatch {
    if (!(row >= 0 && row < this.rows) || !Number.isInteger(row)) {
      throw new RangeError(`row ${row} of a manifest of ${this.rows} rows`);
    }
    const { batches, batchRows } = this;
    const at =
      batchRows > 0
        ? Math.floor(row / batchRows)
        : lastAtMost(batches.length, row, (i) => (batches[i] as RowBatch).firstRow);
    return batches[at] as RowBatch;
  }
}

function equalRows(batches: readonly RowBatch[]): number {
  const rows = batches[0]?.rows ?? 0;
  const last = batches.length - 1;
  const isEqual = batches.every((batch, i) => (i === last ? batch.rows <= rows : batch.rows === rows));
  return isEqual ? rows : 0;
}

/** The last of `count` rising values that is not above `wanted`; the first one must not be. */
function lastAtMost(count: number, wanted: number, value: (i: number) => number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (value(middle) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}
