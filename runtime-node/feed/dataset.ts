import { AbortedError, ConfigError } from '../errors.js';
import { indexInMemory } from '../formats/pipeline/in-memory.js';
import { readManifest } from '../manifest/arrow-file.js';
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
    const { logger, signal } = options;
    const { manifest, listing, notes } = await indexInMemory(store, {
      ...{ bucket, prefix, format: options.format ?? 'auto', signal },
      onNotice: (notice) => logger?.warn({}, notice),
      onProgress: (progress) => {
        if (progress.phase === 'listing') options.onListed?.(progress.objects);
      },
      onFormat: (name, why) => {
        if (name !== 'objects') logger?.info({ format: name }, `samples are of the format ${name}: ${why}`);
      },
    });
    for (const line of [...noteLines(listing, prefix), ...notes]) logger?.warn({}, line);
    return { manifest, bucket, store };
  } catch (error) {
    await store.close();
    throw error;
  }
}
