import { setMaxListeners } from 'node:events';
import { AbortedError } from '../../errors.js';
import { RowEncoder } from '../../manifest/row-record.js';
import type { RowSorter } from '../../manifest/row-sorter.js';
import type { RangeReader } from '../format.js';
import { NoteBook } from './notes.js';
import type { Piece } from './pieces.js';
import type { WorkFile } from './work-file.js';

export interface UnitRun {
  reader: RangeReader;
  sorter: RowSorter;
  notes: NoteBook;
  work: WorkFile | null;
  /** Most pieces at one time. */
  concurrency: number;
  signal?: AbortSignal;
  /** Told of each piece that is done, with its rows. */
  onDone: (rows: number) => void;
}

/**
 * Runs pieces of work side by side, each asked for when there is room for it. The rows of a piece are taken when it is whole, so that one that fails or is ended leaves none.
 * The first failure ends the others; it is thrown when they have ended.
 */
export async function runUnits(pieces: Iterable<Piece>, run: UnitRun): Promise<void> {
  const failed = new AbortController();
  const signal = run.signal === undefined ? failed.signal : AbortSignal.any([run.signal, failed.signal]);
  // Each read listens while it lasts, so there are as many as --concurrency and the format ask for.
  setMaxListeners(0, signal);
  let failure: { error: unknown } | null = null;
  const source = pieces[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const step = source.next();
        if (step.done === true) return;
        await runUnit(step.value, run, signal);
      } catch (error) {
        failure ??= { error };
        failed.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: run.concurrency }, worker));
  if (run.signal?.aborted) throw new AbortedError(run.signal.reason);
  if (failure !== null) throw (failure as { error: unknown }).error;
}

async function runUnit({ id, unit }: Piece, run: UnitRun, signal: AbortSignal): Promise<void> {
  const encoder = new RowEncoder();
  const notes = new NoteBook();
  const parts: Buffer[] = [];
  let count = 0;
  for await (const rows of unit.rows(run.reader, signal, (what, key) => notes.add(what, key))) {
    if (signal.aborted) throw new AbortedError(signal.reason);
    count += rows.length;
    parts.push(Buffer.concat(rows.map((row) => Buffer.from(encoder.encode(row)))));
  }
  if (id !== null) run.work?.add(id, notes.entries(), parts);
  for (const part of parts) addRecords(run.sorter, part);
  run.notes.merge(notes.entries());
  run.onDone(count);
}

/** Adds records that lie end to end. */
export function addRecords(sorter: RowSorter, records: Buffer): void {
  for (let at = 0; at < records.length; at += records.readUInt32LE(at)) sorter.addRecord(records, at);
}
