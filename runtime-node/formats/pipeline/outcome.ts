import type { ListingCheck } from '../../manifest/listing-check.js';
import type { RowSorter } from '../../manifest/row-sorter.js';
import type { OrderedRows } from '../../manifest/write-rows.js';
import type { FormatName, SampleRow } from '../format.js';
import type { IndexJob, PictureCounts } from './index-job.js';
import type { UpdateCounts } from './old-manifest.js';

/** Rows that are kept may have what listed ones do not. */
export function withOldColumns(job: IndexJob, optional: readonly OrderedRows['optional'][number][]) {
  return [...new Set([...optional, ...(job.old?.optional ?? [])])];
}

/** What every run hands on of its sorted rows: in the order of the manifest, compared with the old one, and counted. */
export function outcome(
  job: IndexJob,
  sorter: RowSorter,
  check: ListingCheck,
  format: FormatName,
  checked: (rows: Iterable<SampleRow>) => Iterable<SampleRow>,
) {
  const { old = null, imageSize = false } = job;
  const update: UpdateCounts | null =
    old === null ? null : { added: 0, removed: 0, changed: 0, unchanged: 0 };
  const pictures: PictureCounts | null = imageSize ? { sized: 0, without: 0 } : null;
  const sorted = (): Iterable<SampleRow> => {
    let rows = checked(sorter.sorted());
    // Rows of objects that were looked into are those of the old manifest already, with a size more.
    if (old !== null && update !== null)
      rows = old.compared(rows, update, format === 'objects' && !imageSize);
    return pictures === null ? rows : counted(rows, pictures);
  };
  return { format, listing: check.notes, rows: sorter.rows, update, pictures, sorted };
}

function* counted(rows: Iterable<SampleRow>, counts: PictureCounts): Generator<SampleRow> {
  for (const row of rows) {
    counts[row.width === null || row.height === null ? 'without' : 'sized']++;
    yield row;
  }
}

/** A manifest with sizes that is updated without them gets rows that have none. */
export function sizeNotes({ old, imageSize = false }: IndexJob, name: FormatName): string[] {
  if (imageSize || name === 'parquet' || old?.optional.includes('width') !== true) return [];
  return [
    'the old manifest has sizes of pictures: samples that are new or changed have none; add --image-size to read them',
  ];
}
