import type { ListingNotes, ObjectLister } from '../../manifest/listing-check.js';
import type { SpillLimits } from '../../manifest/row-sorter.js';
import type { OrderedRows } from '../../manifest/write-rows.js';
import type { FormatChoice, FormatName, RangeReader, SampleFormat } from '../format.js';
import type { OldManifest, UpdateCounts } from './old-manifest.js';
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

/** Where the pieces that are done are kept until the manifest is whole. */
export const workFileOf = (output: string): string => `${output}.work`;

/** Opens the work file of a run; null where all is held in memory. @throws Os2gError `write_failed` */
export function openWork(job: IndexJob, format: FormatName): WorkFile | null {
  const { bucket, prefix, output, old = null, imageSize = false } = job;
  const of: WorkOf = { bucket, prefix, format };
  if (imageSize) of.imageSize = old === null ? 'anew' : 'update';
  return output === null ? null : new WorkFile(workFileOf(output), of);
}
