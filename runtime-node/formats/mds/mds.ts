import type { ListedObject } from '../../s3/listing.js';
import type { IndexPlan, RangeReader, SampleFormat } from '../format.js';
import { badIndex, countedKeys, unsupportedData } from '../format-error.js';
import type { MdsShard } from './index-file.js';
import { type IndexSet, readIndexes } from './index-set.js';
import { shardUnit } from './shard-unit.js';

/**
 * MosaicML Streaming's MDS: `index.json` (version 2) names the shards, each shard holds samples of several columns. A sample's range runs
 * from its first column's data to its last one's, with the columns as `fields`; the sizes that stand before the data are left out.
 * An index may be a merged one that names shards in sub-folders; several indexes below a prefix (splits) are put together, and said.
 * Only uncompressed shards are read: a compressed one that was also written, or was later unpacked, uncompressed beside it is.
 * Checksums in the index are not checked: that would read the whole data set.
 */
export const mdsFormat: SampleFormat = {
  name: 'mds',
  claims: isShardKey,
  accompanies: isIndexKey,
  plan: planMds,
};

function isIndexKey(key: string): boolean {
  return key === 'index.json' || key.endsWith('/index.json');
}

/** `shard.00000.mds`, and with the ending of a compression: `shard.00000.mds.zstd`. */
function isShardKey(key: string): boolean {
  return /\.mds(?:\.(?:br|bz2|gz|snappy|zstd))?$/.test(key);
}

async function planMds(
  objects: readonly ListedObject[],
  prefix: string,
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<IndexPlan> {
  const indexes = objects.filter(({ key }) => isIndexKey(key));
  if (indexes.length === 0) throw noIndex(objects, prefix);
  const set = await readIndexes(indexes, reader, signal);
  const listed = listedShards(objects, set);
  const units = set.shards.map((shard) =>
    shardUnit(shard, found(shard, listed), set.plannedFrom.get(shard.key) ?? null),
  );
  return { units, notes: notesOf(objects, set) };
}

function noIndex(objects: readonly ListedObject[], prefix: string): Error {
  const shards = objects.filter(({ key }) => isShardKey(key)).map(({ key }) => key);
  const what =
    shards.length === 0
      ? 'no index.json and no .mds files are'
      : `${countedKeys(shards, 'MDS shard', 'MDS shards')}, and no index.json, ${shards.length === 1 ? 'is' : 'are'}`;
  return badIndex(
    prefix === '' ? '(the whole bucket)' : prefix,
    `${what} below this prefix`,
    'index the folder that holds index.json; if it is lost, streaming.base.util.merge_index writes one from those of sub-folders',
  );
}

function listedShards(objects: readonly ListedObject[], { shards }: IndexSet): Map<string, ListedObject> {
  const wanted = new Set(shards.map(({ key }) => key));
  return new Map(
    objects
      .filter(({ key }) => wanted.has(key))
      .map((object): [string, ListedObject] => [object.key, object]),
  );
}

function found(shard: MdsShard, listed: ReadonlyMap<string, ListedObject>): ListedObject {
  const object = listed.get(shard.key);
  if (object === undefined) throw notThere(shard);
  if (object.sizeBytes === shard.sizeBytes) return object;
  throw badIndex(
    shard.key,
    `the index says ${shard.sizeBytes} bytes, the object has ${object.sizeBytes}`,
    'the index and its shards are of two writes, or one upload was cut off: upload the folder again, with its index.json',
  );
}

function notThere({ key, compressed }: MdsShard): Error {
  if (compressed !== null) {
    return unsupportedData(
      compressed.key,
      `the shard is compressed (${compressed.compression}), and a sample in it has no range of its own`,
      `unpack it to ${key}, beside it, and likewise all others; or write the data set with MDSWriter(compression=None)`,
    );
  }
  return badIndex(
    key,
    'the index names this shard, and there is no such object',
    'upload the folder again; where the prefix is narrower than the index, index the whole folder',
  );
}

function notesOf(objects: readonly ListedObject[], { shards, parts }: IndexSet): string[] {
  const notes: string[] = [];
  if (parts.length > 1) {
    const each = parts.slice(0, 5).map(({ folder, shards: count }) => `${folder || '(top)'}: ${count}`);
    const more = parts.length > 5 ? ', …' : '';
    notes.push(
      `${parts.length} indexes were put together, with their shards (${each.join(', ')}${more}); for one split alone, index its folder`,
    );
  }
  if (shards.length === 0) notes.push('the index names no shards');
  const named = new Set(shards.flatMap(({ key, compressed }) => [key, compressed?.key]));
  const extra = objects.filter(({ key }) => isShardKey(key) && !named.has(key)).map(({ key }) => key);
  if (extra.length > 0) {
    notes.push(
      `left out: ${countedKeys(extra, 'shard that no index names', 'shards that no index names')}; merge_index takes them in`,
    );
  }
  const hashes = new Set(shards.flatMap((shard) => shard.hashes));
  if (hashes.size > 0)
    notes.push(`checksums of shards in the index (${[...hashes].join(', ')}) were not checked`);
  return notes;
}
