import { ConfigError } from '../../errors.js';
import { optionalColumns } from '../../manifest/arrow-slices.js';
import type { ColumnManifest } from '../../manifest/column-manifest.js';
import type { OptionalColumn } from '../../manifest/row-batch.js';
import type { SampleRow } from '../format.js';

/** How an updated manifest differs from the one before, in objects. */
export interface UpdateCounts {
  added: number;
  removed: number;
  changed: number;
  unchanged: number;
}

/** A version of an object. */
interface Version {
  etag: string | null;
  objectSizeBytes: number;
}

/** The manifest that is brought up to date: what it says of an object holds as long as ETag and size are the same. */
export class OldManifest {
  private readonly plannedFrom: ReadonlySet<string>;

  /** @throws ConfigError `bad_update` where it is of another prefix, or not in the order of keys */
  constructor(
    private readonly manifest: ColumnManifest,
    file: string,
    of: { bucket: string; prefix: string },
  ) {
    const { bucket, prefix } = manifest.facts;
    if (bucket !== of.bucket || prefix !== of.prefix) {
      const [was, is] = [`s3://${bucket}/${prefix}`, `s3://${of.bucket}/${of.prefix}`];
      throw badUpdate(file, `it is of ${was}, not of ${is}`);
    }
    this.plannedFrom = new Set(manifest.facts.plannedFrom);
    let before = '';
    for (let row = 0; row < manifest.rows; row = this.endOfRun(row)) {
      const key = manifest.key(row);
      if (row > 0 && compareKeys(before, key) >= 0)
        throw badUpdate(file, `row ${row} is not in the order of keys`);
      before = key;
    }
  }

  /** The optional columns that it has. */
  get optional(): OptionalColumn[] {
    return optionalColumns(this.manifest.batches);
  }

  get format(): string | null {
    return this.manifest.facts.format;
  }

  /** Whether the rows came from this version of what a plan is made from, too; null: it has none that could be told. */
  isPlannedFrom(version: string | null): boolean {
    return version !== null && this.plannedFrom.has(version);
  }

  /** The rows of an object, where they still hold; null where it must be read. */
  rowsOf(key: string, version: Version): SampleRow[] | null {
    let [low, high] = [0, this.manifest.rows - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (compareKeys(this.manifest.key(middle), key) <= 0) low = middle;
      else high = middle - 1;
    }
    const first = this.manifest.objectHandle(low);
    if (this.manifest.key(first) !== key || !this.isSame(first, version)) return null;
    return Array.from({ length: this.endOfRun(first) - first }, (_, i) => this.row(first + i));
  }

  /**
   * Passes sorted rows on and counts, by object, how they differ from the old ones. A row that is a whole object, and was before,
   * keeps what the old one says beside its place, its label first of all.
   */
  *compared(rows: Iterable<SampleRow>, counts: UpdateCounts, keepsRows: boolean): Generator<SampleRow> {
    const { manifest } = this;
    let old = 0;
    let before: string | null = null;
    for (const row of rows) {
      if (row.key === before) {
        yield row;
        continue;
      }
      before = row.key;
      while (old < manifest.rows && compareKeys(manifest.key(old), row.key) < 0) {
        counts.removed++;
        old = this.endOfRun(old);
      }
      if (old >= manifest.rows || manifest.key(old) !== row.key) {
        counts.added++;
        yield row;
        continue;
      }
      const isSame = this.isSame(old, row);
      counts[isSame ? 'unchanged' : 'changed']++;
      const end = this.endOfRun(old);
      const isWhole = end === old + 1 && manifest.length(old) === manifest.objectSize(old);
      yield keepsRows && isSame && isWhole ? this.row(old) : row;
      old = end;
    }
    for (; old < manifest.rows; old = this.endOfRun(old)) counts.removed++;
  }

  private isSame(row: number, { etag, objectSizeBytes }: Version): boolean {
    const { manifest } = this;
    // Without an ETag nothing says that it is the same.
    return etag !== null && manifest.etag(row) === etag && manifest.objectSize(row) === objectSizeBytes;
  }

  private endOfRun(first: number): number {
    const { manifest } = this;
    let end = first + 1;
    while (end < manifest.rows && manifest.objectHandle(end) === first) end++;
    return end;
  }

  private row(row: number): SampleRow {
    const { manifest } = this;
    return {
      key: manifest.key(row),
      offset: manifest.offset(row),
      length: manifest.length(row),
      etag: manifest.etag(row),
      objectSizeBytes: manifest.objectSize(row),
      label: manifest.label(row),
      fields: manifest.fields(row),
      width: manifest.width(row),
      height: manifest.height(row),
      dtype: manifest.dtype(row),
      shape: manifest.shape(row),
    };
  }
}

/** Bytewise, as the rows of a manifest stand. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function badUpdate(file: string, what: string): ConfigError {
  return new ConfigError('bad_update', `${file} cannot be updated: ${what}`, 'index anew, without --update', {
    option: 'update',
    file,
  });
}
