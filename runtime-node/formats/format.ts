import type { SampleField } from '../manifest/manifest.js';
import type { ListedObject } from '../s3/listing.js';

/** What can be asked for as a format. */
export const FORMAT_NAMES = ['auto', 'objects', 'tar', 'mds', 'parquet', 'npy'] as const;
/** `auto`: found out from the keys. */
export type FormatChoice = (typeof FORMAT_NAMES)[number];
export type FormatName = Exclude<FormatChoice, 'auto'>;

/** A row of the manifest to be, before rows are sorted and made columns. */
export interface SampleRow {
  /** Whole key of the object that holds the sample. */
  key: string;
  /** The sample's range in the object, in bytes. */
  offset: number;
  length: number;
  etag: string | null;
  objectSizeBytes: number;
  label: string | null;
  /** Parts of the sample, offsets relative to its own; null where the format has none. */
  fields: readonly SampleField[] | null;
  /** Of a picture, in pixels. */
  width: number | null;
  height: number | null;
  /** Of a raw tensor: NumPy's name of the type (`<f4`) and the shape, outermost first. */
  dtype: string | null;
  shape: readonly number[] | null;
}

/** Reads of ranges of listed objects. Each answer is of the version that was listed, whole, or an error. */
export interface RangeReader {
  /**
   * Bytes `[offset, offset + length)` of an object, cut at its end.
   * @throws StoreError that names the key; `changed` where the object is no longer what was listed
   */
  read(object: ListedObject, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * Size and version of any object of the bucket, listed or not: one HEAD request.
   * @throws StoreError that names the key
   */
  stat(key: string, signal?: AbortSignal): Promise<ListedObject>;
}

/** Takes what a piece of work finds that the user should know: a fixed sentence, so that it can be counted, and the object's key. */
export type UnitNote = (what: string, key: string) => void;

/** One piece of work of an index run: the rows of one object. Pieces are independent, run side by side, and can be run again. */
export interface IndexUnit {
  /** The object that is read and whose key names the piece in progress and errors. */
  object: ListedObject;
  /**
   * The versions of other objects that its rows come from (the index that names a shard), as one text: `versionText`. Null: there are such
   * objects, and nothing would tell that they are still the same.
   */
  plannedFrom?: string | null;
  /** Its rows lie in other objects, so that no key leads from an old manifest's rows back to it. */
  listsOthers?: boolean;
  /** Rows in the order of the object, some at a time. @throws StoreError, Os2gError `bad_shard` that names key and byte */
  rows(reader: RangeReader, signal?: AbortSignal, note?: UnitNote): AsyncGenerator<SampleRow[]>;
}

/** What a format makes of a listing. */
export interface IndexPlan {
  units: IndexUnit[];
  /** What the user should know of what was left out or looks odd, in sentences. */
  notes: string[];
}

/** A way in which data sets are kept in a bucket. */
export interface SampleFormat {
  readonly name: FormatName;
  /** Whether objects with this key could be of the format; by the key alone. */
  claims(key: string): boolean;
  /** Whether an object with this key is of a kind of this format that is refused by name (`.tar.gz`): where all are, it is this format. */
  refuses?(key: string): boolean;
  /** Whether an object with this key belongs to the format without holding samples (`.idx` beside a `.tar`). */
  accompanies?(key: string): boolean;
  /**
   * The pieces of work for a prefix. Objects that belong to the format without being read (`.idx` beside a `.tar`) and those that do
   * not belong to it (named in `notes`) make none.
   */
  plan(
    objects: readonly ListedObject[],
    prefix: string,
    reader: RangeReader,
    signal?: AbortSignal,
  ): Promise<IndexPlan>;
}
