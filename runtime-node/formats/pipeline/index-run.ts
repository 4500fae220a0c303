import { AbortedError, Os2gError } from '../../errors.js';
import { ListingCheck, type ListingNotes, type ObjectLister } from '../../manifest/listing-check.js';
import { distinctObjects, objectRow } from '../../manifest/object-rows.js';
import { RowSorter, SPILL_LIMITS, type SpillLimits } from '../../manifest/row-sorter.js';
import type { OrderedRows } from '../../manifest/write-rows.js';
import type { ListedObject } from '../../s3/listing.js';
import type { FormatChoice, FormatName, RangeReader, SampleFormat, SampleRow } from '../format.js';
import { sizedUnit } from '../jpeg/sized-unit.js';
import { FORMATS } from '../registry.js';
import { FormatFinder, formatByName } from './detect.js';
import { withoutDone, withoutUnchanged } from './kept-pieces.js';
import { NoteBook } from './notes.js';
import type { OldManifest, UpdateCounts } from './old-manifest.js';
import { namedPieces } from './pieces.js';
import { PLAIN_OBJECTS, refuseImageSize } from './plain-objects.js';
import { runUnits } from './units.js';
import { WorkFile, type WorkOf } from './work-file.js';

/** How far an index run has come. `pieces` are objects that are read. */
export type IndexProgress =
  | { phase: 'listing'; objects: number; pages: number }
  | { phase: 'reading'; pieces: number; piecesDone: number; samples: number };

export interface IndexJob {
  lister: ObjectLister;
  /** Asked for where objects must be read; the caller closes what it opened. */
  openReader: () => Promise<RangeReader>;
  bucket: string;
  prefix: string;
  format: FormatChoice;
  /** Most objects read at one time. */
  concurrency: number;
  /** The manifest to be: beside it lie rows that do not fit into memory, and the work file. Null: all is held in memory. */
  output: string | null;
  /** Width and height of pictures are read too, by a small request or more for each sample. */
  imageSize?: boolean;
  /** The manifest that is brought up to date; null: all is read anew. */
  old?: OldManifest | null;
  signal?: AbortSignal;
  onProgress?: (progress: IndexProgress) => void;
  /** Told of the format, and why it is that one, before anything is read. */
  onFormat?: (name: FormatName, why: string) => void;
  /** For tests. */
  limits?: SpillLimits;
  formats?: readonly SampleFormat[];
}

/** Samples by whether their picture's size is known. */
export interface PictureCounts {
  sized: number;
  without: number;
}

/** The rows of a prefix, in the order of the manifest to be. To be closed, also where writing them fails. */
export interface IndexedRows extends OrderedRows {
  format: FormatName;
  listing: ListingNotes;
  /** What the user should know, in sentences. */
  notes: string[];
  /** Objects that had to be read, and those that an earlier run, or the old manifest, had done. */
  pieces: { read: number; fromWorkFile: number; fromManifest: number };
  /** With `old`: filled in when `sorted` has come to its end. */
  update: UpdateCounts | null;
  /** With `imageSize`: samples with a size and without one, filled in when `sorted` has come to its end. */
  pictures: PictureCounts | null;
  /** What the manifest is to say of where its rows come from, beside their objects. */
  plannedFrom: string[];
  /** @param isDone the manifest is written: the work file is no longer needed */
  close(isDone: boolean): void;
}

/** What `--update` and the work file need to know of a file name. */
export const workFileOf = (output: string): string => `${output}.work`;

/**
 * Lists a prefix, finds out what its samples are, and reads what says where they lie.
 * @throws StoreError; Os2gError `mixed_formats`, `no_samples`, and what the format finds; AbortedError
 */
export async function indexRows(job: IndexJob): Promise<IndexedRows> {
  const sorter = new RowSorter(job.output, job.limits ?? SPILL_LIMITS);
  try {
    const { check, format, name } = await listed(job, sorter);
    if (job.imageSize === true) refuseImageSize(name);
    if (format === null && job.imageSize !== true) return objectRows(job, sorter, check);
    const objects: ListedObject[] = [];
    for (const row of distinctObjects(sorter.sorted(), check)) objects.push(listedObject(row));
    sorter.close();
    return await readRows(job, objects, check, format ?? PLAIN_OBJECTS, name);
  } catch (error) {
    sorter.close();
    throw error;
  }
}

async function listed(job: IndexJob, sorter: RowSorter) {
  const { lister, bucket, prefix, signal } = job;
  const formats = job.formats ?? FORMATS;
  const named =
    job.format === 'auto' ? null : { format: formatByName(job.format, formats), name: job.format };
  const check = new ListingCheck(bucket, prefix);
  const finder = new FormatFinder(formats);
  for await (const page of lister.listObjects(bucket, prefix, signal)) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    for (const object of check.page(page)) {
      sorter.add(objectRow(object));
      finder.add(object.key);
    }
    job.onProgress?.({ phase: 'listing', objects: check.objects, pages: check.notes.pages });
  }
  if (signal?.aborted) throw new AbortedError(signal.reason);
  if (sorter.rows === 0) throw check.nothingFound();
  if (named !== null) {
    job.onFormat?.(named.name, 'as asked for');
    return { check, ...named };
  }
  const found = finder.found();
  job.onFormat?.(found.name, found.why);
  return { check, name: found.name, format: formatByName(found.name, formats) };
}

function objectRows(job: IndexJob, sorter: RowSorter, check: ListingCheck): IndexedRows {
  return {
    ...result(job, sorter, check, 'objects', (rows) => distinctObjects(rows, check)),
    optional: withOldColumns(job, ['label', ...sorter.optional]),
    notes: sizeNotes(job, 'objects'),
    plannedFrom: [],
    pieces: { read: 0, fromWorkFile: 0, fromManifest: 0 },
    close: () => sorter.close(),
  };
}

/** Rows that are kept may have what listed ones do not. */
function withOldColumns(job: IndexJob, optional: readonly OrderedRows['optional'][number][]) {
  return [...new Set([...optional, ...(job.old?.optional ?? [])])];
}

async function readRows(
  job: IndexJob,
  objects: readonly ListedObject[],
  check: ListingCheck,
  format: SampleFormat,
  name: FormatName,
): Promise<IndexedRows> {
  const { prefix, signal, old = null, imageSize = false } = job;
  const sorter = new RowSorter(job.output, job.limits ?? SPILL_LIMITS);
  const notes = new NoteBook();
  let work: WorkFile | null = null;
  try {
    const reader = await job.openReader();
    const plan = await format.plan(objects, prefix, reader, signal);
    const units = imageSize ? plan.units.map(sizedUnit) : plan.units;
    work = job.output === null ? null : new WorkFile(workFileOf(job.output), workOf(job, name));
    const pieces = { read: 0, fromWorkFile: 0, fromManifest: 0 };
    const open = withoutDone(namedPieces(units), work, sorter, notes);
    pieces.fromWorkFile = units.length - open.length;
    const toRead = withoutUnchanged(open, units, old, sorter, imageSize);
    pieces.fromManifest = open.length - toRead.length;
    const tell = (): void =>
      job.onProgress?.({
        phase: 'reading',
        pieces: toRead.length,
        piecesDone: pieces.read,
        samples: sorter.rows,
      });
    tell();
    const onDone = (): void => {
      pieces.read++;
      tell();
    };
    await runUnits(toRead, { reader, sorter, notes, work, concurrency: job.concurrency, signal, onDone });
    if (sorter.rows === 0) throw noSamples(job, name, units.length);
    const opened = work;
    return {
      ...result(job, sorter, check, name, (rows) => rows),
      optional: name === 'objects' ? withOldColumns(job, ['label', ...sorter.optional]) : sorter.optional,
      notes: [...plan.notes, ...notes.lines(), ...sizeNotes(job, name)],
      plannedFrom: [...new Set(units.flatMap(({ plannedFrom }) => plannedFrom ?? []))],
      pieces,
      close: (isDone) => {
        sorter.close();
        opened?.close(isDone);
      },
    };
  } catch (error) {
    sorter.close();
    work?.close(false);
    throw error;
  }
}

function result(
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
function sizeNotes({ old, imageSize = false }: IndexJob, name: FormatName): string[] {
  if (imageSize || name === 'parquet' || old?.optional.includes('width') !== true) return [];
  return [
    'the old manifest has sizes of pictures: samples that are new or changed have none; add --image-size to read them',
  ];
}

function workOf({ bucket, prefix, old = null, imageSize = false }: IndexJob, format: FormatName): WorkOf {
  if (!imageSize) return { bucket, prefix, format };
  return { bucket, prefix, format, imageSize: old === null ? 'anew' : 'update' };
}

function noSamples({ bucket, prefix }: IndexJob, name: FormatName, pieces: number): Os2gError {
  return new Os2gError(
    'no_samples',
    `nothing under s3://${bucket}/${prefix} holds a sample of the format ${name}; ${pieces} objects were looked at`,
    'check the prefix, or name another format',
    { bucket },
  );
}

function listedObject({ key, objectSizeBytes, etag }: SampleRow): ListedObject {
  return { key, sizeBytes: objectSizeBytes, etag, storageClass: null, archived: false };
}
