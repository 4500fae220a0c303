import { badManifest, MEND_DAMAGED } from './manifest-error.js';
import { NumberColumn } from './number-column.js';
import { etagIsNull, type RowBatch } from './row-batch.js';
import { sameText } from './text-column.js';

/** What one pass over all rows finds out. */
export interface RowSummary {
  rows: number;
  /** Bytes. */
  maxLength: number;
  totalLength: number;
  /** First row of each run of neighbouring rows with one key; null where no two neighbours share one. */
  runStarts: Uint32Array | null;
}

/** Rows are counted in 32 bits. */
const MAX_ROWS = 2 ** 32 - 1;
const NUMBERS = ['offset', 'length', 'objectSize'] as const;
const COLUMN_NAMES = { offset: 'offset', length: 'length', objectSize: 'object_size' } as const;

/** Checks every row once; text was checked for UTF-8 and range when its column was read. */
export function validateRows(batches: readonly RowBatch[], file: string | null): RowSummary {
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
  if (rows === 0)
    throw badManifest({ file }, 'it has no rows', 'index a prefix that holds at least one object');
  if (rows > MAX_ROWS)
    throw badManifest({ file }, `it has ${rows} rows, at most ${MAX_ROWS} are read`, 'split it');
  const summary: RowSummary = { rows, maxLength: 0, totalLength: 0, runStarts: null };
  const runs = new RunFinder(rows);
  let before: RowBatch | null = null;
  for (const batch of batches) {
    if (batch.rows === 0) continue;
    for (let i = 0; i < batch.rows; i++) {
      checkKey(batch, i, file);
      const length = checkRange(batch, i, file);
      if (length > summary.maxLength) summary.maxLength = length;
      summary.totalLength += length;
      const neighbour = i === 0 ? before : batch;
      const at = i === 0 ? (before?.rows ?? 0) - 1 : i - 1;
      const isSameObject = neighbour !== null && sameText(neighbour.key, at, batch.key, i);
      if (isSameObject) checkSameObject(neighbour, at, batch, i, file);
      runs.add(isSameObject);
    }
    checkOptional(batch, file);
    before = batch;
  }
  if (!Number.isSafeInteger(summary.totalLength)) {
    throw badManifest(
      { file, column: 'length' },
      'the sum over all rows is above 2^53 - 1 bytes',
      'split the manifest',
    );
  }
  summary.runStarts = runs.finish();
  return summary;
}

/** Collects starts of runs, but takes no memory until two neighbours share a key. */
class RunFinder {
  private starts: Uint32Array | null = null;
  private count = 0;
  private row = 0;

  constructor(private readonly rows: number) {}

  add(continues: boolean): void {
    if (continues && this.starts === null) {
      this.starts = new Uint32Array(this.rows);
      for (let i = 0; i < this.row; i++) this.starts[i] = i;
    }
    if (!continues) {
      if (this.starts !== null) this.starts[this.count] = this.row;
      this.count++;
    }
    this.row++;
  }

  finish(): Uint32Array | null {
    return this.starts === null ? null : this.starts.slice(0, this.count);
  }
}

function checkKey(batch: RowBatch, i: number, file: string | null): void {
  const place = { file, row: batch.firstRow + i, column: 'key' };
  if (batch.key.isNull(i))
    throw badManifest(place, 'the key is null', 'name the object, or leave the row out');
  if (batch.key.start(i) === batch.key.end(i)) {
    throw badManifest(place, 'the key is empty', 'name the object, or leave the row out');
  }
}

function checkRange(batch: RowBatch, i: number, file: string | null): number {
  const offset = batch.offset.get(i);
  const length = batch.length.get(i);
  const size = batch.objectSize.get(i);
  const isPlain = isSize(offset) && isSize(length) && isSize(size) && offset + length <= size;
  if (!isPlain || batch.offset.isNull(i) || batch.length.isNull(i) || batch.objectSize.isNull(i)) {
    throw rangeError(batch, i, file);
  }
  return length;
}

function rangeError(batch: RowBatch, i: number, file: string | null): Error {
  const row = batch.firstRow + i;
  for (const name of NUMBERS) {
    const place = { file, row, column: COLUMN_NAMES[name] };
    if (batch[name].isNull(i))
      return badManifest(place, 'the value is null', 'fill it in; every row needs it');
    const value = batch[name].get(i);
    if (!isSize(value)) {
      const what = value < 0 ? `${value} is negative` : `${value} is not a whole number up to 2^53 - 1`;
      return badManifest(place, what, 'write the number of bytes');
    }
  }
  const [offset, length, size] = [batch.offset.get(i), batch.length.get(i), batch.objectSize.get(i)];
  return badManifest(
    { file, row, column: 'length' },
    `offset ${offset} and length ${length} end beyond object_size ${size} of ${JSON.stringify(batch.key.text(i))}`,
    'object_size is the size of the whole object; index the object again if it changed',
  );
}

function checkSameObject(
  before: RowBatch,
  at: number,
  batch: RowBatch,
  i: number,
  file: string | null,
): void {
  const place = { file, row: batch.firstRow + i };
  const mend = 'rows of one object must agree on its version; index the object again';
  const key = JSON.stringify(batch.key.text(i));
  if (before.objectSize.get(at) !== batch.objectSize.get(i)) {
    const sizes = `${before.objectSize.get(at)} in the row before and ${batch.objectSize.get(i)} here`;
    throw badManifest({ ...place, column: 'object_size' }, `${key} has size ${sizes}`, mend);
  }
  if (!sameEtag(before, at, batch, i)) {
    const shown = (of: RowBatch, row: number) =>
      etagIsNull(of, row) ? 'null' : (of.etag?.text(row) ?? 'null');
    const etags = `${shown(before, at)} in the row before and ${shown(batch, i)} here`;
    throw badManifest({ ...place, column: 'etag' }, `${key} has ETag ${etags}`, mend);
  }
}

function sameEtag(before: RowBatch, at: number, batch: RowBatch, i: number): boolean {
  const [a, b] = [etagIsNull(before, at), etagIsNull(batch, i)];
  if (a || b || before.etag === null || batch.etag === null) return a === b;
  return sameText(before.etag, at, batch.etag, i);
}

function checkOptional(batch: RowBatch, file: string | null): void {
  const { label, fields, shape } = batch;
  for (let i = 0; i < batch.rows; i++) {
    const row = batch.firstRow + i;
    if (label instanceof NumberColumn && !label.isNull(i) && !Number.isSafeInteger(label.get(i))) {
      throw badManifest({ file, row, column: 'label' }, 'the number is beyond 2^53', 'write labels as text');
    }
    const problem = fields?.problem(i, batch.length.get(i)) ?? null;
    if (problem !== null) throw badManifest({ file, row, column: 'fields' }, problem, MEND_DAMAGED);
    for (const column of ['width', 'height'] as const) {
      const pixels = batch[column];
      if (pixels === null || pixels.isNull(i) || isPixels(pixels.get(i))) continue;
      throw badManifest({ file, row, column }, `${pixels.get(i)} is no number of pixels`, 'write an uint32');
    }
    const badShape = shape?.problem(i) ?? null;
    if (badShape !== null) throw badManifest({ file, row, column: 'shape' }, badShape, MEND_DAMAGED);
  }
}

function isPixels(value: number): boolean {
  return value >= 0 && value < 2 ** 32 && Number.isInteger(value);
}

function isSize(value: number): boolean {
  return value >= 0 && Number.isSafeInteger(value);
}
