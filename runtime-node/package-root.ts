import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function find(): { root: string; version: string } {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const file = join(folder, 'package.json');
    if (existsSync(file)) {
      const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
      if (name === 'os2g') return { root: folder, version: version ?? '0.0.0' };
    }
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`package.json of os2g not found above ${import.meta.url}`);
    folder = parent;
  }
}

const found = find();
/** Folder that holds os2g's package.json, `build/` and `docs/`. */
export const packageRoot = found.root;
export const packageVersion = found.version;
