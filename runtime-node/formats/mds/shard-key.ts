import { badIndex } from '../format-error.js';

/** Up to and with the last slash; empty for a key without one. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

/**
 * Key of a file that an index names relative to its own folder.
 * @throws Os2gError `bad_index` where it is named by a path that leaves the folder, or that no writer makes
 */
export function fileKey(indexKey: string, shard: number, basename: string): string {
  const parts = basename.split('/');
  const isPlain =
    parts.every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(basename);
  if (isPlain) return folderOf(indexKey) + basename;
  throw badIndex(
    indexKey,
    `shard ${shard} is said to be in ${JSON.stringify(basename)}, which is no file below the index's folder`,
    'merge the indexes again with streaming.base.util.merge_index, so that shards are named relative to the merged one',
  );
}
