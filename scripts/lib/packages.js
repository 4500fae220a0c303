import { existsSync, readFileSync } from 'node:fs';
import { SetupError, say } from './fail.js';
import { inRoot } from './root.js';
import { run } from './run.js';

/** A platform's own package (a compiler binary) is wanted on that platform only. */
function wantedHere(entry) {
  const fits = (list, value) => !list || list.includes(value);
  if (!fits(entry.os, process.platform) || !fits(entry.cpu, process.arch)) return false;
  // What only another platform's package asks for may be absent; so may what is for glibc or musl: that is npm's to tell.
  if (entry.optional && !entry.os && !entry.cpu) return false;
  return !entry.libc;
}

/**
 * Names what node_modules lacks of the lock file. npm leaves a copy of the lock that it installed by.
 * @param {Record<string, any>} wanted @param {Record<string, any>} installed the `packages` of both lock files
 */
export function missingPackages(wanted, installed) {
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== '' && wantedHere(entry))
    .filter(([path, entry]) => installed[path]?.version !== entry.version)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
}

function packagesOf(file) {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
  } catch {
    return {};
  }
}

/** Installs by the lock file, unless node_modules already is what the lock says. */
export async function installPackages() {
  const missing = missingPackages(
    packagesOf(inRoot('package-lock.json')),
    packagesOf(inRoot('node_modules', '.package-lock.json')),
  );
  if (missing.length === 0) return;
  say(`npm ci (${missing.length} packages are missing or of another version)`);
  const result = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    shell: process.platform === 'win32',
  });
  if (result.code === 0) return;
  throw new SetupError(
    result.missing ? 'npm is not on the PATH' : `npm ci failed with exit code ${result.code}`,
    'see its words above; when it could not reach the package registry, check network and proxy, then run this again',
    result.output,
  );
}
