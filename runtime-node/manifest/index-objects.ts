import { AbortedError } from '../errors.js';
import { ColumnManifest } from './column-manifest.js';
import { ListingCheck, type ListingNotes, type ObjectLister } from './listing-check.js';
import { distinctObjects, objectRow } from './object-rows.js';
import { rowBatches } from './row-batches.js';
import { RowSorter } from './row-sorter.js';

export type { ListedObject } from '../s3/listing.js';
export type { ListingNotes, NotedKeys, ObjectLister } from './listing-check.js';
export { isFolderMarker } from './listing-check.js';

export interface ListManifestOptions {
  /** After each page: objects and pages so far. */
  onProgress?: (progress: { objects: number; pages: number }) => void;
  signal?: AbortSignal;
}

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
  const check = new ListingCheck(bucket, prefix);
  const sorter = new RowSorter(null);
  for await (const page of store.listObjects(bucket, prefix, signal)) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    for (const object of check.page(page)) sorter.add(objectRow(object));
    onProgress?.({ objects: check.objects, pages: check.notes.pages });
  }
  if (signal?.aborted) throw new AbortedError(signal.reason);
  if (sorter.rows === 0) throw check.nothingFound();
  const batches = [...rowBatches(distinctObjects(sorter.sorted(), check), ['label'])];
  return {
    manifest: new ColumnManifest(batches, { bucket, prefix, format: 'objects' }, null),
    notes: check.notes,
  };
}
