import { ConfigError, Os2gError } from '../../errors.js';
import { option, words } from '../../wording.js';
import type { FormatName, SampleFormat } from '../format.js';

const EXAMPLES = 2;

interface Seen {
  count: number;
  examples: string[];
}

/** What was found out, and from what, in a sentence. */
export interface FoundFormat {
  name: FormatName;
  why: string;
}

/** Finds out from the keys of a listing what its samples are. */
export class FormatFinder {
  private readonly seen = new Map<FormatName, Seen>();
  /** Of each format: keys that only accompany it. */
  private readonly companions = new Map<FormatName, number>();
  /** Of each format: keys of its refused kinds, which are counted among the others, too. */
  private readonly refused = new Map<FormatName, Seen>();
  private readonly others: Seen = { count: 0, examples: [] };

  constructor(private readonly formats: readonly SampleFormat[]) {}

  add(key: string): void {
    for (const format of this.formats) {
      if (!format.claims(key)) continue;
      note(seenOf(this.seen, format.name), key);
      return;
    }
    note(this.others, key);
    for (const { name, accompanies, refuses } of this.formats) {
      if (refuses?.(key)) note(seenOf(this.refused, name), key);
      if (accompanies?.(key)) this.companions.set(name, (this.companions.get(name) ?? 0) + 1);
    }
  }

  /**
   * One format and no more than as many other objects: that format. No format: plain objects, but where more than half are of a kind
   * that a format refuses by name, that format.
   * @throws Os2gError `mixed_formats`
   */
  found(): FoundFormat {
    const [first, ...more] = this.seen;
    if (first === undefined) {
      for (const [name, seen] of this.refused) {
        if (seen.count * 2 > this.others.count) return { name, why: told(`refused ${name}`, seen) };
      }
      return { name: 'objects', why: `${told('object', this.others)} of no other format` };
    }
    const [name, seen] = first;
    const others = this.others.count - (this.companions.get(name) ?? 0);
    if (more.length > 0 || others > seen.count) throw this.mixed();
    return { name, why: `${told(name, seen)}${others > 0 ? `, beside ${others} other objects` : ''}` };
  }

  private mixed(): Os2gError {
    const parts = [...this.seen].map(([name, seen]) => told(name, seen));
    if (this.others.count > 0) parts.push(told('other', this.others));
    return new Os2gError(
      'mixed_formats',
      `it is not clear what a sample is: the prefix holds ${parts.join(', ')}`,
      words`say it: ${{ api: 'give format: `objects` (each object a sample) or the format of the samples', command: 'give --format objects (each object a sample) or the format of the samples' }}; or give the prefix of one kind`,
    );
  }
}

function seenOf(of: Map<FormatName, Seen>, name: FormatName): Seen {
  const seen = of.get(name) ?? { count: 0, examples: [] };
  of.set(name, seen);
  return seen;
}

function told(what: string, { count, examples }: Seen): string {
  const more = count > examples.length ? ', …' : '';
  return `${count.toLocaleString('en-US')} ${what}${what === 'object' && count !== 1 ? 's' : ''} (${examples.map((key) => JSON.stringify(key)).join(', ')}${more})`;
}

function note(seen: Seen, key: string): void {
  seen.count++;
  if (seen.examples.length < EXAMPLES) seen.examples.push(key);
}

/** A format by name; null: plain objects. @throws ConfigError `not_in_this_version` */
export function formatByName(name: FormatName, formats: readonly SampleFormat[]): SampleFormat | null {
  if (name === 'objects') return null;
  const format = formats.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  throw new ConfigError(
    'not_in_this_version',
    words`${option('format', name)}: this version of os2g does not index it`,
    `use ${formats.map((candidate) => candidate.name).join(', ')} or objects, or write the manifest yourself: docs/manifest.md`,
    { option: 'format' },
  );
}
