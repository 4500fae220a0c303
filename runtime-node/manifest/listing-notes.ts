import type { ListingNotes, NotedKeys } from './listing-check.js';

function examples({ count, examples: keys }: NotedKeys): string {
  return `${keys.map((key) => JSON.stringify(key)).join(', ')}${count > keys.length ? ', ...' : ''}`;
}

const some = ({ count }: NotedKeys, singular: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? singular : `${singular}s`}`;

const itOrThey = ({ count }: NotedKeys): string => (count === 1 ? 'it' : 'they');

/** What the reader of a listing should know, in sentences. */
export function noteLines(
  { markers, empty, archived, outsideFolder }: ListingNotes,
  prefix: string,
): string[] {
  const lines: string[] = [];
  if (markers.count > 0) {
    lines.push(`${some(markers, 'folder marker')} of zero bytes left out: ${examples(markers)}`);
  }
  if (empty.count > 0) {
    lines.push(`${some(empty, 'object')} of zero bytes kept as empty samples: ${examples(empty)}`);
  }
  if (archived.count > 0) {
    lines.push(
      `${some(archived, 'object')} in an archive storage class and not restored, so that ${itOrThey(archived)} cannot be read yet: ${examples(archived)}`,
    );
  }
  if (outsideFolder.count > 0) {
    const folder = JSON.stringify(`${prefix}/`);
    const verb = outsideFolder.count === 1 ? 'is' : 'are';
    lines.push(
      `the prefix ${JSON.stringify(prefix)} also matches ${some(outsideFolder, 'key')} that ${verb} not below ${folder}: ${examples(outsideFolder)}; give ${folder} to leave ${outsideFolder.count === 1 ? 'it' : 'them'} out`,
    );
  }
  return lines;
}
