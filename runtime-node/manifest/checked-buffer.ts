import { ByteBuffer, type Encoding } from 'flatbuffers';

const READS_PER_BYTE = 64;
const READS_AT_LEAST = 65_536;

/**
 * A flatbuffer whose reads end: the generated Arrow classes trust what they read, so that one flipped bit could ask for
 * a vector of 2^31 tables, or let tables hold themselves. Here each read must lie inside, no vector is longer than the
 * buffer, and the number of reads is bounded by the buffer's size.
 */
export class CheckedBuffer extends ByteBuffer {
  private readsLeft: number;

  constructor(bytes: Uint8Array) {
    super(bytes);
    this.readsLeft = READS_AT_LEAST + READS_PER_BYTE * bytes.length;
  }

  private need(offset: number, length: number): void {
    if (!(offset >= 0) || !(length >= 0) || offset + length > this.capacity()) {
      throw new RangeError(
        `its metadata points outside itself (${length} bytes at ${offset} of ${this.capacity()})`,
      );
    }
    this.readsLeft--;
    if (this.readsLeft < 0) throw new RangeError('its metadata refers to itself');
  }

  override readUint8(offset: number): number {
    this.need(offset, 1);
    return super.readUint8(offset);
  }

  override readUint16(offset: number): number {
    this.need(offset, 2);
    return super.readUint16(offset);
  }

  override readInt32(offset: number): number {
    this.need(offset, 4);
    return super.readInt32(offset);
  }

  override __string(offset: number, encoding?: Encoding): string | Uint8Array {
    const start = offset + this.readInt32(offset);
    this.need(start + 4, this.readInt32(start));
    return super.__string(offset, encoding);
  }

  override __vector_len(offset: number): number {
    const length = super.__vector_len(offset);
    this.need(0, length);
    return length;
  }
}
