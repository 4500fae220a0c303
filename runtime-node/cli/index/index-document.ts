import type { FormatName } from '../../formats/format.js';
import type { IndexedRows } from '../../formats/pipeline/index-run.js';
import type { ManifestDescription } from '../../manifest/describe.js';
import type { CommandResult } from '../command.js';
import { counted, formatCount, formatDecimalBytes, formatSeconds } from '../output/numbers.js';
import { facts } from '../output/table.js';

const SAMPLE_IS: Record<FormatName, string> = {
  objects: 'one object, one sample',
  tar: 'members of one name in a shard, one sample',
  mds: 'one row of a shard, one sample',
  parquet: 'one row of the list, one sample',
  npy: 'one tensor, one sample',
};

const LABELS_ARE: Partial<Record<FormatName, string>> = {
  objects: 'from the folder of each key',
  npy: 'from the folder of each key',
  parquet: 'from the column of the list',
};

/** How the run went, beside what it found. */
export interface IndexEffort {
  source: string;
  output: string;
  seconds: number;
  listRequests: number;
  /** Object reads, and the bytes that they brought. */
  requests: number;
  bytesRead: number;
}

/** What `os2g index` prints. */
export function indexResult(
  manifest: ManifestDescription,
  { format, listing, notes, pieces, update, pictures }: IndexedRows,
  effort: IndexEffort,
): CommandResult {
  const { fromWorkFile, fromManifest, read } = pieces;
  const document = {
    schema: 'os2g.index-result/1',
    source: effort.source,
    manifest: effort.output,
    format,
    samples: manifest.rows,
    objects: manifest.objects,
    bytes: manifest.totalLength,
    min_length: manifest.minLength,
    median_length: manifest.medianLength,
    max_length: manifest.maxLength,
    labels: manifest.labels,
    dataset_hash: manifest.datasetHash,
    list_requests: effort.listRequests,
    requests: effort.requests,
    bytes_read: effort.bytesRead,
    pieces: { read, from_work_file: fromWorkFile, from_manifest: fromManifest },
    ...(update === null ? {} : { update }),
    ...(pictures === null ? {} : { pictures }),
    wall_s: effort.seconds,
    notes: listing,
    format_notes: notes,
  };
  return { document, text: facts(rowsOf(manifest, { format, pieces, update, pictures }, effort)) };
}

function labelsText(labels: number, format: FormatName): string {
  const from = LABELS_ARE[format];
  if (labels === 0) return 'none';
  return from === undefined ? formatCount(labels) : `${formatCount(labels)}, ${from}`;
}

function rowsOf(
  manifest: ManifestDescription,
  { format, pieces, update, pictures }: Pick<IndexedRows, 'format' | 'pieces' | 'update' | 'pictures'>,
  effort: IndexEffort,
): [string, string][] {
  const { minLength, maxLength, medianLength, labels } = manifest;
  const rows: [string, string][] = [
    ['manifest', effort.output],
    ['format', `${format}: ${SAMPLE_IS[format]}`],
    ['samples', formatCount(manifest.rows)],
    ['bytes', formatDecimalBytes(manifest.totalLength)],
    [
      'lengths',
      `${formatCount(minLength)} to ${formatCount(maxLength)} bytes, median ${formatCount(medianLength)}`,
    ],
    ['labels', labelsText(labels, format)],
    ['data set', manifest.datasetHash],
  ];
  if (pictures !== null) {
    const { sized, without } = pictures;
    rows.push(['pictures', `${formatCount(sized)} with width and height, ${formatCount(without)} without`]);
  }
  if (format !== 'objects' || pictures !== null) {
    const { read, fromManifest, fromWorkFile } = pieces;
    const skipped = fromManifest + fromWorkFile;
    const requests = `${counted(effort.requests, 'request')}, ${formatDecimalBytes(effort.bytesRead)}`;
    rows.push([
      'read',
      `${counted(read, 'object')}${skipped > 0 ? `, ${formatCount(skipped)} skipped` : ''}: ${requests}`,
    ]);
  }
  if (update !== null) {
    const { added, removed, changed, unchanged } = update;
    rows.push([
      'changes',
      `objects: ${added} added, ${removed} removed, ${changed} changed, ${unchanged} unchanged`,
    ]);
  }
  rows.push(['time', `${formatSeconds(effort.seconds)}, ${counted(effort.listRequests, 'list request')}`]);
  return rows;
}
