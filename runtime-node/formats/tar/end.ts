import type { ListedObject } from '../../s3/listing.js';
import { badShard } from '../format-error.js';
import { BLOCK_BYTES } from './header.js';

/** Writers fill the last record up: with 10 KiB by habit, with more where a larger block size was asked for. */
const MOST_PADDING_BYTES = 1024 * 1024;

/**
 * Checks that an archive ends at `position`, the first of its zero blocks: nothing but zeros follows. Readers stop there, and what
 * stands behind (a second archive, data behind a damaged part) would silently be missing.
 * @throws Os2gError `bad_shard`; StoreError
 */
export async function checkEnd(
  object: ListedObject,
  position: number,
  read: (position: number, length: number) => Promise<Uint8Array>,
): Promise<void> {
  const rest = object.sizeBytes - position;
  const padding = await read(position, Math.min(rest, MOST_PADDING_BYTES));
  const other = padding.findIndex((byte) => byte !== 0);
  if (other >= 0) throw followed(object, position + other - (other % BLOCK_BYTES), position);
  if (rest > MOST_PADDING_BYTES) throw followed(object, position + MOST_PADDING_BYTES, position);
}

function followed(object: ListedObject, byte: number, end: number): Error {
  return badShard(
    object,
    byte,
    `more follows the zero block at byte ${end}, where tar readers stop`,
    'one archive is one shard: do not put archives end to end, and write a damaged one again',
  );
}
