// Runs the uvu suites of dist/test, each file in a process of its own: those that depend on the core once for each of its
// builds, the others once. The last line is the sum: `N passed, N failed`.
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

const USAGE = `node scripts/test.js [--only PATTERN] [--core debug,release,wasi] [--jobs N] [--timeout SECONDS] [--verbose]
  --only PATTERN   only files whose path matches this regular expression
  --core LIST      builds of the core to run its suites with (default: all three)
  --jobs N         files at a time (default: 2, or 1 on a single core)
  --timeout S      longest time for one file (default: 300)
  --verbose        print what passing files print, too`;

function options() {
  const text = (fallback) => ({ type: 'string', default: fallback });
  const { values } = parseArgs({
    options: {
      only: text(''),
      core: text(CORE_BUILDS.join(',')),
      jobs: text(String(Math.min(2, availableParallelism()))),
      timeout: text(process.env.OS2G_TEST_TIMEOUT_S ?? '300'),
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const builds = values.core.split(',');
  const numbers = [Number(values.jobs), Number(values.timeout)];
  if (builds.some((build) => !CORE_BUILDS.includes(build)) || numbers.some((value) => !(value > 0))) {
    throw new SetupError('an option of scripts/test.js is wrong', USAGE);
  }
  return {
    help: values.help,
    verbose: values.verbose,
    only: new RegExp(values.only),
    builds,
    jobs: numbers[0],
    timeoutMs: numbers[1] * 1000,
  };
}

/** One entry for each process to run: the file and the build of the core. */
function plan({ only, builds }) {
  const files = filesUnder(inRoot('dist', 'test'), (path) => path.endsWith('.test.js')).map((file) => ({
    file,
    name: relative(inRoot('dist'), file).replaceAll('\\', '/'),
  }));
  const dependsOnCore = ({ name }) => CORE_ROOMS.includes(name.split('/')[1]);
  const wanted = files.filter(({ name }) => only.test(name));
  return [
    ...builds.flatMap((core) => wanted.filter(dependsOnCore).map((entry) => ({ ...entry, core }))),
    ...wanted.filter((entry) => !dependsOnCore(entry)).map((entry) => ({ ...entry, core: null })),
  ];
}

/** What the tests are told: the build under test, and Python only where its packages are whole. */
function environment(core) {
  const env = { ...process.env, NO_COLOR: '1' };
  delete env.FORCE_COLOR;
  if (core) env.OS2G_CORE = core;
  const missing = pythonMissing();
  if (missing) return { ...env, OS2G_PYTHON_MISSING: missing };
  return { ...env, OS2G_PYTHON: venvPython, PATH: `${venvBin}${delimiter}${env.PATH ?? ''}` };
}

function report({ name, core }, result, seconds, output, verbose) {
  const where = core ? `${name} [${core}]` : name;
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
      const { output, ...end } = await runTestFile(entry.file, environment(entry.core), timeoutMs);
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
  for (const { name, core } of done.filter((entry) => entry.failed > 0)) {
    process.stdout.write(`failed: ${name}${core ? ` [${core}]` : ''}\n`);
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
  const done = await runAll(plan(chosen), chosen);
  summary(done);
  if (done.length === 0 || sum(done).failed > 0) process.exitCode = 1;
});
