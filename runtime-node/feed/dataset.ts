import { AbortedError, ConfigError } from '../errors.js';
import { readManifest } from '../manifest/arrow-file.js';
import { listManifest } from '../manifest/index-objects.js';
import { noteLines } from '../manifest/listing-notes.js';
import type { Manifest } from '../manifest/manifest.js';
import { parseS3Url } from '../s3/location.js';
import { openStore, type S3Store } from '../s3/store.js';
import { option, words } from '../wording.js';
import type { FeedOptions } from './options.js';

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
      words`give ${option('bucket')}`,
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
  store.onRetry = (what) => options.logger?.warn({}, what);
  try {
    const { manifest, notes } = await listManifest(store, bucket, prefix, {
      signal: options.signal,
      onProgress: ({ objects }) => options.onListed?.(objects),
    });
    for (const line of noteLines(notes, prefix)) options.logger?.warn({}, line);
    return { manifest, bucket, store };
  } catch (error) {
    await store.close();
    throw error;
  }
}
