// Runs the uvu suites of dist/test, each file in a process of its own: those that depend on the core once for each of its
// builds, those that read from a store once for each engine, the others once. The last line is the sum: `N passed, N failed`.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { main, SetupError } from './lib/fail.js';
import { pythonMissing, venvBin, venvPython } from './lib/python.js';
import { inRoot } from './lib/root.js';
import { filesUnder } from './lib/stamp.js';
import { killAll, runTestFile } from './lib/test-file.js';
import { countsLine, readReport, sum } from './lib/uvu-report.js';

const CORE_BUILDS = ['debug', 'release', 'wasi'];
const CORE_ROOMS = ['core', 'kit', 'feed'];
const ENGINES = ['portable', 'native'];
const ENGINE_ROOMS = ['cases', 'engine', 'feed', 'integration', 's3'];

const USAGE = `node scripts/test.js [--only PATTERN] [--core debug,release,wasi] [--jobs N] [--timeout SECONDS] [--verbose]
  --only PATTERN   only files whose path matches this regular expression
  --core LIST      builds of the core to run its suites with (default: all three)
  --engine LIST    engines to run the suites that read from a store with (default: portable,native)
  --jobs N         files at a time (default: 2, or 1 on a single core)
  --timeout S      longest time for one file (default: 300)
  --verbose        print what passing files print, too`;

function options() {
  const text = (fallback) => ({ type: 'string', default: fallback });
  const { values } = parseArgs({
    options: {
      only: text(''),
      core: text(CORE_BUILDS.join(',')),
      engine: text(ENGINES.join(',')),
      jobs: text(String(Math.min(2, availableParallelism()))),
      timeout: text(process.env.OS2G_TEST_TIMEOUT_S ?? '300'),
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const builds = values.core.split(',');
  const engines = values.engine.split(',');
  const numbers = [Number(values.jobs), Number(values.timeout)];
  const unknown =
    builds.some((build) => !CORE_BUILDS.includes(build)) || engines.some((name) => !ENGINES.includes(name));
  if (unknown || numbers.some((value) => !(value > 0))) {
    throw new SetupError('an option of scripts/test.js is wrong', USAGE);
  }
  return {
    help: values.help,
    verbose: values.verbose,
    only: new RegExp(values.only),
    builds,
    engines,
    jobs: numbers[0],
    timeoutMs: numbers[1] * 1000,
  };
}

/** The native engine is tested where it is built; where it must be (CI), its lack is an error. */
async function enginesHere(engines) {
  if (!engines.includes('native')) return engines;
  const { loadNative } = await import(inRoot('dist', 'runtime-node', 'native', 'load.js'));
  const native = loadNative();
  if (native.module !== null) return engines;
  if (process.env.OS2G_REQUIRE_NATIVE === '1') {
    throw new SetupError(`there is no native module to test: ${native.why}`, native.mend);
  }
  process.stdout.write(`the native engine is not tested: ${native.why}\n`);
  return engines.filter((name) => name !== 'native');
}

/**
 * One entry for each process to run: the file, the build of the core, and the engine. What depends on both runs with each
 * build over the portable engine, and with the release build over the native one.
 */
function plan({ only, builds }, engines) {
  const files = filesUnder(inRoot('dist', 'test'), (path) => path.endsWith('.test.js')).map((file) => ({
    file,
    name: relative(inRoot('dist'), file).replaceAll('\\', '/'),
  }));
  const wanted = files.filter(({ name }) => only.test(name));
  const entries = wanted.flatMap((entry) => {
    const room = entry.name.split('/')[1];
    const cores = CORE_ROOMS.includes(room) ? builds : [null];
    const over =
      room === 'native'
        ? engines.filter((name) => name === room)
        : ENGINE_ROOMS.includes(room)
          ? engines
          : [null];
    return cores.flatMap((core) => over.map((engine) => ({ ...entry, core, engine })));
  });
  const nativeBuild = builds.includes('release') ? 'release' : builds[0];
  const isWanted = ({ core, engine }) => engine !== 'native' || core === null || core === nativeBuild;
  const rank = ({ core }) => (core === null ? CORE_BUILDS.length : CORE_BUILDS.indexOf(core));
  return entries.filter(isWanted).sort((a, b) => rank(a) - rank(b));
}

/** What the tests are told: the build and the engine under test, and Python only where its packages are whole. */
function environment({ core, engine }) {
  const env = { ...process.env, NO_COLOR: '1' };
  delete env.FORCE_COLOR;
  if (core) env.OS2G_CORE = core;
  if (engine) env.OS2G_TEST_ENGINE = engine;
  if (engine === 'portable') env.OS2G_NATIVE = 'off';
  const missing = pythonMissing();
  if (missing) return { ...env, OS2G_PYTHON_MISSING: missing };
  return { ...env, OS2G_PYTHON: venvPython, PATH: `${venvBin}${delimiter}${env.PATH ?? ''}` };
}

const placeOf = ({ name, core, engine }) => {
  const of = [core, engine].filter((part) => part !== null).join(', ');
  return of === '' ? name : `${name} [${of}]`;
};

function report(entry, result, seconds, output, verbose) {
  const where = placeOf(entry);
  const failed = result.failed > 0;
  process.stdout.write(
    `${failed ? 'FAIL' : 'ok  '} ${where}: ${countsLine(result)} (${seconds.toFixed(1)} s)\n`,
  );
  if (result.problem) process.stdout.write(`     ${result.problem}\n`);
  if (failed || verbose) process.stdout.write(`${output.trimEnd()}\n`);
  for (const reason of new Set(result.reasons)) process.stdout.write(`     skipped: ${reason}\n`);
}

async function runAll(entries, { jobs, timeoutMs, verbose }) {
  const waiting = [...entries];
  const done = [];
  const worker = async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      const begin = performance.now();
      const { output, ...end } = await runTestFile(entry.file, environment(entry), timeoutMs);
      const result = readReport(output, end);
      report(entry, result, (performance.now() - begin) / 1000, output, verbose);
      done.push({ ...entry, ...result });
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return done;
}

function summary(done) {
  process.stdout.write('\n');
  const runners = [...CORE_BUILDS.map((core) => [`core ${core}`, core]), ['other suites', null]];
  for (const [title, core] of runners) {
    const part = done.filter((entry) => entry.core === core);
    if (part.length > 0) process.stdout.write(`${title} (${part.length} files): ${countsLine(sum(part))}\n`);
  }
  for (const entry of done.filter(({ failed }) => failed > 0)) {
    process.stdout.write(`failed: ${placeOf(entry)}\n`);
  }
  process.stdout.write(`${countsLine(sum(done))}\n`);
}

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(signal, () => {
    killAll();
    process.exit(code);
  });
}

await main(async () => {
  const chosen = options();
  if (chosen.help) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  if (!existsSync(inRoot('dist', 'test'))) {
    throw new SetupError('dist/test is missing', 'run `npm test`, which builds first');
  }
  const done = await runAll(plan(chosen, await enginesHere(chosen.engines)), chosen);
  summary(done);
  if (done.length === 0 || sum(done).failed > 0) process.exitCode = 1;
});
