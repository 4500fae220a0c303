import type { ListedObject } from '../../s3/listing.js';
import type { IndexPlan, IndexUnit, RangeReader, SampleFormat, SampleRow, UnitNote } from '../format.js';
import { countedKeys, unsupportedData } from '../format-error.js';
import { rowsByIndex } from './indexed-shard.js';
import { MEND_COMPRESSED, MemberReader } from './members.js';
import { SampleGrouper, whyLeftOut } from './samples.js';

const ROWS_AT_A_TIME = 1024;

/**
 * WebDataset shards: tar archives whose members with one basename are one sample, from the first one's data to the last one's.
 * Headers are read by range requests, bodies are not; an index of DALI's beside the shard saves most of these. Field names are the
 * extensions in lower case; labels stay open, as they lie in bodies.
 */
export const tarFormat: SampleFormat = {
  name: 'tar',
  claims: isTar,
  accompanies: isIndex,
  refuses: isCompressed,
  async plan(objects) {
    return planTar(objects);
  },
};

function isTar(key: string): boolean {
  return /\.tar$/i.test(key);
}

function isIndex(key: string): boolean {
  return /\.idx$/i.test(key);
}

function planTar(objects: readonly ListedObject[]): IndexPlan {
  const indexes = new Map(objects.filter(({ key }) => isIndex(key)).map((object) => [object.key, object]));
  const shards = objects.filter(({ key }) => isTar(key));
  const compressed = objects.filter(({ key }) => isCompressed(key)).map(({ key }) => key);
  if (shards.length === 0 && compressed[0] !== undefined) {
    throw unsupportedData(compressed[0], 'it is a compressed archive', MEND_COMPRESSED);
  }
  const notes: string[] = [];
  if (compressed.length > 0) {
    const which = countedKeys(compressed, 'compressed archive', 'compressed archives');
    notes.push(`left out: ${which}; ${MEND_COMPRESSED}`);
  }
  const others = objects
    .map(({ key }) => key)
    .filter((key) => !isTar(key) && !isIndex(key) && !isCompressed(key));
  if (others.length > 0) {
    notes.push(
      `left out: ${countedKeys(others, 'object that is no tar shard', 'objects that are no tar shards')}`,
    );
  }
  const units = shards.map((object): IndexUnit => {
    const index = indexNames(object.key)
      .map((name) => indexes.get(name))
      .find((found) => found !== undefined);
    return { object, rows: (...work) => rowsOf(object, index, ...work) };
  });
  return { units, notes };
}

function isCompressed(key: string): boolean {
  return /\.(?:tar\.(?:gz|bz2|xz|zst|lz4)|tgz|tbz2?|txz)$/i.test(key);
}

/** What `wds2idx` calls the index of a shard: up to the first dot of the file's name; others keep the whole of it. */
function indexNames(key: string): string[] {
  const nameAt = key.lastIndexOf('/') + 1;
  const short = key.slice(0, key.indexOf('.', nameAt + 1));
  return [`${short}.idx`, `${key.slice(0, -'.tar'.length)}.idx`];
}

async function* rowsOf(
  object: ListedObject,
  index: ListedObject | undefined,
  reader: RangeReader,
  signal?: AbortSignal,
  note?: UnitNote,
): AsyncGenerator<SampleRow[]> {
  if (index !== undefined) {
    const rows = await rowsByIndex(object, index, reader, signal);
    if (typeof rows !== 'string') {
      yield rows;
      return;
    }
    note?.('an index does not fit its shard, whose headers are read instead', `${index.key}: ${rows}`);
  }
  yield* rowsByHeaders(object, reader, signal, note);
}

async function* rowsByHeaders(
  object: ListedObject,
  reader: RangeReader,
  signal?: AbortSignal,
  note?: UnitNote,
): AsyncGenerator<SampleRow[]> {
  const members = new MemberReader(object, reader, signal);
  const grouper = new SampleGrouper(object);
  let rows: SampleRow[] = [];
  for (let member = await members.next(); member !== null; member = await members.next()) {
    const leftOut = whyLeftOut(member);
    if (leftOut !== null) note?.(leftOut, `${object.key}: ${member.name}`);
    const row = grouper.add(member);
    if (row !== null) rows.push(row);
    if (rows.length < ROWS_AT_A_TIME) continue;
    yield rows;
    rows = [];
  }
  const last = grouper.finish();
  if (last !== null) rows.push(last);
  if (rows.length === 0) note?.('the shard holds no sample', object.key);
  if (rows.length > 0) yield rows;
}
