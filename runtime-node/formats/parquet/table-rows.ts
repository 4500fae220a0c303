import type { DecodedArray } from 'hyparquet';
import { columnPages } from './column-pages.js';
import type { ParquetTable } from './footer.js';
import type { ListColumn, ListPaths } from './list-columns.js';
import type { ParquetFile } from './parquet-file.js';

/** Values of some rows that follow each other, as the file has them; null for null, undefined where there is no such column. */
export interface TableSlice {
  firstRow: number;
  rows: number;
  value(column: ListColumn, row: number): unknown;
}

const ROWS_AT_A_TIME = 4096;

/**
 * The rows of a list in their order. Held at a time: one decoded page and one window of 4 MiB of each column, however large the row
 * groups are.
 */
export async function* tableRows(
  file: ParquetFile,
  { groups }: ParquetTable,
  paths: ListPaths,
): AsyncGenerator<TableSlice> {
  let firstRow = 0;
  for (const group of groups) {
    const cursors = new Map(
      Array.from(paths, ([name, path]): [ListColumn, Cursor] => {
        return [name, new Cursor(columnPages(file, group.chunks.get(name)!, path, group.rows))];
      }),
    );
    for (let done = 0; done < group.rows; ) {
      let rows = Math.min(ROWS_AT_A_TIME, group.rows - done);
      const ready = await Promise.all(Array.from(cursors.values(), (cursor) => cursor.ready()));
      rows = Math.min(rows, ...ready);
      yield { firstRow, rows, value: (column, row) => cursors.get(column)?.value(row) };
      for (const cursor of cursors.values()) cursor.skip(rows);
      done += rows;
      firstRow += rows;
    }
  }
}

class Cursor {
  private values: DecodedArray = [];
  private at = 0;

  constructor(private readonly pages: AsyncGenerator<DecodedArray>) {}

  /** How many values can be looked at; one or more, or the pages' error. */
  async ready(): Promise<number> {
    if (this.at === this.values.length) {
      const { value, done } = await this.pages.next();
      if (done === true) throw new Error('a column ended before its row group');
      this.values = value;
      this.at = 0;
    }
    return this.values.length - this.at;
  }

  value(row: number): unknown {
    return this.values[this.at + row];
  }

  skip(rows: number): void {
    this.at += rows;
  }
}
