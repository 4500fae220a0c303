import type { ListedObject } from '../../s3/listing.js';
import type { RangeReader } from '../format.js';
import { findJpegSize, isJpeg } from './jpeg-head.js';
import { isPng, pngSize } from './png-head.js';

/** Pixels, as they are stored: an EXIF orientation is not applied. */
export interface ImageSize {
  width: number;
  height: number;
}

/** Bytes of one read. The frame header of most JPEG files, and that of every PNG file, lies in the first of them. */
const READ_BYTES = 1024;
/** Reads of one picture: its start, and one for each block of metadata (EXIF, ICC, ...) that reaches beyond what was read. */
const MOST_READS = 64;

/**
 * Width and height of the JPEG or PNG picture that is `length` bytes at `offset` of an object. One request of 1 KiB where the
 * header lies there; another one for each block of metadata that pushes it out, of which only the length is looked at, so that
 * a thumbnail inside is never taken for the picture.
 *
 * @returns null where there is no such picture, or it is damaged: the caller counts those
 * @throws StoreError of the reader
 */
export async function readImageSize(
  reader: RangeReader,
  object: ListedObject,
  offset: number,
  length: number,
  signal?: AbortSignal,
): Promise<ImageSize | null> {
  const bytesAt = (at: number) => reader.read(object, offset + at, Math.min(READ_BYTES, length - at), signal);
  if (length <= 0) return null;
  let start = 0;
  let bytes = await bytesAt(0);
  if (isPng(bytes)) return pngSize(bytes);
  if (!isJpeg(bytes)) return null;
  let next = 2;
  for (let reads = 1; ; reads++) {
    const found = findJpegSize(bytes, start, next);
    if (typeof found !== 'number') return found;
    if (reads === MOST_READS || found <= start || found >= length) return null;
    start = found;
    next = found;
    bytes = await bytesAt(start);
    if (bytes.length === 0) return null;
  }
}
