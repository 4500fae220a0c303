import type { SampleField } from '../../manifest/manifest.js';
import type { MdsColumn } from './index-file.js';

const SIZE_BYTES = 4;

/**
 * A sample's bytes: the sizes of its variable columns (uint32, little-endian), then the data of all columns, in their order.
 */
export class SampleLayout {
  /** Columns whose sizes differ from sample to sample. */
  readonly variableColumns: number;
  /** Bytes of the sizes before the data. */
  readonly headBytes: number;
  /** Bytes of all fixed columns. */
  readonly fixedBytes: number;

  constructor(private readonly columns: readonly MdsColumn[]) {
    this.variableColumns = columns.filter(({ fixedBytes }) => fixedBytes === null).length;
    this.headBytes = SIZE_BYTES * this.variableColumns;
    this.fixedBytes = columns.reduce((sum, { fixedBytes }) => sum + (fixedBytes ?? 0), 0);
  }

  /** Whether a sample's length alone says where its columns are: at most one of them is variable. */
  get isPlain(): boolean {
    return this.variableColumns <= 1;
  }

  /**
   * The columns of a sample, offsets relative to the first one's data.
   * @param sampleBytes of the whole sample, sizes included
   * @param head the sizes; not needed where the layout is plain
   * @returns null where the sizes do not add up to the sample
   */
  fields(sampleBytes: number, head: DataView | null): SampleField[] | null {
    const variableBytes = sampleBytes - this.headBytes - this.fixedBytes;
    if (variableBytes < 0) return null;
    let [at, nextSize] = [0, 0];
    const fields = this.columns.map(({ name, fixedBytes }) => {
      const length =
        fixedBytes ?? (head === null ? variableBytes : head.getUint32(SIZE_BYTES * nextSize++, true));
      const field = { name, offset: at, length };
      at += length;
      return field;
    });
    return at === sampleBytes - this.headBytes ? fields : null;
  }
}
