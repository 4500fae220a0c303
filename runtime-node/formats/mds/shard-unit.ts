import type { ListedObject } from '../../s3/listing.js';
import type { IndexUnit, RangeReader, SampleRow } from '../format.js';
import { badShard } from '../format-error.js';
import { type HeadRead, headReads, READ_THROUGH_BYTES } from './head-reads.js';
import type { MdsShard } from './index-file.js';
import { readAhead } from './read-ahead.js';
import { SampleLayout } from './sample-layout.js';
import { MEND_SHARD, type ReadBytes, sampleBounds } from './shard-head.js';

const ROWS_AT_A_TIME = 4096;

/**
 * The samples of one shard. Where at most one column is variable, its size follows from the sample's: the shard's head is all that is
 * read, 4 bytes a sample. Where several are, their sizes are read too (`headReads` has the rule and the cost); a shard up to
 * 512 KiB then comes in one request.
 * @param plannedFrom the version of the index that names the shard
 */
export function shardUnit(shard: MdsShard, object: ListedObject, plannedFrom: string | null): IndexUnit {
  return { object, plannedFrom, rows: (reader, signal) => rowsOf(shard, object, reader, signal) };
}

async function* rowsOf(
  shard: MdsShard,
  object: ListedObject,
  reader: RangeReader,
  signal?: AbortSignal,
): AsyncGenerator<SampleRow[]> {
  const layout = new SampleLayout(shard.columns);
  const read = await shardReader(layout, object, reader, signal);
  for await (const bounds of sampleBounds(shard, object, read)) {
    if (layout.isPlain) {
      yield* rowsBetween(object, layout, bounds, 0, bounds.length - 1, null);
      continue;
    }
    checkHeadsFit(object, layout, bounds);
    const heads = readAhead(
      headReads(bounds, layout.headBytes),
      ({ from, to }) => to - from,
      ({ from, to }) => read(from, to - from),
    );
    for await (const { read: at, bytes } of heads) {
      yield* rowsBetween(object, layout, bounds, at.first, at.last, headsIn(at, bytes, layout.headBytes));
    }
  }
}

async function shardReader(
  layout: SampleLayout,
  object: ListedObject,
  reader: RangeReader,
  signal?: AbortSignal,
): Promise<ReadBytes> {
  const exactly = async (offset: number, length: number) => {
    const bytes = await reader.read(object, offset, length, signal);
    if (bytes.length === length) return bytes;
    throw badShard(object, offset, `${length} bytes were asked for, and ${bytes.length} came`, MEND_SHARD);
  };
  if (layout.isPlain || object.sizeBytes > READ_THROUGH_BYTES) return exactly;
  const whole = object.sizeBytes === 0 ? new Uint8Array(0) : await exactly(0, object.sizeBytes);
  return async (offset, length) => whole.subarray(offset, offset + length);
}

/** Sizes of the sample that begins at a byte of the shard. */
type HeadAt = (begin: number) => DataView;

function headsIn({ from }: HeadRead, bytes: Uint8Array, headBytes: number): HeadAt {
  return (begin) => new DataView(bytes.buffer, bytes.byteOffset + begin - from, headBytes);
}

/** Before sizes are asked for: they must lie in their samples, and so in the shard. */
function checkHeadsFit(object: ListedObject, layout: SampleLayout, bounds: Uint32Array): void {
  for (let i = 0; i + 1 < bounds.length; i++) {
    if (bounds[i + 1]! - bounds[i]! < layout.headBytes) throw badSample(object, bounds[i]!, bounds[i + 1]!);
  }
}

function* rowsBetween(
  object: ListedObject,
  layout: SampleLayout,
  bounds: Uint32Array,
  first: number,
  last: number,
  headAt: HeadAt | null,
): Generator<SampleRow[]> {
  for (let from = first; from < last; from += ROWS_AT_A_TIME) {
    const rows: SampleRow[] = [];
    for (let i = from; i < Math.min(last, from + ROWS_AT_A_TIME); i++) {
      rows.push(rowOf(object, layout, bounds[i]!, bounds[i + 1]!, headAt));
    }
    yield rows;
  }
}

function rowOf(
  object: ListedObject,
  layout: SampleLayout,
  begin: number,
  end: number,
  headAt: HeadAt | null,
): SampleRow {
  const fields = layout.fields(end - begin, headAt?.(begin) ?? null);
  if (fields === null) throw badSample(object, begin, end);
  return {
    key: object.key,
    offset: begin + layout.headBytes,
    length: end - begin - layout.headBytes,
    etag: object.etag,
    objectSizeBytes: object.sizeBytes,
    label: null,
    fields,
    width: null,
    height: null,
    dtype: null,
    shape: null,
  };
}

function badSample(object: ListedObject, begin: number, end: number): Error {
  return badShard(
    object,
    begin,
    `the columns that the index names do not add up to the sample's ${end - begin} bytes`,
    MEND_SHARD,
  );
}
