import type { ImageSize } from './image-size.js';

/** Markers of ITU-T T.81, table B.1. */
const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const TEM = 0x01;
const FIRST_RST = 0xd0;
const LAST_RST = 0xd7;
/** In the range of the frame headers, and none: Huffman tables, an extension, arithmetic conditioning. */
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc]);

export function isJpeg(bytes: Uint8Array): boolean {
  return bytes.length >= 3 && bytes[0] === 0xff && bytes[1] === SOI && bytes[2] === 0xff;
}

/**
 * Goes from marker to marker up to the frame header.
 * @param bytes part of a JPEG file
 * @param start where in the file `bytes` begin
 * @param at where in the file the next marker is, within or just after `bytes`
 * @returns the size; null where the file is damaged or has none before its data; or the place of a marker that does not lie in `bytes`
 */
export function findJpegSize(bytes: Uint8Array, start: number, at: number): ImageSize | null | number {
  let i = at - start;
  for (;;) {
    const marker = i;
    if (i >= bytes.length) return start + marker;
    if (bytes[i] !== 0xff) return null;
    while (bytes[i] === 0xff) i++;
    const code = bytes[i++];
    if (code === undefined) return start + marker;
    if (code === TEM || (code >= FIRST_RST && code <= LAST_RST)) continue;
    if (code === 0 || code === SOI || code === EOI || code === SOS) return null;
    const isFrame = code >= 0xc0 && code <= 0xcf && !NO_FRAME.has(code);
    if (i + (isFrame ? 7 : 2) > bytes.length) return start + marker;
    const segmentBytes = word(bytes, i);
    if (segmentBytes < 2) return null;
    if (isFrame) return segmentBytes < 8 ? null : frameSize(bytes, i);
    i += segmentBytes;
  }
}

/** A height of 0 says that it follows after the first scan (a DNL segment): not looked for. */
function frameSize(bytes: Uint8Array, at: number): ImageSize | null {
  const [height, width] = [word(bytes, at + 3), word(bytes, at + 5)];
  return height > 0 && width > 0 ? { width, height } : null;
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}
