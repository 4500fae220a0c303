import { AbortedError, ConfigError } from '../errors.js';
import { readManifest } from '../manifest/arrow-file.js';
import { type ListingNotes, listManifest } from '../manifest/index-objects.js';
import type { Manifest } from '../manifest/manifest.js';
import { parseS3Url } from '../s3/location.js';
import { openStore, type S3Store } from '../s3/store.js';
import type { FeedLogger, FeedOptions } from './options.js';

/** The rows to read, where their objects are, and the store's client where one was needed already. */
export interface Dataset {
  readonly manifest: Manifest;
  /** Null only where an engine was injected that needs none. */
  readonly bucket: string | null;
  readonly store: S3Store | null;
}

/** Reads the manifest, or lists the source. @throws ConfigError, StoreError, AbortedError */
export async function openDataset(options: FeedOptions): Promise<Dataset> {
  const { manifest, source, signal } = options;
  if (signal?.aborted) throw new AbortedError(signal.reason);
  if (source !== undefined) return listSource(source, options);
  const rows = typeof manifest === 'string' ? await readManifest(manifest) : (manifest as Manifest);
  const bucket = options.bucket ?? rows.bucket;
  if (bucket === null && !options.internal?.engine) {
    throw new ConfigError(
      'bad_option',
      'the manifest does not say in which bucket its objects are',
      'give --bucket',
      {
        option: 'bucket',
        file: typeof manifest === 'string' ? manifest : undefined,
      },
    );
  }
  return { manifest: rows, bucket, store: null };
}

async function listSource(source: string, options: FeedOptions): Promise<Dataset> {
  const { bucket, prefix } = parseS3Url(source);
  const store = await openStore(options.s3 ?? {});
  try {
    const { manifest, notes } = await listManifest(store, bucket, prefix, {
      signal: options.signal,
      onProgress: ({ objects }) => options.onListed?.(objects),
    });
    tellNotes(notes, options.logger);
    return { manifest, bucket, store };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function tellNotes(notes: ListingNotes, logger: FeedLogger | undefined): void {
  if (notes.markers.count > 0) logger?.info(notes.markers, 'folder markers are not samples: left out');
  if (notes.outsideFolder.count > 0)
    logger?.warn(notes.outsideFolder, 'the prefix has no slash at its end and matches other names too');
  if (notes.archived.count > 0)
    logger?.warn(notes.archived, 'archived objects: a read fails unless they are restored');
}
