import type { ObjectTable } from '../engine/engine.js';

/** A sample's fields inside its range (tar members, MDS columns); offsets are relative to the sample's. */
export interface SampleField {
  name: string;
  offset: number;
  length: number;
}

/**
 * The rows of a data set, one a sample, as columns. Every accessor is O(1) and makes no row objects.
 */
export interface Manifest extends ObjectTable {
  /** SHA-256, in hex, over the columns that say which bytes a row is (key, offset, length, etag, object_size). */
  readonly datasetHash: string;
  /** Where the objects are, if the manifest says so. */
  readonly bucket: string | null;
  offset(row: number): number;
  length(row: number): number;
  /** The same number for rows of one object that stand next to each other; the first such row. */
  objectHandle(row: number): number;
  label(row: number): string | null;
  fields(row: number): SampleField[] | null;
  /** Of a picture, in pixels; null where the manifest does not say. */
  width(row: number): number | null;
  height(row: number): number | null;
  /** Of a raw tensor: NumPy's name of the type (`<f4`), and the shape, outermost extent first; null where it is none. */
  dtype(row: number): string | null;
  shape(row: number): number[] | null;
  /** Longest sample, in bytes, and the sum over all samples. */
  readonly maxLength: number;
  readonly totalLength: number;
}
