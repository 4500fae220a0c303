// Long runs of the fuzz suites: `npm run fuzz -- 25MB` gives each of their tests so many bytes of damaged input, and sums by kind what
// came of them. In `npm test` the same suites run for seconds.
import { readFileSync } from 'node:fs';
import { main, SetupError } from './lib/fail.js';
import { venvPython } from './lib/python.js';
import { inRoot } from './lib/root.js';
import { filesUnder } from './lib/stamp.js';
import { runTestFile } from './lib/test-file.js';

const USAGE = 'npm run fuzz -- BYTES [SEED]   for example: npm run fuzz -- 25MB';

/** No suite is that slow. */
const HANG_MS = 3_600_000;

/** Suites that use the tally of test/fuzz/mutations.ts, wherever they stand. */
function suites() {
  const all = filesUnder(inRoot('dist', 'test'), (path) => path.endsWith('.test.js'));
  return all.filter((path) => readFileSync(path, 'utf8').includes('mutations.js'));
}

function add(sums, line) {
  const { kind, inputs, bytes, refused, taken } = JSON.parse(line.slice(line.indexOf('fuzz {') + 5));
  const sum = sums.get(kind) ?? { kind, inputs: 0, bytes: 0, taken: 0, refused: {} };
  for (const [code, count] of Object.entries(refused)) sum.refused[code] = (sum.refused[code] ?? 0) + count;
  sums.set(kind, { ...sum, inputs: sum.inputs + inputs, bytes: sum.bytes + bytes, taken: sum.taken + taken });
}

function tell({ kind, inputs, bytes, refused, taken }) {
  const codes = Object.entries(refused).map(([code, count]) => `${count} ${code}`);
  const megabytes = (bytes / 1e6).toFixed(1);
  console.log(
    `${kind.padEnd(16)} ${megabytes.padStart(8)} MB  ${inputs} inputs: ${taken} taken, refused: ${codes.join(', ') || 'none'}`,
  );
}

await main(async () => {
  const [bytes, seed] = process.argv.slice(2);
  if (bytes === undefined) throw new SetupError('the bytes of each test are not given', USAGE);
  const env = { ...process.env, OS2G_FUZZ_BYTES: bytes, OS2G_PYTHON: venvPython };
  if (seed !== undefined) env.OS2G_FUZZ_SEED = seed;
  const sums = new Map();
  for (const suite of suites()) {
    const { code, output, timedOut } = await runTestFile(suite, env, HANG_MS);
    if (code !== 0)
      throw new SetupError(`${suite} ${timedOut ? 'hangs' : 'failed'}`, 'read what it says', output);
    for (const line of output.split('\n')) if (line.includes('fuzz {')) add(sums, line);
  }
  for (const sum of sums.values()) tell(sum);
  const total = [...sums.values()].reduce((all, sum) => all + sum.bytes, 0);
  console.log(`${(total / 1e6).toFixed(1)} MB: no crash, no hang, nothing short`);
});
