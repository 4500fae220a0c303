import type { ListedObject } from '../../s3/listing.js';
import type { RangeReader } from '../format.js';
import { badIndex } from '../format-error.js';
import { versionText } from '../pipeline/pieces.js';
import { type MdsShard, parseMdsIndex } from './index-file.js';
import { folderOf } from './shard-key.js';

/** What all `index.json` files below a prefix say together. */
export interface IndexSet {
  /** Each shard once, in the order of the indexes. */
  shards: MdsShard[];
  /** By the key of a shard: the version of the index that it was taken from. */
  plannedFrom: Map<string, string | null>;
  /** Folders of the indexes that named shards which no other one had named before, with how many. */
  parts: { folder: string; shards: number }[];
}

/** The index of 400 000 shards; one is held in memory whole. */
const LARGEST_INDEX_BYTES = 256 * 2 ** 20;
const READS_AT_A_TIME = 8;

/**
 * Reads all indexes, those of higher folders first: a merged index stands above those that it was merged from, which then name no
 * shard that is new. Where two name one shard, they must agree.
 * @throws Os2gError `bad_index`, `unsupported_data`; StoreError
 */
export async function readIndexes(
  indexes: readonly ListedObject[],
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<IndexSet> {
  const sorted = [...indexes].sort((a, b) => depth(a.key) - depth(b.key) || (a.key < b.key ? -1 : 1));
  const named = new Map<string, { shard: MdsShard; index: string }>();
  const parts: IndexSet['parts'] = [];
  const versions = new Map(indexes.map((index) => [index.key, versionText(index)]));
  for (let i = 0; i < sorted.length; i += READS_AT_A_TIME) {
    const some = sorted.slice(i, i + READS_AT_A_TIME);
    const files = await Promise.all(some.map((object) => readWhole(object, reader, signal)));
    some.forEach(({ key }, n) => {
      const before = named.size;
      for (const shard of parseMdsIndex(key, files[n]!)) add(named, shard, key);
      if (named.size > before) parts.push({ folder: folderOf(key), shards: named.size - before });
    });
  }
  return {
    shards: Array.from(named.values(), ({ shard }) => shard),
    plannedFrom: new Map(Array.from(named, ([key, { index }]) => [key, versions.get(index) ?? null])),
    parts,
  };
}

async function readWhole(
  object: ListedObject,
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  if (object.sizeBytes > LARGEST_INDEX_BYTES) {
    throw badIndex(
      object.key,
      `it has ${object.sizeBytes} bytes, at most ${LARGEST_INDEX_BYTES} are read`,
      'split the data set, with an index in each folder, or write larger shards (size_limit of MDSWriter)',
    );
  }
  if (object.sizeBytes === 0) return new Uint8Array(0);
  return reader.read(object, 0, object.sizeBytes, signal);
}

function add(named: Map<string, { shard: MdsShard; index: string }>, shard: MdsShard, index: string): void {
  const known = named.get(shard.key);
  if (known === undefined) {
    named.set(shard.key, { shard, index });
    return;
  }
  if (index === known.index) {
    throw badIndex(index, `it names the shard ${shard.key} twice`, 'write or merge the index again');
  }
  if (JSON.stringify(known.shard) === JSON.stringify(shard)) return;
  throw badIndex(
    index,
    `it says something else of the shard ${shard.key} than ${known.index} does`,
    'merge the indexes again with streaming.base.util.merge_index, and delete the one that is out of date',
  );
}

function depth(key: string): number {
  return key.split('/').length;
}
