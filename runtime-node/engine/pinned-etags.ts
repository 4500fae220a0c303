const MOST_ROWS = 4096;

/**
 * ETags seen in answers about rows of which the manifest knows none: the parts of one sample must be of one version, so
 * later parts are held against the first. Bounded; the oldest row is forgotten first.
 */
export class PinnedEtags {
  private readonly byRow = new Map<number, string>();

  get(row: number): string | null {
    return this.byRow.get(row) ?? null;
  }

  pin(row: number, etag: string): void {
    if (this.byRow.has(row)) return;
    if (this.byRow.size >= MOST_ROWS) {
      for (const oldest of this.byRow.keys()) {
        this.byRow.delete(oldest);
        break;
      }
    }
    this.byRow.set(row, etag);
  }
}
