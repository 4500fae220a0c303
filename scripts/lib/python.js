import { existsSync } from 'node:fs';
import { SetupError, say } from './fail.js';
import { inRoot } from './root.js';
import { run } from './run.js';
import { contentHash, readStamp, writeStamp } from './stamp.js';

const VENV = inRoot('.venv');
const STAMP = inRoot('.venv', '.os2g-stamp');
const REQUIREMENTS = inRoot('scripts', 'python-requirements.txt');
const BIN = process.platform === 'win32' ? 'Scripts' : 'bin';

/** The interpreter that the tests use, with the packages they need. */
export const venvPython = inRoot('.venv', BIN, 'python');
/** Folder of the commands that the packages bring (`weed`, `ruff`). */
export const venvBin = inRoot('.venv', BIN);

async function step(command, args, what) {
  const result = await run(command, args);
  if (result.code === 0) return;
  throw new SetupError(
    result.missing ? `${command} is not on the PATH` : `${what} failed with exit code ${result.code}`,
    'install python3 with its venv module (Debian: apt-get install python3-venv) and see that a package index can be reached',
    result.output,
  );
}

/** Makes .venv with the pinned packages; does nothing when it is there and works. */
export async function installPython() {
  const hash = contentHash([REQUIREMENTS]);
  if (readStamp(STAMP) === hash && (await run(venvPython, ['-c', 'pass'])).code === 0) return;
  say('making .venv with the Python packages that the tests use');
  const python = process.env.OS2G_SETUP_PYTHON ?? 'python3';
  await step(python, ['-m', 'venv', '--clear', VENV], `${python} -m venv`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS];
  await step(venvPython, pip, 'pip install');
  writeStamp(STAMP, hash);
}

/** Why Python is not to be had for the tests, or null. */
export function pythonMissing() {
  if (!existsSync(venvPython)) return 'there is no .venv: Python 3 or its packages could not be installed';
  if (readStamp(STAMP) !== contentHash([REQUIREMENTS])) return '.venv lacks packages that the tests use';
  return null;
}
