import type { Manifest } from './manifest.js';

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
  /** Distinct labels; rows without one are not counted. */
  labels: number;
  datasetHash: string;
}

export function describeManifest(manifest: Manifest): ManifestDescription {
  const { rows } = manifest;
  const lengths = new Float64Array(rows);
  const labels = new Set<string>();
  let objects = 0;
  for (let row = 0; row < rows; row++) {
    lengths[row] = manifest.length(row);
    if (manifest.objectHandle(row) === row) objects++;
    const label = manifest.label(row);
    if (label !== null) labels.add(label);
  }
  lengths.sort();
  return {
    rows,
    objects,
    totalLength: manifest.totalLength,
    minLength: lengths[0] ?? 0,
    medianLength: lengths[(rows - 1) >> 1] ?? 0,
    maxLength: manifest.maxLength,
    labels: labels.size,
    datasetHash: manifest.datasetHash,
  };
}
