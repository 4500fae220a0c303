import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './root.js';

/** All files under a folder, sorted, that `wanted` accepts. @param {string} folder @param {(path: string) => boolean} wanted */
export function filesUnder(folder, wanted) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter(wanted)
    .sort();
}

/** One hash over names and contents. @param {string[]} files @param {string[]} [facts] other things that matter */
export function contentHash(files, facts = []) {
  const hash = createHash('sha256');
  for (const fact of facts) hash.update(`${fact}\0`);
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** The hash that the last successful build left, or null. @param {string} stampFile */
export function readStamp(stampFile) {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8').trim() : null;
}

/** @param {string} stampFile @param {string} hash */
export function writeStamp(stampFile, hash) {
  mkdirSync(dirname(stampFile), { recursive: true });
  const temporary = `${stampFile}.${process.pid}`;
  writeFileSync(temporary, `${hash}\n`);
  renameSync(temporary, stampFile);
}

/** Version of an installed package, as part of what an output depends on. @param {string} name */
export function installedVersion(name) {
  const file = join(root, 'node_modules', name, 'package.json');
  return `${name}@${existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : 'missing'}`;
}
