import { existsSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { SetupError, say } from './lib/fail.js';
import { inRoot } from './lib/root.js';
import { run } from './lib/run.js';
import { contentHash, filesUnder, installedVersion, readStamp, writeStamp } from './lib/stamp.js';

const STAMP = inRoot('dist', '.ts.stamp');

function sources() {
  const folders = JSON.parse(readFileSync(inRoot('tsconfig.json'), 'utf8')).include.map(
    (glob) => glob.split('/')[0],
  );
  return [...new Set(folders)].flatMap((folder) =>
    filesUnder(inRoot(folder), (path) => path.endsWith('.ts')),
  );
}

/** Removes what the compiler made of sources that are gone: a test that no longer exists must not run. */
function removeOrphans() {
  for (const file of filesUnder(inRoot('dist'), (path) => /\.(d\.ts|js)$/.test(path))) {
    const source = inRoot(relative(inRoot('dist'), file).replace(/\.(d\.ts|js)$/, '.ts'));
    if (!existsSync(source)) rmSync(file);
  }
}

/** Compiles TypeScript to dist/; does nothing when sources, configuration and compiler are as they were. */
export async function buildTypeScript() {
  const hash = contentHash([inRoot('tsconfig.json'), ...sources()], [installedVersion('typescript')]);
  if (readStamp(STAMP) === hash) return;
  say('compiling TypeScript to dist/');
  rmSync(STAMP, { force: true });
  const result = await run(process.execPath, [
    inRoot('node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    inRoot('tsconfig.json'),
  ]);
  if (result.code !== 0) {
    throw new SetupError('TypeScript does not compile', 'mend what the compiler names above', result.output);
  }
  removeOrphans();
  writeStamp(STAMP, hash);
}
