import { readFileSync } from 'node:fs';
import { SetupError } from './fail.js';
import { inRoot } from './root.js';

const numbers = (version) =>
  version
    .replace(/^[^\d]*/, '')
    .split('.')
    .map(Number);

/** @param {string} version @param {string} least */
export function atLeast(version, least) {
  const [have, want] = [numbers(version), numbers(least)];
  for (let i = 0; i < 3; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

export function checkNode(version = process.versions.node) {
  const { engines } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  if (!atLeast(version, engines.node)) {
    throw new SetupError(
      `Node ${version} is too old: os2g needs ${engines.node}`,
      'install a newer Node and try again',
    );
  }
}
