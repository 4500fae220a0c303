import { ColumnManifest } from '../../manifest/column-manifest.js';
import { rowBatches } from '../../manifest/row-batches.js';
import type { S3Store } from '../../s3/store.js';
import { type IndexedRows, type IndexJob, indexRows } from './index-run.js';
import { type EngineRangeReader, openRangeReader } from './range-reader.js';

/** Objects that are read at one time. */
const CONCURRENCY = 16;

export type InMemoryJob = Pick<
  IndexJob,
  'bucket' | 'prefix' | 'format' | 'signal' | 'onProgress' | 'onFormat'
> & {
  onNotice?: (notice: string) => void;
};

/** Indexes a prefix into a manifest in memory, as `os2g index` does into a file. @throws as `indexRows` does */
export async function indexInMemory(
  store: S3Store,
  job: InMemoryJob,
): Promise<{ manifest: ColumnManifest } & Pick<IndexedRows, 'listing' | 'notes'>> {
  const { bucket, prefix, onNotice } = job;
  let reader: EngineRangeReader | null = null;
  const openReader = async (): Promise<EngineRangeReader> => {
    reader = await openRangeReader(store, bucket, { concurrency: CONCURRENCY, onNotice });
    return reader;
  };
  let rows: IndexedRows | null = null;
  try {
    rows = await indexRows({
      ...{ ...job, lister: store, openReader },
      ...{ concurrency: CONCURRENCY, output: null },
    });
    const batches = [...rowBatches(rows.sorted(), rows.optional)];
    const { format, plannedFrom } = rows;
    const facts = { bucket, prefix, format, plannedFrom };
    return { manifest: new ColumnManifest(batches, facts, null), listing: rows.listing, notes: rows.notes };
  } finally {
    rows?.close(true);
    await (reader as EngineRangeReader | null)?.close();
  }
}
