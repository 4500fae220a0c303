import type { SyntheticBody } from './bodies.js';
import { Bucket, type BucketOptions, type ObjectAttributes, type ObjectInfo } from './objects.js';

/** All buckets of a store, and what tests and the demo do with them without HTTP. */
export class Buckets {
  private readonly byName = new Map<string, Bucket>();

  constructor(private readonly homeRegion: string) {}

  find(name: string | null): Bucket | undefined {
    return name === null ? undefined : this.byName.get(name);
  }

  /** Makes a bucket; one of that name stays as it is. @throws RangeError for a name that S3 refuses. */
  create(name: string, options: BucketOptions = {}): void {
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name)) {
      throw new RangeError(`bucket: ${JSON.stringify(name)} cannot be a bucket's name`);
    }
    if (this.byName.has(name)) return;
    this.byName.set(name, new Bucket(name, options.region ?? this.homeRegion, options));
  }

  put(name: string, key: string, body: Uint8Array | SyntheticBody, attributes: ObjectAttributes): ObjectInfo {
    const object = this.require(name).put(key, body, attributes);
    return { key, sizeBytes: object.body.sizeBytes, etag: object.etag };
  }

  delete(name: string, key: string): boolean {
    return this.require(name).delete(key);
  }

  bytes(name: string, key: string, offset: number, length: number | undefined): Uint8Array {
    const object = this.require(name).get(key);
    if (!object) throw new RangeError(`no object ${JSON.stringify(key)} in ${name}`);
    const { sizeBytes } = object.body;
    const until = length === undefined ? sizeBytes : offset + length;
    if (!(offset >= 0 && until >= offset && until <= sizeBytes)) {
      throw new RangeError(`bytes ${offset} to ${until} are not all in ${JSON.stringify(key)}`);
    }
    return object.body.read(offset, until - offset);
  }

  private require(name: string): Bucket {
    const bucket = this.byName.get(name);
    if (!bucket) throw new RangeError(`no bucket ${JSON.stringify(name)}`);
    return bucket;
  }
}
