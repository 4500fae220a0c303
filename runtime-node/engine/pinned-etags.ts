import { MAX_SAMPLES } from '../../assembly/layout.js';
import { sameEtag } from './response-check.js';

/** As many as a core has samples open at once, so that no row with parts under way is forgotten. */
const MOST_ROWS = MAX_SAMPLES;
const NO_ETAG = '';

/**
 * ETags seen in answers about rows of which the manifest knows none, or is not asked: the parts of one sample must be of one
 * version. Parts are sent side by side, so each answer is held against the first that came, not only against what was known
 * when it was sent. Bounded; the oldest row is forgotten first.
 */
export class PinnedEtags {
  private readonly byRow = new Map<number, string>();

  /** The ETag to ask for; null: none is known. */
  get(row: number): string | null {
    return this.byRow.get(row) || null;
  }

  /** Takes an answer's ETag into account; what is wrong with it, or null. */
  pin(row: number, etag: string | null): string | null {
    const seen = this.byRow.get(row);
    if (seen === undefined) {
      this.forgetOldest();
      this.byRow.set(row, etag ?? NO_ETAG);
      return null;
    }
    if (seen === NO_ETAG || etag === null) {
      if (seen === (etag ?? NO_ETAG)) return null;
      const [one, other] = [seen === NO_ETAG ? 'none' : seen, etag ?? 'none'];
      return `parts of one sample came with different ETags: ${one} and ${other}`;
    }
    return sameEtag(seen, etag)
      ? null
      : `the object was replaced while its parts were read: one part has the ETag ${seen}, another ${etag}`;
  }

  private forgetOldest(): void {
    if (this.byRow.size < MOST_ROWS) return;
    for (const oldest of this.byRow.keys()) {
      this.byRow.delete(oldest);
      return;
    }
  }
}
