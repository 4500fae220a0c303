import { AbortedError, Os2gError } from '../../errors.js';
import { ListingCheck } from '../../manifest/listing-check.js';
import { distinctObjects, listedObject, objectRow } from '../../manifest/object-rows.js';
import { RowSorter, SPILL_LIMITS } from '../../manifest/row-sorter.js';
import type { ListedObject } from '../../s3/listing.js';
import type { FormatName, SampleFormat } from '../format.js';
import { sizedUnit } from '../jpeg/sized-unit.js';
import { FORMATS } from '../registry.js';
import { FormatFinder, formatByName } from './detect.js';
import { type IndexedRows, type IndexJob, openWork } from './index-job.js';
import { withoutDone, withoutUnchanged } from './kept-pieces.js';
import { NoteBook } from './notes.js';
import { ofOneVersion } from './one-version.js';
import { outcome, sizeNotes, withOldColumns } from './outcome.js';
import { namedPieces } from './pieces.js';
import { readSizes, refuseImageSize } from './sized-objects.js';
import { runUnits } from './units.js';
import type { WorkFile } from './work-file.js';

export { type IndexedRows, type IndexJob, type IndexProgress, workFileOf } from './index-job.js';

/**
 * Lists a prefix, finds out what its samples are, and reads what says where they lie.
 * @throws StoreError; Os2gError `mixed_formats`, `no_samples`, and what the format finds; AbortedError
 */
export async function indexRows(job: IndexJob): Promise<IndexedRows> {
  const sorter = new RowSorter(job.output, job.limits ?? SPILL_LIMITS);
  try {
    const { check, format, name } = await listed(job, sorter);
    if (job.imageSize === true) refuseImageSize(name);
    if (format === null) {
      return await (job.imageSize === true ? readSizes(job, sorter, check) : objectRows(job, sorter, check));
    }
    const objects: ListedObject[] = [];
    for (const row of distinctObjects(sorter.sorted(), check)) objects.push(listedObject(row));
    sorter.close();
    return await readRows(job, objects, check, format, name);
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
    ...outcome(job, sorter, check, 'objects', (rows) => distinctObjects(rows, check)),
    optional: withOldColumns(job, ['label', ...sorter.optional]),
    notes: sizeNotes(job, 'objects'),
    plannedFrom: [],
    pieces: { read: 0, fromWorkFile: 0, fromManifest: 0 },
    close: () => sorter.close(),
  };
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
    work = openWork(job, name);
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
      ...outcome(job, sorter, check, name, ofOneVersion),
      optional: sorter.optional,
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

function noSamples({ bucket, prefix }: IndexJob, name: FormatName, pieces: number): Os2gError {
  return new Os2gError(
    'no_samples',
    `nothing under s3://${bucket}/${prefix} holds a sample of the format ${name}; ${pieces} objects were looked at`,
    'check the prefix, or name another format',
    { bucket },
  );
}
