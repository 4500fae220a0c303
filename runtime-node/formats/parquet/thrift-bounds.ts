/** Types of Thrift's compact protocol that Parquet's metadata use: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md */
const TYPES = {
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  struct: 12,
};
const DEEPEST = 24;
const LONGEST_VARINT_BYTES = 10;

/**
 * Goes over a structure without keeping anything of it, so that what a parser would make of it is no larger than its bytes: counts
 * and lengths fit in what is there, numbers have an end, nesting has a limit. A parser that trusts counts can be given it then.
 *
 * @returns where in `bytes` the structure ends; null where it goes on beyond them
 * @throws RangeError where no more bytes could make it whole
 */
export function structEnd(bytes: Uint8Array, from: number): number | null {
  const walk = new Walk(bytes, from);
  try {
    walk.struct(0);
    return walk.at;
  } catch (error) {
    if (error === BEYOND) return null;
    throw error;
  }
}

const BEYOND = new Error('beyond the bytes');

class Walk {
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
  ) {}

  struct(depth: number): void {
    if (depth > DEEPEST) throw new RangeError('nested too deeply');
    for (;;) {
      const head = this.byte();
      const type = head & 0x0f;
      if (type === 0) return;
      if (head >> 4 === 0) this.varint();
      this.value(type, depth);
    }
  }

  private value(type: number, depth: number): void {
    switch (type) {
      case TYPES.true:
      case TYPES.false:
        return;
      case TYPES.byte:
        return this.skip(1);
      case TYPES.i16:
      case TYPES.i32:
      case TYPES.i64:
        return void this.varint();
      case TYPES.double:
        return this.skip(8);
      case TYPES.binary:
        return this.skip(this.varint());
      case TYPES.list:
        return this.list(depth);
      case TYPES.struct:
        return this.struct(depth + 1);
      default:
        throw new RangeError(`unknown type ${type}`);
    }
  }

  private list(depth: number): void {
    const head = this.byte();
    const count = head >> 4 === 15 ? this.varint() : head >> 4;
    const type = head & 0x0f;
    // Each element takes a byte or more.
    if (count > this.bytes.length - this.at) throw BEYOND;
    for (let i = 0; i < count; i++) {
      // In a list, a boolean takes a byte.
      this.value(type === TYPES.true || type === TYPES.false ? TYPES.byte : type, depth + 1);
    }
  }

  private varint(): number {
    let [value, scale] = [0, 1];
    for (let i = 0; i < LONGEST_VARINT_BYTES; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new RangeError('a number without an end');
  }

  private byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw BEYOND;
    return byte;
  }

  private skip(count: number): void {
    this.at += count;
    if (this.at > this.bytes.length) throw BEYOND;
  }
}
