import * as zlib from 'node:zlib';
import { type CompressionCodec, snappyUncompress } from 'hyparquet';
import { checkSnappy } from './snappy-bounds.js';

/** Makes `size` bytes of a page, in memory of their own, or throws. Never more, whatever the page says. */
type Codec = (page: Uint8Array, size: number) => Uint8Array<ArrayBuffer>;

/** Node has it from version 22.15 on. */
const zstd: unknown = Reflect.get(zlib, 'zstdDecompressSync');

const CODECS: Partial<Record<CompressionCodec, Codec>> = {
  UNCOMPRESSED: (page) => new Uint8Array(page),
  SNAPPY(page, size) {
    checkSnappy(page, size);
    const bytes = new Uint8Array(size);
    snappyUncompress(page, bytes);
    return bytes;
  },
  GZIP: (page, size) => new Uint8Array(zlib.gunzipSync(page, { maxOutputLength: Math.max(size, 1) })),
  BROTLI: (page, size) =>
    new Uint8Array(zlib.brotliDecompressSync(page, { maxOutputLength: Math.max(size, 1) })),
  ...(typeof zstd === 'function'
    ? {
        ZSTD: (page: Uint8Array, size: number) =>
          new Uint8Array(zstd(page, { maxOutputLength: Math.max(size, 1) })),
      }
    : {}),
};

/** Names of the compressions that are read here. */
export const READ_CODECS: readonly string[] = Object.keys(CODECS);

/** @throws Error where the page is damaged, or is not `size` bytes */
export function decompress(codec: CompressionCodec, page: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  // Of no values, some writers compress nothing, others write an empty block.
  if (size === 0 && page.length === 0) return new Uint8Array(0);
  const bytes = CODECS[codec]!(page, size);
  if (bytes.length !== size) throw new RangeError(`${bytes.length} bytes instead of ${size}`);
  return bytes;
}
