import { createCipheriv } from 'node:crypto';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const BUCKET = 'bench';
export const REGION = 'us-east-1';
/** Together more than most machines' caches, so that the store does not send from one. */
const SET_BYTES = 64 * 2 ** 20;
const LEAST_OBJECTS = 8;

/** The files that the store serves: whole objects of one size, no two alike. */
export interface ObjectSet {
  /** Folder that the store serves; bucket and key name a file in it. */
  root: string;
  keys: string[];
  objectBytes: number;
}

/** @param folder holds them in memory, so that no disk is measured */
export function makeObjects(folder: string, objectBytes: number): ObjectSet {
  const count = Math.max(LEAST_OBJECTS, Math.ceil(SET_BYTES / objectBytes));
  const keys = Array.from({ length: count }, (_, n) => `train/${String(n).padStart(8, '0')}.bin`);
  const zeros = Buffer.alloc(objectBytes);
  mkdirSync(join(folder, BUCKET, 'train'), { recursive: true });
  keys.forEach((key, n) => {
    const path = join(folder, BUCKET, key);
    writeFileSync(path, bytesOf(n, zeros));
    utimesSync(path, 1_700_000_000, 1_700_000_000); // nginx makes the ETag of time and length: one for all
  });
  return { root: folder, keys, objectBytes };
}

/** A key stream: as random as bytes can look, and quickly made. */
function bytesOf(n: number, zeros: Buffer): Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32LE(n + 1);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(zeros);
}
