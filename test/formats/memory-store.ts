import type { RangeReader, SampleRow, UnitNote } from '../../runtime-node/formats/format.js';
import { tarFormat } from '../../runtime-node/formats/tar/tar.js';
import type { ListedObject } from '../../runtime-node/s3/listing.js';

/** Objects in memory behind the reader of an index run, with a count of what was read. */
export class MemoryStore implements RangeReader {
  requests = 0;
  bytesRead = 0;
  readonly ranges: [key: string, offset: number, length: number][] = [];

  constructor(private readonly objects: ReadonlyMap<string, Uint8Array>) {}

  listed(): ListedObject[] {
    return [...this.objects].map(([key, bytes]) => listedObject(key, bytes.length));
  }

  async read(object: ListedObject, offset: number, length: number): Promise<Uint8Array> {
    const bytes = this.objects.get(object.key);
    if (bytes === undefined) throw new Error(`no object ${object.key}`);
    if (length < 1 || offset < 0 || offset >= bytes.length) {
      throw new Error(`a read of ${length} bytes at ${offset} of ${bytes.length}`);
    }
    this.requests++;
    const found = bytes.subarray(offset, offset + length);
    this.bytesRead += found.length;
    this.ranges.push([object.key, offset, found.length]);
    return found;
  }

  async stat(key: string): Promise<ListedObject> {
    const bytes = this.objects.get(key);
    if (bytes === undefined) throw new Error(`no object ${key}`);
    return listedObject(key, bytes.length);
  }
}

export function listedObject(key: string, sizeBytes: number): ListedObject {
  return { key, sizeBytes, etag: `"${sizeBytes}"`, storageClass: null, archived: false };
}

export interface Read {
  rows: SampleRow[];
  notes: string[];
  store: MemoryStore;
}

/** All rows of the tar shards among the objects. */
export async function readTars(objects: Record<string, Uint8Array>): Promise<Read> {
  const store = new MemoryStore(new Map(Object.entries(objects)));
  const plan = await tarFormat.plan(store.listed(), '', store);
  const notes = [...plan.notes];
  const note: UnitNote = (what, key) => notes.push(`${what}: ${key}`);
  const rows: SampleRow[] = [];
  for (const unit of plan.units)
    for await (const some of unit.rows(store, undefined, note)) rows.push(...some);
  return { rows, notes, store };
}

/** A sample as its fields' names and bytes. */
export function fieldsOf(row: SampleRow, archive: Uint8Array): Record<string, string> {
  const sample = Buffer.from(archive).subarray(row.offset, row.offset + row.length);
  return Object.fromEntries(
    (row.fields ?? []).map(({ name, offset, length }) => [
      name,
      sample.subarray(offset, offset + length).toString('latin1'),
    ]),
  );
}
