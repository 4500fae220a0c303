import type { ListedObject } from '../../s3/listing.js';
import type { RangeReader } from '../format.js';

/** What is at least skipped: to ask again costs more than to read less than this along. */
const SKIP_BYTES = 64 * 1024;
/** Behind a body that was skipped: a header with its extended ones, and the small members that often follow. */
const SPARSE_BYTES = 8 * 1024;
const FIRST_BYTES = 16 * 1024;
const MOST_BYTES = 1024 * 1024;

/**
 * Reads an object from front to back where only some of it is wanted. As long as what is wanted stands close together, each read is
 * twice as long as the one before, up to 1 MiB; a gap of 64 KiB and more is never read, and reads are short behind it.
 */
export class ReadWindow {
  private bytes: Uint8Array = new Uint8Array(0);
  private start = 0;
  private readBytes = FIRST_BYTES / 2;

  constructor(
    private readonly object: ListedObject,
    private readonly reader: RangeReader,
    private readonly signal?: AbortSignal,
  ) {}

  /** Bytes `[position, position + length)`, cut at the object's end; a view that holds until the next call. */
  async at(position: number, length: number): Promise<Uint8Array> {
    const wanted = Math.min(length, Math.max(0, this.object.sizeBytes - position));
    const from = position - this.start;
    const end = this.start + this.bytes.length;
    if (from < 0 || position + wanted > end) {
      const isSparse = position - end >= SKIP_BYTES;
      this.readBytes = isSparse ? SPARSE_BYTES : Math.min(MOST_BYTES, this.readBytes * 2);
      const ahead = Math.min(Math.max(wanted, this.readBytes), this.object.sizeBytes - position);
      this.bytes = ahead > 0 ? await this.reader.read(this.object, position, ahead, this.signal) : NOTHING;
      this.start = position;
    }
    return this.bytes.subarray(position - this.start, position - this.start + wanted);
  }
}

const NOTHING = new Uint8Array(0);
