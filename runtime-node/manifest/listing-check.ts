import { StoreError } from '../errors.js';
import type { ListedObject } from '../s3/listing.js';
import { hasLoneSurrogate } from './columns.js';

/** What indexing needs of a store: pages, in any order; errors and half listings end the generator by throwing. */
export interface ObjectLister {
  listObjects(bucket: string, prefix: string, signal?: AbortSignal): AsyncGenerator<ListedObject[]>;
}

/** A count with the first few keys, to be shown. */
export interface NotedKeys {
  count: number;
  /** The first three, as listed. */
  examples: string[];
}

/** What the listing's reader should know; the command prints it. */
export interface ListingNotes {
  pages: number;
  /** Zero-byte objects whose key ends with a slash: folder markers, not samples. */
  markers: NotedKeys;
  /** Other objects of zero bytes: samples, and empty ones. */
  empty: NotedKeys;
  /** Objects in an archive storage class of which the listing does not say that they are restored. */
  archived: NotedKeys;
  /** Where the prefix does not end with a slash: keys that begin with it but are not below `prefix/`. */
  outsideFolder: NotedKeys;
}

/** What consoles and file system clients leave where a folder is to be seen: no sample. */
export function isFolderMarker({ key, sizeBytes }: Pick<ListedObject, 'key' | 'sizeBytes'>): boolean {
  return sizeBytes === 0 && key.endsWith('/');
}

const EXAMPLES = 3;

/** Looks through a listing as it comes: refuses what no store may list, leaves folder markers out, and notes what is odd. */
export class ListingCheck {
  readonly notes: ListingNotes = {
    pages: 0,
    markers: noted(),
    empty: noted(),
    archived: noted(),
    outsideFolder: noted(),
  };
  /** Objects kept. */
  objects = 0;
  /** Whether the one object so far is the very key that was asked for, and so no stray. */
  private isWholeKey = false;

  constructor(
    private readonly bucket: string,
    private readonly prefix: string,
  ) {}

  /** The objects of a page that are to be kept. @throws StoreError `bad_listing` */
  *page(page: readonly ListedObject[]): Generator<ListedObject> {
    this.notes.pages++;
    for (const object of page) {
      if (!this.keeps(object)) continue;
      this.objects++;
      yield object;
    }
  }

  badListing(key: string, what: string): StoreError {
    return new StoreError(
      'bad_listing',
      `the store ${what} in bucket ${this.bucket}`,
      'list again; if it stays, the store does not list as S3 does',
      { bucket: this.bucket, key },
    );
  }

  nothingFound(): StoreError {
    const { bucket, prefix, notes } = this;
    const where =
      prefix === '' ? `bucket ${bucket}` : `bucket ${bucket} under the prefix ${JSON.stringify(prefix)}`;
    const markers =
      notes.markers.count === 0
        ? ''
        : ` but ${notes.markers.count} folder marker${notes.markers.count === 1 ? '' : 's'}`;
    return new StoreError(
      'no_objects',
      `there are no objects in ${where}${markers}`,
      'check the spelling of bucket and prefix (a prefix is a plain beginning of keys, case counts), the endpoint, and that these credentials may list it',
      { bucket },
    );
  }

  private keeps({ key, sizeBytes, archived }: ListedObject): boolean {
    const isClean = key !== '' && key.startsWith(this.prefix) && !hasLoneSurrogate(key);
    if (!isClean)
      throw this.badListing(key, `lists the key ${JSON.stringify(key)} under ${JSON.stringify(this.prefix)}`);
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
      throw this.badListing(key, `gives ${JSON.stringify(key)} the size ${sizeBytes}`);
    }
    if (isFolderMarker({ key, sizeBytes })) {
      note(this.notes.markers, key);
      return false;
    }
    if (sizeBytes === 0) note(this.notes.empty, key);
    if (archived) note(this.notes.archived, key);
    this.noteOutside(key);
    return true;
  }

  private noteOutside(key: string): void {
    const { prefix } = this;
    if (prefix === '' || prefix.endsWith('/')) return;
    if (this.isWholeKey) note(this.notes.outsideFolder, prefix);
    this.isWholeKey = key === prefix && this.objects === 0;
    if (!this.isWholeKey && key[prefix.length] !== '/') note(this.notes.outsideFolder, key);
  }
}

function noted(): NotedKeys {
  return { count: 0, examples: [] };
}

function note(notes: NotedKeys, key: string): void {
  notes.count++;
  if (notes.examples.length < EXAMPLES) notes.examples.push(key);
}
