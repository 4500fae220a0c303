import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main, SetupError, say } from './lib/fail.js';
import { inRoot } from './lib/root.js';
import { run } from './lib/run.js';
import { contentHash, filesUnder, installedVersion, readStamp, writeStamp } from './lib/stamp.js';

const STAMP = inRoot('build', '.core.stamp');
const targets = () => JSON.parse(readFileSync(inRoot('asconfig.json'), 'utf8')).targets;

const sha256 = (file) =>
  existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : 'missing';

/** What the builds are made of and what they came to: a binary that was changed or lost is built again. */
function state() {
  const sources = [
    inRoot('asconfig.json'),
    ...filesUnder(inRoot('assembly'), (path) => path.endsWith('.ts')),
  ];
  const outputs = Object.values(targets()).map(({ outFile }) => `${outFile} ${sha256(inRoot(outFile))}`);
  const tools = ['assemblyscript', '@assemblyscript/wasi-shim'].map(installedVersion);
  return contentHash(sources, [...tools, ...outputs]);
}

/** Compiles beside its place and moves it there, so that nobody ever loads half a binary. */
async function buildTarget(name, { outFile, entries = [] }) {
  const temporary = inRoot('build', `.${name}.${process.pid}.wasm`);
  try {
    const result = await run(process.execPath, [
      inRoot('node_modules', 'assemblyscript', 'bin', 'asc.js'),
      // asc knows entries of the whole configuration only; a target's own come before them.
      ...entries,
      '--target',
      name,
      '--outFile',
      temporary,
    ]);
    if (result.code !== 0) {
      throw new SetupError(
        `the core's ${name} target does not compile`,
        'mend what the compiler names above',
        result.output,
      );
    }
    renameSync(temporary, inRoot(outFile));
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Builds the three targets of asconfig.json; does nothing when sources, compiler and binaries are as they were. */
export async function buildCore() {
  if (readStamp(STAMP) === state()) return;
  if (!existsSync(inRoot('assembly', 'index.ts'))) {
    throw new SetupError('assembly/index.ts is missing', 'restore it: the checkout is not complete');
  }
  say(`building the core: ${Object.keys(targets()).join(', ')}`);
  mkdirSync(inRoot('build'), { recursive: true });
  for (const [name, target] of Object.entries(targets())) await buildTarget(name, target);
  writeStamp(STAMP, state());
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) await main(buildCore);
