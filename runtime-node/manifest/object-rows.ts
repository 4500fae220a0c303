import type { SampleRow } from '../formats/format.js';
import type { ListedObject } from '../s3/listing.js';
import type { ListingCheck } from './listing-check.js';

/** The row of an object that is a sample as a whole. */
export function objectRow({ key, sizeBytes, etag }: ListedObject): SampleRow {
  return {
    key,
    offset: 0,
    length: sizeBytes,
    etag,
    objectSizeBytes: sizeBytes,
    label: folderLabel(key),
    fields: null,
    width: null,
    height: null,
    dtype: null,
    shape: null,
  };
}

/** The object of such a row. */
export function listedObject({
  key,
  objectSizeBytes,
  etag,
}: Pick<SampleRow, 'key' | 'objectSizeBytes' | 'etag'>): ListedObject {
  return { key, sizeBytes: objectSizeBytes, etag, storageClass: null, archived: false };
}

/** The last folder before the file's name; null where there is none. */
export function folderLabel(key: string): string | null {
  const nameSlash = key.lastIndexOf('/');
  if (nameSlash < 0) return null;
  const from = nameSlash === 0 ? 0 : key.lastIndexOf('/', nameSlash - 1) + 1;
  return from < nameSlash ? key.slice(from, nameSlash) : null;
}

/** Passes sorted rows of objects on. @throws StoreError `bad_listing` where a key comes twice */
export function* distinctObjects(rows: Iterable<SampleRow>, check: ListingCheck): Generator<SampleRow> {
  let before: string | null = null;
  for (const row of rows) {
    if (row.key === before) throw check.badListing(row.key, `lists ${JSON.stringify(row.key)} twice`);
    before = row.key;
    yield row;
  }
}
