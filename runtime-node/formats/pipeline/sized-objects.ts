import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConfigError } from '../../errors.js';
import type { ListingCheck } from '../../manifest/listing-check.js';
import { distinctObjects, listedObject } from '../../manifest/object-rows.js';
import { RowSorter, SPILL_LIMITS } from '../../manifest/row-sorter.js';
import type { FormatName, SampleRow } from '../format.js';
import { NO_PICTURE, sizedUnit } from '../jpeg/sized-unit.js';
import { type IndexedRows, type IndexJob, openWork } from './index-job.js';
import { NoteBook } from './notes.js';
import { compareKeys } from './old-manifest.js';
import { outcome, withOldColumns } from './outcome.js';
import type { Piece } from './pieces.js';
import { addRecords, runUnits } from './units.js';
import type { WorkFile } from './work-file.js';

/** Objects of one piece of work, and most that are taken over before others get their turn. */
const OBJECTS_AT_A_TIME = 64;
const TAKEN_AT_A_TIME = 4096;

/** @throws ConfigError `bad_option` where samples of the format are no pictures */
export function refuseImageSize(name: FormatName): void {
  if (name !== 'npy') return;
  throw new ConfigError(
    'bad_option',
    '--image-size: samples of the format npy are tensors, and have a shape instead',
    'leave --image-size out: dtype and shape are in the manifest',
    { option: 'image-size' },
  );
}

/**
 * Plain objects with the sizes of their pictures. What an earlier run had read is found by walking through its rows and the listing side by
 * side, so that neither the listing nor the pieces are in memory: three sorters are, within their limits.
 * @param listed the rows of the listing; closed by the caller where this fails, else at `close` or before
 */
export async function readSizes(job: IndexJob, listed: RowSorter, check: ListingCheck): Promise<IndexedRows> {
  const { signal, concurrency } = job;
  const [sorter, earlier] = [sorterOf(job), sorterOf(job)];
  const notes = new NoteBook();
  let work: WorkFile | null = null;
  try {
    const reader = await job.openReader();
    work = openWork(job, 'objects');
    for (const { records } of work?.pieces() ?? []) addRecords(earlier, records);
    const pieces = { read: 0, fromWorkFile: 0, fromManifest: 0 };
    const tell = (): void => {
      const piecesDone = pieces.read + pieces.fromWorkFile + pieces.fromManifest;
      job.onProgress?.({ phase: 'reading', pieces: listed.rows, piecesDone, samples: sorter.rows });
    };
    tell();
    const take = (row: SampleRow, from: 'fromWorkFile' | 'fromManifest'): void => {
      pieces[from]++;
      sorter.add(row);
      if (row.width === null || row.height === null) notes.add(NO_PICTURE, row.key);
    };
    const rows = distinctObjects(listed.sorted(), check);
    const open = openRows(rows, new DoneRows(earlier.sorted()), job, take);
    const onDone = (count: number): void => {
      pieces.read += count;
      tell();
    };
    await runUnits(piecesOf(open), { reader, sorter, notes, work, concurrency, signal, onDone });
    earlier.close();
    listed.close();
    const opened = work;
    return {
      ...outcome(job, sorter, check, 'objects', (sorted) => sorted),
      optional: withOldColumns(job, ['label', ...sorter.optional]),
      notes: notes.lines(),
      plannedFrom: [],
      pieces,
      close: (isDone) => {
        sorter.close();
        opened?.close(isDone);
      },
    };
  } catch (error) {
    sorter.close();
    earlier.close();
    work?.close(false);
    throw error;
  }
}

/** Half of what a run has in memory of the listing, for each of the two beside it. */
function sorterOf({ output, limits = SPILL_LIMITS }: IndexJob): RowSorter {
  const half = (limit: number): number => Math.ceil(limit / 2);
  return new RowSorter(output, { rows: half(limits.rows), bytes: half(limits.bytes) });
}

/** The rows to be read; the others are taken. Null where others should get their turn. */
function* openRows(
  rows: Iterable<SampleRow>,
  done: DoneRows,
  { old = null }: IndexJob,
  take: (row: SampleRow, from: 'fromWorkFile' | 'fromManifest') => void,
): Generator<SampleRow | null> {
  let taken = 0;
  for (const row of rows) {
    const read = done.find(row);
    const known = old?.rowsOf(row.key, row) ?? [];
    const whole = known.length === 1 && known[0]?.length === row.objectSizeBytes ? known[0] : row;
    if (read !== null) take(read, 'fromWorkFile');
    else if (whole.width !== null && whole.height !== null) take(whole, 'fromManifest');
    else yield whole;
    if (++taken % TAKEN_AT_A_TIME === 0) yield null;
  }
}

function* piecesOf(open: Iterable<SampleRow | null>): Generator<Piece> {
  let rows: SampleRow[] = [];
  for (const row of open) {
    if (row !== null) rows.push(row);
    if (row !== null && rows.length < OBJECTS_AT_A_TIME) continue;
    yield pieceOf(rows);
    rows = [];
  }
  yield pieceOf(rows);
}

const NO_OBJECT = listedObject({ key: '', objectSizeBytes: 0, etag: null });

/** Its rows tell by themselves of which versions they are; the piece needs no name of its own. */
function pieceOf(some: SampleRow[]): Piece {
  const [first] = some;
  const unit = sizedUnit({
    object: first === undefined ? NO_OBJECT : listedObject(first),
    async *rows() {
      await nextTurn();
      yield some;
    },
  });
  return { id: first === undefined ? null : '', unit };
}

/** Rows of an earlier run in their order, asked for in the same order. */
class DoneRows {
  private next: SampleRow | null;

  constructor(private readonly rows: Generator<SampleRow>) {
    this.next = this.advance();
  }

  /** The row of this version of an object, if it was read. */
  find({ key, etag, objectSizeBytes }: SampleRow): SampleRow | null {
    let found: SampleRow | null = null;
    while (this.next !== null && compareKeys(this.next.key, key) <= 0) {
      const isSame = this.next.etag === etag && this.next.objectSizeBytes === objectSizeBytes;
      // Without an ETag nothing says that it is the same.
      if (this.next.key === key && isSame && etag !== null) found = this.next;
      this.next = this.advance();
    }
    return found;
  }

  private advance(): SampleRow | null {
    const step = this.rows.next();
    return step.done === true ? null : step.value;
  }
}
