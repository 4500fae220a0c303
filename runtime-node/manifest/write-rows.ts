import { AbortedError } from '../errors.js';
import type { SampleRow } from '../formats/format.js';
import { ManifestWriter } from './arrow-write.js';
import type { ManifestFacts } from './column-manifest.js';
import { ManifestDescriber, type ManifestDescription } from './describe.js';
import type { OptionalColumn } from './row-batch.js';
import { rowBatches } from './row-batches.js';
import { validateRows } from './validate.js';

/** Rows in the order of the manifest to be, and what must be known of them before the first is written. */
export interface OrderedRows {
  rows: number;
  /** The optional columns in which any row has a value. */
  optional: readonly OptionalColumn[];
  sorted(): Iterable<SampleRow>;
}

/**
 * Writes rows as a manifest, one batch in memory at a time. The file appears when it is whole.
 * @throws ConfigError `bad_output`, `bad_manifest` where a row cannot be; Os2gError `write_failed`; AbortedError
 */
export async function writeRows(
  path: string,
  facts: ManifestFacts,
  source: OrderedRows,
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (rows: number) => void } = {},
): Promise<ManifestDescription> {
  const writer = await ManifestWriter.open(path, facts, source.optional);
  try {
    const describer = new ManifestDescriber(source.rows);
    for (const batch of rowBatches(source.sorted(), source.optional)) {
      if (signal?.aborted) throw new AbortedError(signal.reason);
      validateRows([batch], null);
      describer.add(batch);
      await writer.write([batch], batch.firstRow, batch.firstRow + batch.rows);
      onProgress?.(batch.firstRow + batch.rows);
    }
    await writer.finish();
    return describer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}
