import type { ParquetFile } from './parquet-file.js';

/** Bytes of one request for pages: what is held of a column that is being read, where no page is larger. */
const WINDOW_BYTES = 4 * 2 ** 20;

/** The bytes of a column chunk from its start to its end, read in large ranges. */
export class ChunkBytes {
  private window: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  /** Of the window's first byte. */
  private windowAt: number;
  /** Byte of the file that comes next. */
  at: number;

  constructor(
    private readonly file: ParquetFile,
    offset: number,
    length: number,
  ) {
    this.at = offset;
    this.windowAt = offset;
    this.end = offset + length;
  }

  readonly end: number;

  /** At least so many of the next bytes, or all that are left; valid until the next call. */
  async peek(count: number): Promise<Uint8Array<ArrayBuffer>> {
    const wanted = Math.min(count, this.end - this.at);
    const have = this.windowAt + this.window.length;
    if (this.at + wanted > have) {
      const rest = this.window.subarray(this.at - this.windowAt);
      const more = Math.min(Math.max(this.at + wanted - have, WINDOW_BYTES), this.end - have);
      this.window = joined(rest, await this.file.read(have, more));
      this.windowAt = this.at;
    }
    return this.window.subarray(this.at - this.windowAt);
  }
}

function joined(a: Uint8Array, b: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (a.length === 0) return b;
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}
