import { DatasetHasher } from './dataset-hash.js';
import { NumberColumn } from './number-column.js';
import type { RowBatch } from './row-batch.js';
import { sameText } from './text-column.js';

/** What `os2g index` says about a manifest. Lengths in bytes. */
export interface ManifestDescription {
  rows: number;
  /** Runs of neighbouring rows with one key: the objects, where rows are sorted by key. */
  objects: number;
  totalLength: number;
  minLength: number;
  /** The lower one of two in the middle. */
  medianLength: number;
  maxLength: number;
  /** Distinct labels; rows without one are not counted, and none beyond a million. */
  labels: number;
  datasetHash: string;
}

const MOST_LABELS = 1_000_000;

/** Describes a manifest batch by batch: eight bytes a row are kept, for the median. */
export class ManifestDescriber {
  private readonly lengths: Float64Array;
  private readonly hasher: DatasetHasher;
  private readonly labels = new Set<string>();
  private rows = 0;
  private objects = 0;
  private totalLength = 0;
  private before: RowBatch | null = null;

  /** @param rows of all batches together */
  constructor(rows: number) {
    this.lengths = new Float64Array(rows);
    this.hasher = new DatasetHasher(rows);
  }

  add(batch: RowBatch): void {
    const { before } = this;
    for (let i = 0; i < batch.rows; i++) {
      const length = batch.length.get(i);
      this.lengths[this.rows++] = length;
      this.totalLength += length;
      const continues =
        i > 0
          ? sameText(batch.key, i - 1, batch.key, i)
          : before !== null && sameText(before.key, before.rows - 1, batch.key, 0);
      if (!continues) this.objects++;
      this.takeLabel(batch, i);
    }
    this.hasher.add(batch);
    this.before = batch;
  }

  finish(): ManifestDescription {
    const { rows, lengths } = this;
    lengths.sort();
    return {
      rows,
      objects: this.objects,
      totalLength: this.totalLength,
      minLength: lengths[0] ?? 0,
      medianLength: lengths[(rows - 1) >> 1] ?? 0,
      maxLength: lengths[rows - 1] ?? 0,
      labels: this.labels.size,
      datasetHash: this.hasher.digest(),
    };
  }

  private takeLabel({ label }: RowBatch, i: number): void {
    if (label === null || label.isNull(i) || this.labels.size >= MOST_LABELS) return;
    if (label instanceof NumberColumn) this.labels.add(String(label.get(i)));
    else if (i === 0 || label.isNull(i - 1) || !sameText(label, i - 1, label, i))
      this.labels.add(label.text(i));
  }
}
