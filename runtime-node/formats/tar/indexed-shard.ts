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
/** Headers that stand closer are read with what is between them, up to the longest read. */
const JOIN_BYTES = 64 * 1024;
const MOST_BYTES = 1024 * 1024;
/** Reads of one shard at one time. */
const READS = 8;

/**
 * The samples of a shard by the index beside it. The index says where the headers stand, so they are read side by side, and all of
 * them: an index from before the shard was written anew may fit it in all but a name or some bytes of a size.
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
  const problem = await compareHeaders(shard, members, reader, signal);
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

/** The first difference between the index and the headers; null where there is none. */
async function compareHeaders(
  shard: ListedObject,
  members: readonly TarMember[],
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<string | null> {
  const groups = joined(members);
  // Groups begin in their order, and what has begun is ended: the first difference is among those found.
  const problems: (string | null)[] = [];
  let isSame = true;
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < groups.length && isSame; at = next++) {
      const problem = await compareGroup(shard, groups[at] as TarMember[], reader, signal);
      problems[at] = problem;
      if (problem !== null) isSame = false;
    }
  };
  const stop = (error: unknown): never => {
    next = groups.length;
    throw error;
  };
  await Promise.all(Array.from({ length: READS }, () => worker().catch(stop)));
  return problems.find((problem) => typeof problem === 'string') ?? null;
}

async function compareGroup(
  shard: ListedObject,
  group: readonly TarMember[],
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<string | null> {
  const start = headerOf(group[0] as TarMember);
  const length = (group.at(-1) as TarMember).dataOffset - start;
  const bytes = await reader.read(shard, start, length, signal);
  return group.map((member) => difference(member, bytes, start)).find((found) => found !== null) ?? null;
}

function difference(member: TarMember, bytes: Uint8Array, start: number): string | null {
  const at = headerOf(member);
  const header = readHeader(bytes.subarray(at - start, at - start + BLOCK_BYTES));
  const isSame =
    !('problem' in header) &&
    header.name === member.name &&
    header.sizeBytes === member.sizeBytes &&
    isRegular(header);
  return isSame ? null : `the shard has another member at byte ${at}`;
}

/** Members whose headers are read at once. */
function joined(members: readonly TarMember[]): TarMember[][] {
  const groups: TarMember[][] = [];
  for (const member of members) {
    const group = groups.at(-1);
    const [first, last] = [group?.[0], group?.at(-1)];
    const isNear =
      first !== undefined &&
      last !== undefined &&
      headerOf(member) - last.dataOffset < JOIN_BYTES &&
      member.dataOffset - headerOf(first) <= MOST_BYTES;
    if (isNear) group?.push(member);
    else groups.push([member]);
  }
  return groups;
}

function headerOf({ dataOffset }: TarMember): number {
  return dataOffset - BLOCK_BYTES;
}
