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
  /** Told of each piece that is done. */
  onDone: () => void;
}

/**
 * Runs pieces of work side by side. The rows of a piece are taken when it is whole, so that one that fails or is ended leaves none.
 * The first failure ends the others; it is thrown when they have ended.
 */
export async function runUnits(pieces: readonly Piece[], run: UnitRun): Promise<void> {
  const failed = new AbortController();
  const signal = run.signal === undefined ? failed.signal : AbortSignal.any([run.signal, failed.signal]);
  let failure: { error: unknown } | null = null;
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let piece = pieces[next++]; piece !== undefined && !signal.aborted; piece = pieces[next++]) {
      try {
        await runUnit(piece, run, signal);
      } catch (error) {
        failure ??= { error };
        failed.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(run.concurrency, pieces.length) }, worker));
  if (run.signal?.aborted) throw new AbortedError(run.signal.reason);
  if (failure !== null) throw (failure as { error: unknown }).error;
}

async function runUnit({ id, unit }: Piece, run: UnitRun, signal: AbortSignal): Promise<void> {
  const encoder = new RowEncoder();
  const notes = new NoteBook();
  const parts: Buffer[] = [];
  for await (const rows of unit.rows(run.reader, signal, (what, key) => notes.add(what, key))) {
    if (signal.aborted) throw new AbortedError(signal.reason);
    parts.push(Buffer.concat(rows.map((row) => Buffer.from(encoder.encode(row)))));
  }
  if (id !== null) run.work?.add(id, notes.entries(), parts);
  for (const part of parts) addRecords(run.sorter, part);
  run.notes.merge(notes.entries());
  run.onDone();
}

/** Adds records that lie end to end. */
export function addRecords(sorter: RowSorter, records: Buffer): void {
  for (let at = 0; at < records.length; at += records.readUInt32LE(at)) sorter.addRecord(records, at);
}
