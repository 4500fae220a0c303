import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ConfigError } from '../../runtime-node/errors.js';
import { readCursor } from '../../runtime-node/feed/cursor-file.js';
import { writeManifest } from '../../runtime-node/manifest/arrow-file.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { type FakeOptions, inFolder, manifestOf, openFake, readAll, rejects, sizesTo } from './kit.js';

const manifest = manifestOf(sizesTo(10));
const run = { batchSamples: 2, shuffle: 'none' } as const;
const OPTIONS = ['cursorOut', 'audit', 'trace'] as const;
const FLAGS = { cursorOut: '--cursor-out', audit: '--audit', trace: '--trace' } as const;

/** What stands where an output is to be written, and what is said of it. */
const refused: [what: string, make: (path: string) => void, words: RegExp][] = [
  ['a folder', (path) => mkdirSync(path), /is a folder/],
  ['a device', (path) => symlinkSync('/dev/null', path), /is a device, a pipe or a socket/],
  ['a pipe', (path) => execFileSync('mkfifo', [path]), /is a device, a pipe or a socket/],
  ['a link to itself', (path) => symlinkSync(path, path), /cannot be written/],
  [
    'a link into nowhere',
    (path) => symlinkSync(`${path}-none/file`, path),
    /the folder .*-none does not exist/,
  ],
  ['a text', (path) => writeFileSync(path, 'notes of mine\n'), /holds something else than a/],
  [
    'JSON of another kind',
    (path) => writeFileSync(path, '{"schema":"os2g.policy/1"}'),
    /holds something else/,
  ],
  ['binary', (path) => writeFileSync(path, Buffer.alloc(200_000, 7)), /holds something else/],
];
for (const option of OPTIONS) {
  for (const [what, make, words] of refused) {
    test(`${option}: ${what} is refused and stays as it is`, () =>
      inFolder(async (folder) => {
        const path = join(folder, 'out');
        make(path);
        const before = lstatSync(path);
        const error = await rejects(openFake(manifest, { ...run, [option]: path }), 'bad_output');
        assert.match(error.message, words);
        assert.is((error.context as { option: string }).option, option);
        assert.ok(
          (error as unknown as ConfigError).told('command').message.startsWith(`${FLAGS[option]}: ${path} `),
        );
        assert.is(error.exitCode, 2);
        assert.equal([lstatSync(path).ino, lstatSync(path).size], [before.ino, before.size]);
        assert.equal(readdirSync(folder), ['out']);
      }));
  }

  test(`${option}: a file in a folder that is not there`, () =>
    inFolder(async (folder) => {
      const path = join(folder, 'no', 'such', 'out');
      const error = await rejects(openFake(manifest, { ...run, [option]: path }), 'bad_output');
      assert.match(error.message, /the folder .*such does not exist/);
    }));

  test(`${option}: an empty file and one of its own are written, also through links`, () =>
    inFolder(async (folder) => {
      const [target, link, dangling] = ['target', 'link', 'dangling'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(target, '');
      symlinkSync('target', link);
      symlinkSync(join(folder, 'later'), dangling);
      for (const path of [link, link, target, dangling]) {
        await readAll(await openFake(manifest, { ...run, [option]: path }));
      }
      assert.ok(lstatSync(link).isSymbolicLink() && lstatSync(dangling).isSymbolicLink());
      assert.is(readFileSync(target, 'latin1').length, readFileSync(join(folder, 'later'), 'latin1').length);
      assert.ok(readFileSync(target).length > 0);
    }));
}

test('an output that is an input, or another output, is refused', () =>
  inFolder(async (folder) => {
    const file = (name: string): string => join(folder, name);
    await writeManifest(
      file('m.arrow'),
      manifestFromColumns({ keys: ['a', 'b'], lengths: [1, 2], bucket: 'bucket' }),
    );
    writeFileSync(file('p.json'), '{"schema":"os2g.policy/1"}');
    await readAll(await openFake(manifest, { ...run, cursorOut: file('c.cursor') }), 2);
    symlinkSync('m.arrow', file('m-link'));
    linkSync(file('c.cursor'), file('c-hard'));
    const before = readdirSync(folder).map((name) => readFileSync(file(name), 'latin1'));
    const cases: [options: FakeOptions, option: string, words: RegExp][] = [
      [{ manifest: file('m.arrow'), cursorOut: file('m.arrow') }, 'cursorOut', /also what manifest names/],
      [{ manifest: file('m.arrow'), trace: file('m-link') }, 'trace', /also what manifest names/],
      [{ policy: file('p.json'), audit: file('p.json') }, 'audit', /also what policy names/],
      [{ resume: file('c.cursor'), audit: file('c.cursor') }, 'audit', /also what resume names/],
      [{ s3: { caBundle: file('p.json') }, trace: file('p.json') }, 'trace', /also what s3.caBundle names/],
      [{ audit: file('new'), trace: file('new') }, 'trace', /also what audit names/],
      [
        { cursorOut: file('c.cursor'), trace: file('c-hard') },
        'trace',
        /something else than a trace|also what/,
      ],
    ];
    for (const [options, option, words] of cases) {
      const error = await rejects(openFake(manifest, { ...run, ...options }), 'bad_output');
      assert.match(error.message, words);
      assert.is((error.context as { option: string }).option, option);
    }
    assert.equal(
      readdirSync(folder).map((name) => readFileSync(file(name), 'latin1')),
      before,
    );
  }));

test('two runs that name one cursor file never touch each other’s temporary file; those of the dead are removed', () =>
  inFolder(async (folder) => {
    const path = join(folder, 'run.cursor');
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    const foreign = ['.run.cursor.tmp', `.other.cursor.${gone}.0123abcd.tmp`, 'run.cursor.tmp'];
    for (const name of [...foreign, `.run.cursor.${gone}.0123abcd.tmp`])
      writeFileSync(join(folder, name), 'x');
    const runs = await Promise.all([1, 2, 3].map(() => openFake(manifest, { ...run, cursorOut: path })));
    await Promise.all(runs.map((one) => readAll(one)));
    assert.equal(readdirSync(folder).sort(), [...foreign, 'run.cursor'].sort());
    assert.is(readCursor(path).epoch, 1);
  }));

interface Told {
  info: string[];
  warn: string[];
}

function listening(): { told: Told; logger: NonNullable<FakeOptions['logger']> } {
  const told: Told = { info: [], warn: [] };
  const logger = {
    debug() {},
    info: (_: object, text: string) => void told.info.push(text),
    warn: (_: object, text: string) => void told.warn.push(text),
  };
  return { told, logger };
}

test("another run's progress is kept beside the cursor file, once, and said", () =>
  inFolder(async (folder) => {
    const cursorOut = join(folder, 'run.cursor');
    const begin = async (most: number, options: FakeOptions = {}): Promise<Told> => {
      const { told, logger } = listening();
      await readAll(await openFake(manifest, { ...run, cursorOut, logger, ...options }), most);
      return told;
    };
    const files = (): string[] => readdirSync(folder).sort();
    assert.equal((await begin(0)).warn, []);
    assert.equal((await begin(3)).warn, [], 'a cursor without progress is no loss');
    const kept = readCursor(cursorOut);
    const { warn } = await begin(2);
    assert.is(warn.length, 1);
    assert.match(
      warn[0] ?? '',
      /run\.cursor held a cursor with progress \(epoch 0, batch 3\).*run\.cursor\.previous$/,
    );
    assert.equal(readCursor(`${cursorOut}.previous`), kept);
    assert.equal((await begin(3)).warn.length, 1);
    assert.equal(files(), ['run.cursor', 'run.cursor.previous', 'run.cursor.previous-2']);
    assert.equal((await begin(3)).warn, [], 'what is kept already is not kept again');
    const progress = readCursor(cursorOut);
    for (const resume of [cursorOut, progress]) {
      assert.equal((await begin(0, { resume })).warn, [], 'the run that goes on loses nothing');
    }
    assert.is(files().length, 3);
    await begin(1, { resume: kept });
    assert.is(files().length, 3, 'the same place');
  }));

test('resume from the file of cursorOut: a run that begins, and the same call goes on', () =>
  inFolder(async (folder) => {
    const cursorOut = join(folder, 'run.cursor');
    const options = { ...run, cursorOut, resume: cursorOut };
    const { told, logger } = listening();
    const first = await readAll(await openFake(manifest, { ...options, logger }), 2);
    assert.equal([first[0]?.index, told.info.some((text) => /does not exist yet/.test(text))], [0, true]);
    const second = await readAll(await openFake(manifest, options));
    assert.is(second[0]?.index, 2);
    assert.is(second.length, 3);
    const end = listening();
    assert.equal(await readAll(await openFake(manifest, { ...options, logger: end.logger })), []);
    assert.ok(end.told.info.some((text) => /nothing left: the run is at its end/.test(text)));
    const other = { ...run, cursorOut, resume: join(folder, 'other') };
    await rejects(openFake(manifest, other), 'bad_cursor');
    assert.not(existsSync(join(folder, 'other')));
  }));

test('epochs: the cursor has them, what is given wins, and too few are refused with how many are needed', async () => {
  const saved = await openFake(manifest, { ...run, epochs: 3 });
  await readAll(saved, 7);
  const resume = saved.feed.cursor;
  assert.equal([resume.epochs, resume.epoch, resume.batch], [3, 1, 2]);
  assert.is((await readAll(await openFake(manifest, { resume }))).length, 8);
  assert.is((await readAll(await openFake(manifest, { resume, epochs: 2 }))).length, 3);
  const longer = await openFake(manifest, { resume, epochs: 4 });
  assert.is((await readAll(longer)).length, 13);
  assert.is(longer.feed.cursor.epochs, 4);
  const error = await rejects(openFake(manifest, { resume, epochs: 1 }), 'cursor_mismatch');
  assert.is(error.mend, 'give epochs 2 or more');
  const { epochs: _, ...old } = resume;
  await rejects(openFake(manifest, { resume: old }), 'cursor_mismatch');
  assert.is((await readAll(await openFake(manifest, { resume: old, epochs: 3 }))).length, 8);
});

test('what drop leaves out is counted, and said where it is everything', async () => {
  const cases: [options: FakeOptions, dropped: number, isSaid: boolean][] = [
    [{ batchSamples: 4 }, 2, false],
    [{ batchSamples: 5 }, 0, false],
    [{ batchSamples: 4, tail: 'pad' }, 0, false],
    [{ batchSamples: 4, tail: 'partial' }, 0, false],
    [{ batchSamples: 3, worldSize: 2, rank: 1 }, 4, false],
    [{ batchSamples: 11 }, 10, true],
    [{ batchSamples: 6, worldSize: 2 }, 10, true],
    [{ batchSamples: 11, tail: 'pad' }, 0, false],
  ];
  for (const [options, dropped, isSaid] of cases) {
    const { told, logger } = listening();
    const fake = await openFake(manifest, { ...options, logger });
    await readAll(fake);
    assert.is(fake.feed.stats().dropped, dropped, JSON.stringify(options));
    const warning =
      /nothing will be delivered: the data set has 10 samples, a global batch 1[12].*drop leaves out all 10/;
    assert.is(
      told.warn.some((text) => warning.test(text)),
      isSaid,
      JSON.stringify(options),
    );
  }
});

test.run();
