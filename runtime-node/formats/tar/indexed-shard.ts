import { Os2gError } from '../../errors.js';
import type { ListedObject } from '../../s3/listing.js';
import type { RangeReader, SampleRow } from '../format.js';
import { endOf, readDaliIndex } from './dali-index.js';
import { checkEnd } from './end.js';
import { BLOCK_BYTES, readHeader } from './header.js';
import { isRegular, type TarMember } from './members.js';
import { SampleGrouper } from './samples.js';

/** A larger one is no help: the headers are read instead. */
const MOST_INDEX_BYTES = 64 * 1024 * 1024;
/** Headers that are compared with the index: the first, the last, and some between. */
const PROBES = 8;

/**
 * The samples of a shard from the index beside it, without reading its headers but for a few that are compared.
 * @returns the reason as text where the index cannot be used: then the headers say what the samples are
 */
export async function rowsByIndex(
  shard: ListedObject,
  index: ListedObject,
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<SampleRow[] | string> {
  if (index.sizeBytes === 0 || index.sizeBytes > MOST_INDEX_BYTES) return `it has ${index.sizeBytes} bytes`;
  const bytes = await reader.read(index, 0, index.sizeBytes, signal);
  const samples = readDaliIndex(Buffer.from(bytes).toString('utf8'));
  if (typeof samples === 'string') return samples;
  const members = samples.flat();
  const last = members.at(-1);
  if (last === undefined) return 'it lists no sample';
  if (endOf(last) >= shard.sizeBytes) return 'it lists more than the shard holds';
  const rows = grouped(shard, members);
  if (rows.length !== samples.length) return 'its samples are not those of the names in it';
  const problem = await probe(shard, members, reader, signal);
  if (problem !== null) return problem;
  try {
    await checkEnd(shard, endOf(last), (from, length) => reader.read(shard, from, length, signal));
  } catch (error) {
    if (error instanceof Os2gError && error.code === 'bad_shard') return 'it lists less than the shard holds';
    throw error;
  }
  return rows;
}

function grouped(shard: ListedObject, members: readonly TarMember[]): SampleRow[] {
  const grouper = new SampleGrouper(shard);
  return [...members.map((member) => grouper.add(member)), grouper.finish()].filter((row) => row !== null);
}

async function probe(
  shard: ListedObject,
  members: readonly TarMember[],
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<string | null> {
  const count = Math.min(PROBES, members.length);
  for (let i = 0; i < count; i++) {
    const at = count === 1 ? 0 : Math.floor((i * (members.length - 1)) / (count - 1));
    const member = members[at] as TarMember;
    const block = await reader.read(shard, member.dataOffset - BLOCK_BYTES, BLOCK_BYTES, signal);
    const header = readHeader(block);
    const isSame =
      !('problem' in header) &&
      header.name === member.name &&
      header.sizeBytes === member.sizeBytes &&
      isRegular(header);
    if (!isSame) return `the shard has another member at byte ${member.dataOffset - BLOCK_BYTES}`;
  }
  return null;
}
