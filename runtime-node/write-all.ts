import { writeSync } from 'node:fs';

/** Writes all bytes at a place of a file: the system may take fewer at one time. */
export function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, position + at);
}
