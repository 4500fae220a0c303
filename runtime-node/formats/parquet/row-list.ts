import { StoreError } from '../../errors.js';
import type { ListedObject } from '../../s3/listing.js';
import { words } from '../../wording.js';
import type { IndexUnit, RangeReader, SampleRow } from '../format.js';
import { readFooter } from './footer.js';
import { type ListColumn, listPaths } from './list-columns.js';
import { badRow, keyOf, type ListPlace, labelOf, optionalSize, optionalText, sizeOf } from './list-values.js';
import { ObjectVersions } from './object-versions.js';
import { ParquetFile } from './parquet-file.js';
import { type TableSlice, tableRows } from './table-rows.js';

/** The samples of one list, in its order. */
export function rowListUnit(object: ListedObject, listed: ReadonlyMap<string, ListedObject>): IndexUnit {
  return { object, rows: (reader, signal) => rowsOf(object, listed, reader, signal) };
}

async function* rowsOf(
  object: ListedObject,
  listed: ReadonlyMap<string, ListedObject>,
  reader: RangeReader,
  signal?: AbortSignal,
): AsyncGenerator<SampleRow[]> {
  const file = new ParquetFile(object, reader, signal);
  const table = await readFooter(file);
  const paths = listPaths(file, table);
  const versions = new ObjectVersions(listed);
  for await (const slice of tableRows(file, table, paths)) {
    const rows = Array.from({ length: slice.rows }, (_, i) => new ListRow(object.key, slice, i));
    const unsized = rows.filter((row) => row.objectSize === null);
    await versions
      .ask(
        unsized.map(({ key }) => key),
        reader,
        signal,
      )
      .catch((error: unknown) => {
        throw withRow(error, unsized);
      });
    yield rows.map((row) => row.sample(versions.known(row.key)));
  }
}

/** An object that cannot be asked for is told with the first row that names it. */
function withRow(error: unknown, rows: readonly ListRow[]): unknown {
  if (!(error instanceof StoreError)) return error;
  const place = rows.find(({ key }) => key === error.context.key)?.place;
  if (place === undefined) return error;
  const { message, mend } = error.wording;
  return new StoreError(
    error.code,
    words`${place.list}, row ${place.row}, column key: ${message}`,
    error.code === 'not_found' ? words`leave the row out of the list, or: ${mend}` : mend,
    { ...error.context, row: place.row, file: place.list, cause: error },
  );
}

class ListRow {
  readonly place: ListPlace;
  readonly key: string;
  /** Null where the list does not say it. */
  readonly objectSize: number | null;

  constructor(
    list: string,
    private readonly slice: TableSlice,
    private readonly at: number,
  ) {
    this.place = { list, row: slice.firstRow + at };
    this.key = keyOf(this.place, this.value('key'));
    this.objectSize = optionalSize(this.place, 'object_size', this.value('object_size'));
  }

  /** @param known the object, where it is listed or was asked for */
  sample(known: ListedObject | undefined): SampleRow {
    const objectSizeBytes = this.sizeOf(known);
    const offset = this.number('offset', 0);
    const length = this.number('length', objectSizeBytes - offset);
    if (offset + length > objectSizeBytes || length < 0) {
      const what = `offset ${offset} and length ${Math.max(length, 0)} end beyond the ${objectSizeBytes} bytes of ${this.key}`;
      throw badRow(
        this.place,
        'length',
        what,
        'the list is of another version of the object: write it again',
      );
    }
    return {
      key: this.key,
      offset,
      length,
      etag: this.etagOf(known),
      objectSizeBytes,
      label: labelOf(this.place, this.value('label')),
      fields: null,
      width: optionalSize(this.place, 'width', this.value('width')),
      height: optionalSize(this.place, 'height', this.value('height')),
      dtype: optionalText(this.value('dtype')),
      shape: null,
    };
  }

  private sizeOf(known: ListedObject | undefined): number {
    const size = this.objectSize ?? known!.sizeBytes;
    if (known === undefined || known.sizeBytes === size) return size;
    const what = `it says ${size} bytes for ${this.key}, the object has ${known.sizeBytes}`;
    throw badRow(
      this.place,
      'object_size',
      what,
      'the object was replaced after the list was written: write the list again',
    );
  }

  private etagOf(known: ListedObject | undefined): string | null {
    const told = optionalText(this.value('etag'));
    if (told === null) return known?.etag ?? null;
    if (known?.etag == null || bare(told) === bare(known.etag)) return known?.etag ?? told;
    const what = `it says ${told} for ${this.key}, the object has ${known.etag}`;
    throw badRow(
      this.place,
      'etag',
      what,
      'the object was replaced after the list was written: write the list again',
    );
  }

  /** A column that is not there takes the default; a null in one that is there is refused. */
  private number(column: ListColumn, otherwise: number): number {
    const value = this.value(column);
    return value === undefined ? otherwise : sizeOf(this.place, column, value);
  }

  private value(column: ListColumn): unknown {
    return this.slice.value(column, this.at);
  }
}

/** Lists have ETags with their quotes or without. */
function bare(etag: string): string {
  return etag.replace(/^"(.*)"$/, '$1');
}
