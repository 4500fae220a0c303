import type { ImageSize } from './image-size.js';

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Length 13, then `IHDR`: the first chunk of every PNG file (https://www.w3.org/TR/png-3/#11IHDR). */
const HEADER_CHUNK = [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
const LARGEST = 2 ** 31 - 1;

export function isPng(bytes: Uint8Array): boolean {
  return startsWith(bytes, 0, SIGNATURE);
}

/** @param bytes the start of a PNG file */
export function pngSize(bytes: Uint8Array): ImageSize | null {
  if (bytes.length < 24 || !startsWith(bytes, SIGNATURE.length, HEADER_CHUNK)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  return isSide(width) && isSide(height) ? { width, height } : null;
}

function isSide(pixels: number): boolean {
  return pixels > 0 && pixels <= LARGEST;
}

function startsWith(bytes: Uint8Array, at: number, wanted: readonly number[]): boolean {
  return bytes.length >= at + wanted.length && wanted.every((byte, i) => bytes[at + i] === byte);
}
