import { createHash } from 'node:crypto';
import { type ObjectBody, objectBody, type SyntheticBody } from './bodies.js';

export type ChecksumAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme' | 'sha1' | 'sha256';

export interface ObjectAttributes {
  /** With its quotes. Default: the MD5 of the bytes; for synthetic content a made-up one that ends in `-1`, so not an MD5. */
  etag?: string;
  /** As the header carries them: base64 (a composite one with its `-N`). Sent as given, right or wrong. */
  checksums?: Partial<Record<ChecksumAlgorithm, string>>;
  /** Default: FULL_OBJECT. */
  checksumType?: 'FULL_OBJECT' | 'COMPOSITE';
  /** Default: STANDARD. GLACIER and DEEP_ARCHIVE cannot be read unless restored. */
  storageClass?: string;
  /** A restore of an archived object, under way or done (then until `expiry`). */
  restore?: { ongoing: boolean; expiry?: Date };
  contentType?: string;
  lastModified?: Date;
}

export interface StoredObject {
  readonly key: string;
  readonly body: ObjectBody;
  readonly etag: string;
  readonly lastModified: Date;
  readonly attributes: ObjectAttributes;
}

export interface BucketOptions {
  /** Default: the store's. Another one answers 301 to requests signed for the store's region. */
  region?: string;
  /** Refuse requests without `x-amz-request-payer: requester`. */
  requesterPays?: boolean;
  /** Take requests without an Authorization header. */
  public?: boolean;
}

export interface ObjectInfo {
  key: string;
  sizeBytes: number;
  etag: string;
}

const ARCHIVED = new Set(['GLACIER', 'DEEP_ARCHIVE']);

/** True where GET must be refused with InvalidObjectState. */
export function isArchived(object: StoredObject): boolean {
  const { storageClass, restore } = object.attributes;
  return ARCHIVED.has(storageClass ?? 'STANDARD') && (restore === undefined || restore.ongoing);
}

function md5Hex(data: Uint8Array | string): string {
  return createHash('md5').update(data).digest('hex');
}

function defaultEtag(body: Uint8Array | SyntheticBody): string {
  if (body instanceof Uint8Array) return `"${md5Hex(body)}"`;
  return `"${md5Hex(`synthetic ${body.seed} ${body.sizeBytes}`)}-1"`;
}

function checkKey(key: string): void {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0 || bytes > 1024) throw new RangeError(`key: 1 to 1,024 bytes of UTF-8, not ${bytes}`);
  if (/\p{Surrogate}/u.test(key)) throw new RangeError('key: half a surrogate pair cannot be UTF-8');
}

const HIGH_UNIT = /[\ud800-\uffff]/;

/** Bytewise order of the UTF-8 text, which is the order of code points. */
function compareUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export class Bucket {
  private readonly objects = new Map<string, StoredObject>();
  private sorted: string[] | null = null;
  /** Some key has a code unit from U+D800 on: only then the order of UTF-16 units is not that of UTF-8. */
  private hasHighUnits = false;

  constructor(
    readonly name: string,
    readonly region: string,
    readonly options: BucketOptions,
  ) {}

  get(key: string): StoredObject | undefined {
    return this.objects.get(key);
  }

  put(key: string, body: Uint8Array | SyntheticBody, attributes: ObjectAttributes): StoredObject {
    checkKey(key);
    const object: StoredObject = {
      key,
      body: objectBody(body),
      etag: attributes.etag ?? defaultEtag(body),
      lastModified: attributes.lastModified ?? new Date(),
      attributes,
    };
    if (!this.objects.has(key)) this.sorted = null;
    if (HIGH_UNIT.test(key)) this.hasHighUnits = true;
    this.objects.set(key, object);
    return object;
  }

  delete(key: string): boolean {
    const had = this.objects.delete(key);
    if (had) this.sorted = null;
    return had;
  }

  /** All keys in bytewise order; made anew after the set of keys changed. */
  sortedKeys(): readonly string[] {
    if (!this.sorted) {
      this.sorted = [...this.objects.keys()];
      if (this.hasHighUnits) this.sorted.sort(compareUtf8);
      else this.sorted.sort();
    }
    return this.sorted;
  }

  /** Index of the first key that is not before `key`. */
  lowerBound(key: string): number {
    const keys = this.sortedKeys();
    const inUtf8 = this.hasHighUnits || HIGH_UNIT.test(key);
    const before = inUtf8 ? (a: string) => compareUtf8(a, key) < 0 : (a: string) => a < key;
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (before(keys[middle]!)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
