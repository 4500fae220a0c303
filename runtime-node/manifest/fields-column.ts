import type { SampleField } from './manifest.js';
import { type Bitmap, isSet, type NumberColumn } from './number-column.js';
import type { TextColumn } from './text-column.js';

/** The `fields` column: a list of (name, offset, length) for each row. */
export class FieldsColumn {
  constructor(
    readonly rows: number,
    private readonly offsets: NumberColumn,
    private readonly validity: Bitmap,
    private readonly name: TextColumn,
    private readonly offset: NumberColumn,
    private readonly length: NumberColumn,
  ) {}

  get(row: number): SampleField[] | null {
    if (this.validity !== null && !isSet(this.validity, row)) return null;
    const fields: SampleField[] = [];
    for (let i = this.offsets.get(row); i < this.offsets.get(row + 1); i++) {
      fields.push({ name: this.name.text(i), offset: this.offset.get(i), length: this.length.get(i) });
    }
    return fields;
  }

  /** What is wrong with a row of `rowLength` bytes, or null. */
  problem(row: number, rowLength: number): string | null {
    if (this.validity !== null && !isSet(this.validity, row)) return null;
    const from = this.offsets.get(row);
    const to = this.offsets.get(row + 1);
    if (!(from >= 0 && from <= to && to <= this.name.rows)) {
      return `a list of entries ${from} to ${to} of ${this.name.rows}`;
    }
    for (let i = from; i < to; i++) {
      if (this.name.isNull(i) || this.offset.isNull(i) || this.length.isNull(i))
        return `entry ${i - from} has a null`;
      const offset = this.offset.get(i);
      const length = this.length.get(i);
      if (!(offset >= 0 && length >= 0 && offset + length <= rowLength)) {
        return `${JSON.stringify(this.name.text(i))} at ${offset}, ${length} long, is outside the sample's ${rowLength} bytes`;
      }
    }
    return null;
  }
}
