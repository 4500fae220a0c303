import { createHash } from 'node:crypto';
import type { ListedObject } from '../../s3/listing.js';
import type { IndexUnit } from '../format.js';

/** A unit under the name by which a later run knows that it is the same work; null: nothing would tell it. */
export interface Piece {
  id: string | null;
  unit: IndexUnit;
}

/** Names the units of a plan: by the version of the object, by what else their rows come from, and by their turn where several are alike. */
export function namedPieces(units: readonly IndexUnit[]): Piece[] {
  const taken = new Set<string>();
  return units.map((unit) => {
    const { object, plannedFrom = '' } = unit;
    const version = versionText(object);
    if (version === null || plannedFrom === null) return { id: null, unit };
    const same = plannedFrom === '' ? version : `${version}${plannedFrom}`;
    let id = same;
    for (let turn = 2; taken.has(id); turn++) id = `${same}#${turn}`;
    taken.add(id);
    return { id, unit };
  });
}

/** Key, ETag and size of an object as one text; null without an ETag: nothing says then that it is still the same. */
export function versionText({
  key,
  etag,
  sizeBytes,
}: Pick<ListedObject, 'key' | 'etag' | 'sizeBytes'>): string | null {
  return etag === null ? null : JSON.stringify([key, etag, sizeBytes]);
}

/** The versions of many objects as one short text; null where one of them has no ETag. */
export function versionsDigest(objects: Iterable<ListedObject>): string | null {
  const hash = createHash('sha256');
  for (const object of objects) {
    const version = versionText(object);
    if (version === null) return null;
    hash.update(version).update('\n');
  }
  return hash.digest('hex');
}
