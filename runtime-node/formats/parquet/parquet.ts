import type { ListedObject } from '../../s3/listing.js';
import type { IndexPlan, RangeReader, SampleFormat } from '../format.js';
import { badIndex, countedKeys } from '../format-error.js';
import { versionsDigest } from '../pipeline/pieces.js';
import { type ParquetTable, readFooter } from './footer.js';
import { listPaths, otherColumns } from './list-columns.js';
import { ParquetFile } from './parquet-file.js';
import { rowListUnit } from './row-list.js';

/**
 * Parquet files as lists of samples, one a row. `key` is the whole key of an object in the same bucket (not relative to the list),
 * listed or not; `offset` and `length` are the sample's range in it. The others may be left out, and what then happens is said:
 * - without `offset` the sample begins at byte 0, without `length` it goes to the object's end;
 * - without `object_size`, size and ETag are those of the listing, or of one HEAD request for each object that is not in it;
 * - without `etag`, it is the listing's; of an object that is not listed and whose size is given, none.
 * Where both the list and the listing (or the HEAD) tell a size or an ETag, they must be the same.
 * `label`, `width`, `height` and `dtype` are taken over. Nested columns are not read.
 */
export const parquetFormat: SampleFormat = {
  name: 'parquet',
  claims: isParquet,
  accompanies: isMark,
  plan: planLists,
};

const FOOTERS_AT_A_TIME = 8;

function isParquet(key: string): boolean {
  return /\.(?:parquet|parq|pq)$/i.test(key);
}

/** What Spark and Dask leave beside the files that they write: `_SUCCESS`, `_metadata`. */
function isMark(key: string): boolean {
  return /(?:^|\/)(?:_SUCCESS|_metadata|_common_metadata)$/.test(key);
}

async function planLists(
  objects: readonly ListedObject[],
  prefix: string,
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<IndexPlan> {
  const lists = objects.filter(
    ({ key, sizeBytes }) => isParquet(key) && !(sizeBytes === 0 && key.endsWith('/')),
  );
  if (lists.length === 0) {
    throw badIndex(
      prefix === '' ? '(the whole bucket)' : prefix,
      'no Parquet files are below this prefix',
      'point to the list itself, or to the folder that holds it',
    );
  }
  const notes = new ListNotes();
  for (let i = 0; i < lists.length; i += FOOTERS_AT_A_TIME) {
    const some = lists.slice(i, i + FOOTERS_AT_A_TIME);
    await Promise.all(
      some.map(async (list) => {
        const file = new ParquetFile(list, reader, signal);
        const table = await readFooter(file);
        notes.take(list.key, table, new Set<string>(listPaths(file, table).keys()));
      }),
    );
  }
  const listed = new Map(objects.map((object): [string, ListedObject] => [object.key, object]));
  const plannedFrom = versionsDigest(objects);
  const units = lists.map((list) => ({ ...rowListUnit(list, listed), plannedFrom, listsOthers: true }));
  return { units, notes: notes.sentences() };
}

/** What follows from columns that lists do not have. */
const WITHOUT = {
  offset: 'samples begin at byte 0',
  length: 'samples go to the end of their objects',
  object_size:
    'sizes and ETags are those of the listing, and one HEAD request is sent for each object outside of it',
  etag: 'ETags are those of the listing; of objects outside of it whose size is given none is known, and a replaced one may go unnoticed',
};

class ListNotes {
  private readonly without = new Map<string, string[]>();
  private readonly empty: string[] = [];
  private readonly others = new Set<string>();

  take(key: string, table: ParquetTable, columns: ReadonlySet<string>): void {
    if (table.rows === 0) this.empty.push(key);
    for (const name of otherColumns(table)) this.others.add(name);
    for (const name of Object.keys(WITHOUT)) {
      if (!columns.has(name)) this.without.set(name, [...(this.without.get(name) ?? []), key]);
    }
  }

  sentences(): string[] {
    const notes = Object.entries(WITHOUT).flatMap(([name, effect]) => {
      const keys = this.without.get(name);
      return keys === undefined
        ? []
        : [`without the column ${name}: ${countedKeys(keys.sort(), 'list', 'lists')}; ${effect}`];
    });
    if (this.empty.length > 0) notes.push(`without rows: ${countedKeys(this.empty.sort(), 'list', 'lists')}`);
    const others = [...this.others].sort();
    if (others.length > 0) {
      notes.push(
        `columns that are not read: ${others.slice(0, 8).join(', ')}${others.length > 8 ? ', …' : ''}`,
      );
    }
    return notes;
  }
}
