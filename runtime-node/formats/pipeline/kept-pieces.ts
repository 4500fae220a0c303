import type { RowSorter } from '../../manifest/row-sorter.js';
import type { IndexUnit, SampleRow } from '../format.js';
import { sizedUnit } from '../jpeg/sized-unit.js';
import type { NoteBook } from './notes.js';
import type { OldManifest } from './old-manifest.js';
import type { Piece } from './pieces.js';
import { addRecords } from './units.js';
import type { WorkFile } from './work-file.js';

/** Takes the rows of pieces that an earlier run had done; what remains is to be done. */
export function withoutDone(
  pieces: readonly Piece[],
  work: WorkFile | null,
  sorter: RowSorter,
  notes: NoteBook,
): Piece[] {
  if (work === null) return [...pieces];
  const open = new Set(pieces.map(({ id }) => id));
  for (const done of work.pieces()) {
    if (!open.delete(done.id)) continue;
    addRecords(sorter, done.records);
    notes.merge(done.notes);
  }
  return pieces.filter(({ id }) => id === null || open.has(id));
}

/**
 * Takes the rows of objects that are as the old manifest knows them. With `imageSize` those that lack a size are looked into again: nothing
 * says whether they were before.
 */
export function withoutUnchanged(
  pieces: readonly Piece[],
  units: readonly IndexUnit[],
  old: OldManifest | null,
  sorter: RowSorter,
  imageSize: boolean,
): Piece[] {
  if (old === null) return [...pieces];
  const several = repeatedKeys(units);
  return pieces.flatMap((piece): Piece[] => {
    const { object } = piece.unit;
    // Of an object that several pieces share, the rows of one piece cannot be told from those of the others.
    const rows = several.has(object.key) ? null : unchangedRows(piece.unit, old);
    if (rows === null) return [piece];
    if (imageSize && rows.some(({ width, height }) => width === null || height === null))
      return [{ ...piece, unit: sizedUnit({ ...piece.unit, rows: () => inOneGo(rows) }) }];
    for (const row of rows) sorter.add(row);
    return [];
  });
}

function unchangedRows(
  { object, plannedFrom, listsOthers }: IndexUnit,
  old: OldManifest,
): SampleRow[] | null {
  if (listsOthers === true) return null;
  if (plannedFrom !== undefined && !old.isPlannedFrom(plannedFrom)) return null;
  const { key, etag, sizeBytes } = object;
  return old.rowsOf(key, { etag, objectSizeBytes: sizeBytes });
}

async function* inOneGo(rows: SampleRow[]): AsyncGenerator<SampleRow[]> {
  yield rows;
}

function repeatedKeys(units: readonly IndexUnit[]): Set<string> {
  const [seen, several] = [new Set<string>(), new Set<string>()];
  for (const { object } of units) (seen.has(object.key) ? several : seen).add(object.key);
  return several;
}
