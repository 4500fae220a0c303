// Makes a fresh clone ready: packages, core, TypeScript, the native module; with --test also the Python packages of the tests. Plain Node
// without dependencies, since there may be none yet. What is up to date is left alone.
import { buildCore } from './build-core.js';
import { buildNative } from './build-native.js';
import { buildTypeScript } from './build-ts.js';
import { main, SetupError, say } from './lib/fail.js';
import { withLock } from './lib/lock.js';
import { checkNode } from './lib/node-version.js';
import { installPackages } from './lib/packages.js';
import { installPython } from './lib/python.js';
import { inRoot } from './lib/root.js';

/** Without Python the tests that need it are skipped, by name; where they must run (CI), that is an error. */
async function pythonForTests() {
  try {
    await installPython();
  } catch (error) {
    if (!(error instanceof SetupError) || process.env.OS2G_REQUIRE_PYTHON === '1') throw error;
    say(`${error.message}; the tests that need Python will be skipped`);
    say(`  to mend it: ${error.mend}`);
  }
}

await main(async () => {
  checkNode();
  await withLock(inRoot('.build', 'setup.lock'), async () => {
    await installPackages();
    await buildCore();
    await buildTypeScript();
    await buildNative();
    if (process.argv.includes('--test')) await pythonForTests();
  });
});
