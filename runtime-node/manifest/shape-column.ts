import { type Bitmap, isSet, type NumberColumn } from './number-column.js';

/** The `shape` column: a list of extents for each row, outermost first. */
export class ShapeColumn {
  constructor(
    readonly rows: number,
    private readonly offsets: NumberColumn,
    private readonly validity: Bitmap,
    private readonly extents: NumberColumn,
  ) {}

  isNull(row: number): boolean {
    return this.validity !== null && !isSet(this.validity, row);
  }

  get(row: number): number[] | null {
    if (this.isNull(row)) return null;
    const shape: number[] = [];
    for (let i = this.offsets.get(row); i < this.offsets.get(row + 1); i++) shape.push(this.extents.get(i));
    return shape;
  }

  /** What is wrong with a row, or null. */
  problem(row: number): string | null {
    if (this.isNull(row)) return null;
    const [from, to] = [this.offsets.get(row), this.offsets.get(row + 1)];
    if (!(from >= 0 && from <= to && to <= this.extents.rows)) {
      return `a list of extents ${from} to ${to} of ${this.extents.rows}`;
    }
    for (let i = from; i < to; i++) {
      const extent = this.extents.get(i);
      if (this.extents.isNull(i) || !(extent >= 0 && Number.isSafeInteger(extent))) {
        return `extent ${i - from} is not a whole number up to 2^53 - 1`;
      }
    }
    return null;
  }
}
