const EXAMPLES = 3;

/** What units of an index run found, counted by sentence. */
export class NoteBook {
  private readonly notes = new Map<string, { count: number; keys: string[] }>();

  add(what: string, key: string, count = 1): void {
    const note = this.notes.get(what) ?? { count: 0, keys: [] };
    this.notes.set(what, note);
    note.count += count;
    if (note.keys.length < EXAMPLES) note.keys.push(key);
  }

  /** Takes those of another one over. */
  merge(other: readonly NoteEntry[]): void {
    for (const { what, count, keys } of other) {
      for (const [i, key] of keys.entries()) this.add(what, key, i === 0 ? count - keys.length + 1 : 1);
    }
  }

  entries(): NoteEntry[] {
    return [...this.notes].map(([what, { count, keys }]) => ({ what, count, keys }));
  }

  /** One line each: `members that are links are left out: 12 (a.tar: x, b.tar: y, …)`. */
  lines(): string[] {
    return this.entries().map(({ what, count, keys }) => {
      const more = count > keys.length ? ', …' : '';
      return `${what}: ${count.toLocaleString('en-US')} (${keys.join(', ')}${more})`;
    });
  }
}

export interface NoteEntry {
  what: string;
  count: number;
  keys: string[];
}
