import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../../runtime-node/package-root.js';

export type FoundWeed = { readonly path: string } | { readonly path: null; readonly reason: string };

/** SeaweedFS's command: the one that the set-up put into .venv, else one on the PATH, else why there is none. */
export function findWeed(env: NodeJS.ProcessEnv = process.env): FoundWeed {
  const folders = [join(packageRoot, '.venv', 'bin'), ...(env.PATH ?? '').split(delimiter)];
  const path = folders.map((folder) => join(folder, 'weed')).find((file) => existsSync(file));
  if (path !== undefined) return { path };
  return { path: null, reason: `SeaweedFS (weed): ${env.OS2G_PYTHON_MISSING ?? 'not found'}` };
}
