import { AbortedError, StoreError } from '../errors.js';
import { ColumnManifest } from './column-manifest.js';
import { hasLoneSurrogate } from './columns.js';
import { compareKeys, ListingColumns, type SortedListing } from './listing-columns.js';
import { NumberColumn } from './number-column.js';
import { NO_OPTIONAL_COLUMNS } from './row-batch.js';
import { TextBuilder } from './text-builder.js';
import { TextColumn } from './text-column.js';

/** An object as a listing tells it. */
export interface ListedObject {
  key: string;
  sizeBytes: number;
  etag: string | null;
  storageClass: string | null;
}

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
  /** Objects in a storage class that must be restored before a read. Whether they are, no listing says. */
  archived: NotedKeys;
  /** Where the prefix does not end with a slash: keys that begin with it but are not below `prefix/`. */
  outsideFolder: NotedKeys;
}

export interface ListManifestOptions {
  /** After each page: objects and pages so far. */
  onProgress?: (progress: { objects: number; pages: number }) => void;
  signal?: AbortSignal;
}

/** What consoles and file system clients leave where a folder is to be seen: no sample. */
export function isFolderMarker({ key, sizeBytes }: Pick<ListedObject, 'key' | 'sizeBytes'>): boolean {
  return sizeBytes === 0 && key.endsWith('/');
}

const ARCHIVE_CLASSES = new Set(['GLACIER', 'DEEP_ARCHIVE']);
const EXAMPLES = 3;
const SLASH = 0x2f;

/**
 * Lists a prefix into a manifest, one row an object, in bytewise order of key, whatever the order of the listing. A
 * prefix is a plain string, as in S3: `train` matches `train/1` and `train2/1`; `notes.outsideFolder` counts the latter.
 * @throws StoreError `no_objects`, `bad_listing`; AbortedError
 */
export async function listManifest(
  store: ObjectLister,
  bucket: string,
  prefix: string,
  { onProgress, signal }: ListManifestOptions = {},
): Promise<{ manifest: ColumnManifest; notes: ListingNotes }> {
  const taker = new ListingTaker(bucket, prefix);
  for await (const page of store.listObjects(bucket, prefix, signal)) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    taker.takePage(page);
    onProgress?.({ objects: taker.objects, pages: taker.notes.pages });
  }
  if (signal?.aborted) throw new AbortedError(signal.reason);
  return { manifest: taker.finish(), notes: taker.notes };
}

class ListingTaker {
  readonly notes: ListingNotes = {
    pages: 0,
    markers: noted(),
    empty: noted(),
    archived: noted(),
    outsideFolder: noted(),
  };
  private readonly columns = new ListingColumns();

  constructor(
    private readonly bucket: string,
    private readonly prefix: string,
  ) {}

  get objects(): number {
    return this.columns.rows;
  }

  takePage(page: readonly ListedObject[]): void {
    this.notes.pages++;
    for (const object of page) this.take(object);
  }

  finish(): ColumnManifest {
    if (this.columns.rows === 0) throw this.nothingFound();
    const listing = this.columns.sorted();
    this.refuseDuplicates(listing);
    const sizes = new NumberColumn(listing.rows, listing.sizes, 'no', null);
    const batch = {
      firstRow: 0,
      rows: listing.rows,
      key: listing.key,
      offset: new NumberColumn(listing.rows, new Float64Array(listing.rows), 'no', null),
      length: sizes,
      etag: listing.etag,
      objectSize: sizes,
      ...NO_OPTIONAL_COLUMNS,
      label: labelsOf(listing.key),
    };
    return new ColumnManifest([batch], { bucket: this.bucket, prefix: this.prefix, format: 'objects' }, null);
  }

  private take({ key, sizeBytes, etag, storageClass }: ListedObject): void {
    const isClean = key !== '' && key.startsWith(this.prefix) && !hasLoneSurrogate(key);
    if (!isClean)
      throw this.badListing(key, `lists the key ${JSON.stringify(key)} under ${JSON.stringify(this.prefix)}`);
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
      throw this.badListing(key, `gives ${JSON.stringify(key)} the size ${sizeBytes}`);
    }
    if (isFolderMarker({ key, sizeBytes })) {
      note(this.notes.markers, key);
      return;
    }
    if (sizeBytes === 0) note(this.notes.empty, key);
    if (storageClass !== null && ARCHIVE_CLASSES.has(storageClass)) note(this.notes.archived, key);
    const isFolder = this.prefix === '' || this.prefix.endsWith('/');
    if (!isFolder && key[this.prefix.length] !== '/') note(this.notes.outsideFolder, key);
    this.columns.add(key, etag, sizeBytes);
  }

  private refuseDuplicates({ key, rows }: SortedListing): void {
    for (let row = 1; row < rows; row++) {
      if (compareKeys(key, row - 1, row) === 0) {
        throw this.badListing(key.text(row), `lists ${JSON.stringify(key.text(row))} twice`);
      }
    }
  }

  private badListing(key: string, what: string): StoreError {
    return new StoreError(
      'bad_listing',
      `the store ${what} in bucket ${this.bucket}`,
      'list again; if it stays, the store does not list as S3 does',
      { bucket: this.bucket, key },
    );
  }

  private nothingFound(): StoreError {
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
}

/** The last folder before the file's name; null where there is none. */
function labelsOf(key: TextColumn): TextColumn {
  const builder = new TextBuilder(key.rows);
  for (let row = 0; row < key.rows; row++) {
    const start = key.start(row);
    const nameSlash = lastSlash(key.bytes, start, key.end(row));
    const from = lastSlash(key.bytes, start, nameSlash) + 1;
    if (from < nameSlash) builder.addBytes(key.bytes, from, nameSlash);
    else builder.addNull();
  }
  return new TextColumn(key.rows, builder.finish(), null);
}

/** Where the last slash of bytes `[start, end)` is; the byte before `start` where there is none. */
function lastSlash(bytes: Uint8Array, start: number, end: number): number {
  let at = end - 1;
  while (at >= start && bytes[at] !== SLASH) at--;
  return Math.max(at, start - 1);
}

function noted(): NotedKeys {
  return { count: 0, examples: [] };
}

function note(notes: NotedKeys, key: string): void {
  notes.count++;
  if (notes.examples.length < EXAMPLES) notes.examples.push(key);
}
