import type { ListingNotes, NotedKeys } from '../../manifest/index-objects.js';
import { formatCount } from '../output/numbers.js';

function examples({ count, examples: keys }: NotedKeys): string {
  return `${keys.map((key) => JSON.stringify(key)).join(', ')}${count > keys.length ? ', ...' : ''}`;
}

const some = (noted: NotedKeys, singular: string): string =>
  `${formatCount(noted.count)} ${noted.count === 1 ? singular : `${singular}s`}`;

/** What the reader of a listing should know, in sentences. */
export function noteLines({ markers, archived, outsideFolder }: ListingNotes, prefix: string): string[] {
  const lines: string[] = [];
  if (markers.count > 0) {
    lines.push(`${some(markers, 'folder marker')} of zero bytes left out: ${examples(markers)}`);
  }
  if (archived.count > 0) {
    lines.push(
      `${some(archived, 'object')} in an archive storage class must be restored before they can be read: ${examples(archived)}`,
    );
  }
  if (outsideFolder.count > 0) {
    const folder = JSON.stringify(`${prefix}/`);
    lines.push(
      `the prefix ${JSON.stringify(prefix)} also matches ${some(outsideFolder, 'key')} that are not below ${folder}: ${examples(outsideFolder)}; give ${folder} to leave them out`,
    );
  }
  return lines;
}
