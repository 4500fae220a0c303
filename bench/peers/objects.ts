import { createCipheriv } from 'node:crypto';
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

const TOTAL_BYTES = 128e6;
const MODIFIED_S = 1_665_597_000;

export interface ObjectSet {
  keys: string[];
  etags: string[];
  crc32: number[];
}

/** As many as make 128 MB, 8 to 400. */
export const objectsOf = (objectBytes: number): number =>
  Math.min(400, Math.max(8, Math.round(TOTAL_BYTES / objectBytes)));

/** Writes the objects: each has bytes of its own, so that a body in the wrong place is seen. */
export function writeObjects(folder: string, bucket: string, objectBytes: number): ObjectSet {
  const set: ObjectSet = { keys: [], etags: [], crc32: [] };
  for (let row = 0; row < objectsOf(objectBytes); row++) {
    const key = `train/class-${row % 100}/${String(row).padStart(8, '0')}.jpg`;
    const file = join(folder, bucket, key);
    const body = bodyOf(row, objectBytes);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, body);
    utimesSync(file, MODIFIED_S, MODIFIED_S);
    set.keys.push(key);
    // As nginx makes it: the time of the last change and the size in hexadecimal digits.
    set.etags.push(`"${MODIFIED_S.toString(16)}-${statSync(file).size.toString(16)}"`);
    set.crc32.push(crc32(body));
  }
  return set;
}

/** Bytes that look random, the same for a row each time. */
function bodyOf(row: number, bytes: number): Buffer {
  const counter = Buffer.alloc(16);
  counter.writeUInt32LE(row);
  return createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), counter).update(Buffer.alloc(bytes));
}
