import { z } from 'zod';
import { schemaProblem } from '../../schema-problem.js';
import { badIndex, unsupportedData } from '../format-error.js';
import { fileKey } from './shard-key.js';

/** One column of a shard, in the order of the bytes. */
export interface MdsColumn {
  name: string;
  /** As the writer names it: `jpeg`, `int`, `ndarray:float32:3,224,224`. */
  encoding: string;
  /** Bytes of each value; null where they differ from sample to sample. */
  fixedBytes: number | null;
}

/** A shard as an `index.json` names it. */
export interface MdsShard {
  key: string;
  sizeBytes: number;
  samples: number;
  columns: readonly MdsColumn[];
  /** The compressed file in its place, or beside it; null where there was none written. */
  compressed: { key: string; compression: string } | null;
  /** Names of the algorithms of which the index has sums of the shard. */
  hashes: readonly string[];
}

const FILE = z.object({
  basename: z.string().min(1),
  bytes: z.int().min(0),
  hashes: z.record(z.string(), z.string()).nullish(),
});

const SHARD = z.object({
  version: z.literal(2),
  format: z.literal('mds'),
  column_names: z.array(z.string()).min(1),
  column_encodings: z.array(z.string()),
  column_sizes: z.array(z.int().min(1).nullable()),
  compression: z.string().nullish(),
  raw_data: FILE,
  zip_data: FILE.nullish(),
  samples: z.int().min(0),
});

const INDEX = z.object({ version: z.literal(2), shards: z.array(z.unknown()) });

const MEND = 'write the data set again with streaming.MDSWriter, or leave this index.json out of the prefix';

/**
 * Shards of an `index.json` of MosaicML Streaming (version 2), in its order. What a merged index names in sub-folders is found there.
 * @param key the index's own key: shards are named relative to its folder
 * @throws Os2gError `bad_index`, `unsupported_data`
 */
export function parseMdsIndex(key: string, bytes: Uint8Array): MdsShard[] {
  const document = parseJson(key, bytes);
  const parsed = INDEX.safeParse(document);
  if (!parsed.success) {
    throw badIndex(key, `it is no MDS index: ${schemaProblem(document, parsed.error)}`, MEND);
  }
  return parsed.data.shards.map((shard, n) => readShard(key, n, shard));
}

function parseJson(key: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw badIndex(key, 'it is not JSON', MEND, error);
  }
}

function readShard(key: string, n: number, document: unknown): MdsShard {
  refuseOtherFormat(key, n, document);
  const parsed = SHARD.safeParse(document);
  if (!parsed.success) {
    throw badIndex(key, `of shard ${n}, ${schemaProblem(document, parsed.error)}`, MEND);
  }
  const { column_names, column_encodings, column_sizes, raw_data, zip_data, compression, samples } =
    parsed.data;
  if (column_names.length !== column_sizes.length || column_names.length !== column_encodings.length) {
    const counts = `${column_names.length} column_names, ${column_encodings.length} column_encodings, ${column_sizes.length} column_sizes`;
    throw badIndex(key, `shard ${n} has ${counts}`, MEND);
  }
  if (new Set(column_names).size < column_names.length) {
    throw badIndex(key, `shard ${n} has two columns of one name`, MEND);
  }
  const keyOf = (basename: string) => fileKey(key, n, basename);
  return {
    key: keyOf(raw_data.basename),
    sizeBytes: raw_data.bytes,
    samples,
    columns: column_names.map((name, i) => ({
      name,
      encoding: column_encodings[i]!,
      fixedBytes: column_sizes[i]!,
    })),
    compressed:
      zip_data == null
        ? null
        : { key: keyOf(zip_data.basename), compression: compression ?? 'an unnamed compression' },
    hashes: Object.keys(raw_data.hashes ?? {}),
  };
}

/** Streaming also writes JSON, CSV and TSV shards, under the same index. */
function refuseOtherFormat(key: string, n: number, document: unknown): void {
  if (typeof document !== 'object' || document === null || !('format' in document)) return;
  const { format } = document;
  if (format !== 'json' && format !== 'csv' && format !== 'tsv') return;
  throw unsupportedData(
    key,
    `shard ${n} is of the format ${format}; of MosaicML Streaming's formats, mds is read`,
    'write the data set with streaming.MDSWriter',
  );
}
