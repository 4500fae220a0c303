import type { ListedObject } from '../../s3/listing.js';
import type { RangeReader } from '../format.js';
import { badShard } from '../format-error.js';

export const MEND_FILE = 'write the Parquet file again, or upload it again from where it is whole';

/** A Parquet file in a bucket, read by range. */
export class ParquetFile {
  constructor(
    readonly object: ListedObject,
    private readonly reader: RangeReader,
    private readonly signal?: AbortSignal,
  ) {}

  /** Exactly these bytes, in memory of their own. @throws StoreError, Os2gError `bad_shard` */
  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.reader.read(this.object, offset, length, this.signal);
    if (bytes.length === length) return new Uint8Array(bytes);
    throw this.damaged(offset, `${length} bytes were asked for, and ${bytes.length} came`);
  }

  damaged(byte: number, what: string, cause?: unknown): Error {
    return badShard(this.object, byte, what, MEND_FILE, cause);
  }
}
