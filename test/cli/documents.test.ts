import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMANDS } from '../../runtime-node/cli/commands.js';
import { documents } from '../../runtime-node/cli/documents.js';
import { FAILURE_CLASSES } from '../../runtime-node/engine/failure.js';
import { API_CODES, CONFIG_CODES, FAILURE_CODES } from '../../runtime-node/error-table.js';
import { packageRoot } from '../../runtime-node/package-root.js';
import { BUCKET, type Dataset, openDataset, SAMPLES } from './kit/dataset.js';
import { Call } from './kit/process.js';

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');
const markdown = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(packageRoot, 'docs')).map((name) => `docs/${name}`),
].filter((file) => file.endsWith('.md'));

let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

test('the generated documents are up to date', () => {
  for (const [file, text] of Object.entries(documents())) {
    assert.is(read(file), text, `${file}: run \`node scripts/docs.js\``);
  }
});

test('every link leads to a file that is there', () => {
  for (const file of markdown) {
    for (const [, target = ''] of read(file).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
      if (/^https?:/.test(target)) continue;
      assert.ok(existsSync(join(packageRoot, normalize(join(dirname(file), target)))), `${file}: ${target}`);
    }
  }
});

/** Codes as the sources throw them: as a first argument, one of two, or a field of an explanation. */
const THROWN = [
  /Error\(\s*(?:[\w.]+\s*\?\s*)?'([a-z_]+)'(?:\s*:\s*'([a-z_]+)')?/g,
  /\bcode: (?:[^,\n]*\?\s*)?'([a-z_]+)'(?:\s*:\s*'([a-z_]+)')?/g,
];

function sources(): Map<string, string> {
  const files = ['runtime-node', 'simulator'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true }).map((name) => join(folder, String(name))),
  );
  const wanted = files.filter((name) => name.endsWith('.ts') && !name.endsWith('error-table.ts'));
  return new Map(wanted.map((name) => [name, read(name)]));
}

test('every error code of the sources stands in the table of errors, and every code of the table is thrown', () => {
  const table = { ...CONFIG_CODES, ...FAILURE_CODES, ...API_CODES };
  const size = [CONFIG_CODES, FAILURE_CODES, API_CODES].flatMap(Object.keys).length;
  assert.is(Object.keys(table).length, size, 'no code stands in two tables');
  const classes = Object.keys(FAILURE_CLASSES);
  const thrown = new Map<string, string>(classes.map((name) => [name, 'engine/failure.ts']));
  const texts = sources();
  for (const [file, text] of texts) {
    for (const pattern of THROWN) {
      for (const [, one, other] of text.matchAll(pattern)) {
        for (const code of [one, other]) if (code) thrown.set(code, file);
      }
    }
  }
  for (const [code, file] of thrown) assert.ok(code in table, `${code} (${file}) is not in error-table.ts`);
  const all = [...texts.values()].join('\n');
  for (const code of Object.keys(table)) {
    assert.ok(thrown.has(code) || all.includes(`'${code}'`), `${code} of error-table.ts is thrown nowhere`);
  }
});

test('an error is told to exit as its table says', () => {
  for (const [file, text] of sources()) {
    for (const [, kind, code] of text.matchAll(/new (Config|Store|Os2g)Error\(\s*'([a-z_]+)'/g)) {
      if (code === undefined || code in API_CODES) continue;
      if (kind === 'Config') assert.ok(code in CONFIG_CODES, `${file}: ${code} exits with 2`);
      if (kind === 'Store') assert.ok(code in FAILURE_CODES, `${file}: ${code} exits with 1`);
    }
  }
});

test('the calls that the documents show are calls', () => {
  const known = new Set(COMMANDS.map(({ name }) => name));
  for (const file of markdown) {
    for (const [, name = ''] of read(file).matchAll(/^(?:npx )?os2g ([a-z]+)/gm))
      assert.ok(known.has(name), `${file}: os2g ${name}`);
  }
});

test('the examples stand in the documents as they are, and run', async () => {
  for (const [file, example] of [
    ['docs/api.md', 'docs/examples/feed.mjs'],
    ['docs/policy-tests.md', 'docs/examples/policy-test.mjs'],
  ] as const) {
    assert.ok(read(file).includes(read(example)), `${file} shows ${example} as it is`);
  }
  const policy = spawnSync(process.execPath, [join(packageRoot, 'docs/examples/policy-test.mjs')], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.is(policy.status, 0, policy.stdout + policy.stderr);
  const example = join(packageRoot, 'docs/examples/feed.mjs');
  const { code, stdout, stderr } = await new Call([`s3://${BUCKET}/train/`], data.env, example).ended;
  assert.is(code, 0, stdout + stderr);
  const expected = Array.from({ length: SAMPLES }, (_, i) => 500 + ((i * 977) % 4000)).reduce(
    (a, b) => a + b,
  );
  const { samples, bytes } = JSON.parse(stdout);
  assert.equal({ samples, bytes }, { samples: SAMPLES, bytes: expected });
});

test.run();
