import type { TextColumn, TextValues } from './text-column.js';

/** Arrow's utf8 has offsets of 32 bits, signed. */
const MAX_BYTES = 2 ** 31 - 1;
const MAX_UTF8_PER_UNIT = 3;

/** Strings put end to end in one growing buffer: a million keys are one allocation, not a million strings. */
export class TextBuilder {
  private bytes: Buffer;
  private offsets: Uint32Array;
  private nulls: number[] | null = null;
  private used = 0;
  private count = 0;

  constructor(rows = 1024, sizeBytes = 64 * 1024) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(64, sizeBytes));
    this.offsets = new Uint32Array(Math.max(16, rows + 1));
  }

  get rows(): number {
    return this.count;
  }

  get sizeBytes(): number {
    return this.used;
  }

  add(text: string | null): void {
    if (text === null) {
      this.addNull();
      return;
    }
    this.reserve(text.length * MAX_UTF8_PER_UNIT);
    this.used += this.bytes.write(text, this.used, 'utf8');
    this.close();
  }

  addBytes(source: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    const to = this.used;
    const bytes = this.bytes;
    // A loop beats `set` here: keys are short, and `subarray` makes an object.
    for (let i = start; i < end; i++) bytes[to + i - start] = source[i] as number;
    this.used += end - start;
    this.close();
  }

  addNull(): void {
    this.nulls ??= [];
    this.nulls.push(this.count);
    this.close();
  }

  addFrom(column: TextColumn, row: number): void {
    if (column.isNull(row)) this.addNull();
    else this.addBytes(column.bytes, column.start(row), column.end(row));
  }

  /** The strings, as views on what was built; the builder is not used after. */
  finish(): TextValues {
    return {
      count: this.count,
      bytes: this.bytes.subarray(0, this.used),
      offsets: this.offsets.subarray(0, this.count + 1),
      stride: 1,
      validity: this.validity(),
    };
  }

  private validity(): Uint8Array | null {
    if (this.nulls === null) return null;
    const bitmap = new Uint8Array(Math.ceil(this.count / 8)).fill(0xff);
    for (const row of this.nulls) bitmap[row >> 3] = (bitmap[row >> 3] as number) & ~(1 << (row & 7));
    return bitmap;
  }

  private close(): void {
    this.count++;
    if (this.count === this.offsets.length) {
      const grown = new Uint32Array(this.offsets.length * 2);
      grown.set(this.offsets);
      this.offsets = grown;
    }
    this.offsets[this.count] = this.used;
  }

  private reserve(length: number): void {
    const wanted = this.used + length;
    if (wanted <= this.bytes.length) return;
    if (wanted > MAX_BYTES) throw new RangeError('a column holds more than 2 GiB of text');
    const grown = Buffer.allocUnsafeSlow(Math.min(MAX_BYTES, Math.max(wanted, this.bytes.length * 2)));
    this.bytes.copy(grown, 0, 0, this.used);
    this.bytes = grown;
  }
}
