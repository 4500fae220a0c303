import { Os2gError } from '../../errors.js';
import type { SampleRow } from '../format.js';

/**
 * Rows in the order of their keys, as they come; those of one object must be of one version of it. Lists that name objects of
 * elsewhere may disagree.
 * @throws Os2gError `bad_index`
 */
export function* ofOneVersion(rows: Iterable<SampleRow>): Generator<SampleRow> {
  let before: SampleRow | null = null;
  for (const row of rows) {
    if (before !== null && before.key === row.key && versionOf(before) !== versionOf(row)) {
      throw new Os2gError(
        'bad_index',
        `what lists ${JSON.stringify(row.key)} disagrees on its version: ${versionOf(before)}, and ${versionOf(row)}`,
        'write the lists again from the objects as they are, or give a prefix with one of them',
        { key: row.key },
      );
    }
    before = row;
    yield row;
  }
}

function versionOf({ etag, objectSizeBytes }: SampleRow): string {
  return `${objectSizeBytes} bytes with ${etag === null ? 'no ETag' : `the ETag ${etag}`}`;
}
