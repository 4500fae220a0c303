import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../runtime-node/package-root.js';

const script = (name: string): Promise<Record<string, (...args: never[]) => unknown>> =>
  import(pathToFileURL(join(packageRoot, 'scripts', 'lib', name)).href);
const folder = mkdtempSync(join(tmpdir(), 'os2g-scripts-'));
test.after(() => rmSync(folder, { recursive: true }));

const totals = (total: number, passed: number, skipped = 0): string =>
  `• ✘   (${passed} / ${total})\n\n  Total:     ${total}\n  Passed:    ${passed}\n  Skipped:   ${skipped}\n  Duration:  1.00ms\n\n`;

test('what a test file printed, as numbers: nothing that went wrong counts as passed', async () => {
  const { readReport } = (await script('uvu-report.js')) as {
    readReport(
      output: string,
      end: object,
    ): { passed: number; failed: number; skipped: number; reasons: string[]; problem: string | null };
  };
  const fine = { code: 0, signal: null, timedOut: false, leftBehind: false };
  const cases: [string, object, [number, number, number], RegExp | null][] = [
    [totals(3, 3), {}, [3, 0, 0], null],
    [totals(3, 2), { code: 1 }, [2, 1, 0], null],
    [totals(3, 1), {}, [1, 2, 0], null], // a `before` hook threw: uvu exits with 0
    [totals(2, 2, 1), {}, [2, 0, 1], null],
    [totals(0, 0, 2), {}, [0, 0, 2], null],
    [totals(0, 0), {}, [0, 1, 0], /ran no test/],
    ['', { code: 1 }, [0, 1, 0], /without a report \(exit code 1\)/],
    ['', { code: null, signal: 'SIGSEGV' }, [0, 1, 0], /SIGSEGV/],
    [totals(3, 3), { code: 7 }, [3, 1, 0], /all passed, yet/],
    [totals(3, 3), { leftBehind: true }, [3, 1, 0], /left a process/],
    ['• ', { code: null, signal: 'SIGKILL', timedOut: true }, [0, 1, 0], /in time/],
  ];
  for (const [output, end, [passed, failed, skipped], problem] of cases) {
    const result = readReport(output, { ...fine, ...end });
    assert.equal([result.passed, result.failed, result.skipped], [passed, failed, skipped], output);
    if (problem) assert.match(result.problem ?? '', problem);
    else assert.is(result.problem, null);
  }
  assert.equal(readReport(`# skip: no Python\n${totals(0, 0, 1)}`, fine).reasons, ['no Python']);
});

test('packages: what is missing or of another version, for this platform only', async () => {
  const { missingPackages } = (await script('packages.js')) as {
    missingPackages(wanted: object, installed: object): string[];
  };
  const wanted = {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '2.0.0' },
    'node_modules/b/node_modules/c': { version: '3.0.0' },
    'node_modules/here': { version: '1.0.0', optional: true, os: [process.platform], cpu: [process.arch] },
    'node_modules/elsewhere': { version: '1.0.0', optional: true, os: ['none'] },
    'node_modules/musl': { version: '1.0.0', optional: true, os: [process.platform], libc: ['musl'] },
  };
  assert.equal(missingPackages(wanted, {}), ['a', 'b', 'c', 'here']);
  const installed = { ...wanted, 'node_modules/b': { version: '1.9.0' } };
  assert.equal(missingPackages(wanted, installed), ['b']);
  assert.equal(missingPackages(wanted, wanted), []);
});

test('a Node that is too old is told so', async () => {
  const { atLeast, checkNode } = (await script('node-version.js')) as {
    atLeast(version: string, least: string): boolean;
    checkNode(version?: string): void;
  };
  for (const [version, wanted] of [
    ['20.18.1', true],
    ['20.18.0', false],
    ['20.19.0', true],
    ['18.20.4', false],
    ['22.0.0', true],
  ] as const) {
    assert.is(atLeast(version, '>=20.18.1'), wanted, version);
  }
  assert.throws(() => checkNode('18.20.4'), /Node 18\.20\.4 is too old/);
  checkNode();
});

test('the lock: one after the other, and a dead holder does not keep it', async () => {
  const { withLock } = (await script('lock.js')) as {
    withLock<T>(folder: string, work: () => Promise<T>): Promise<T>;
  };
  const lock = join(folder, 'lock');
  let inside = 0;
  const work = async (): Promise<void> => {
    assert.is(++inside, 1);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
  };
  await Promise.all([withLock(lock, work), withLock(lock, work)]);
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  mkdirSync(lock);
  writeFileSync(join(lock, 'pid'), String(pid));
  await withLock(lock, work);
  assert.not.ok(existsSync(lock));
});

test('a checkout that is not built says so, in the form that was asked for', () => {
  mkdirSync(join(folder, 'bin'));
  for (const file of ['package.json', 'bin/os2g.js']) {
    writeFileSync(join(folder, file), readFileSync(join(packageRoot, file)));
  }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'bin/os2g.js'), 'demo', '--json'],
    {
      encoding: 'utf8',
    },
  );
  assert.is(status, 2);
  assert.is(JSON.parse(stdout).error.code, 'not_built');
  assert.match(stderr, /npm run setup/);
});

test.run();
