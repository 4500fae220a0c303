import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMANDS } from '../../runtime-node/cli/commands.js';
import { documents } from '../../runtime-node/cli/documents.js';
import { FAILURE_CLASSES } from '../../runtime-node/engine/failure.js';
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

test('every error code of the sources stands in docs/errors.md', () => {
  const text = read('docs/errors.md');
  const sources = readdirSync(join(packageRoot, 'runtime-node'), { recursive: true }).map(String);
  const codes = new Set<string>(Object.keys(FAILURE_CLASSES));
  for (const file of sources.filter((name) => name.endsWith('.ts'))) {
    for (const [, code = ''] of read(join('runtime-node', file)).matchAll(
      /(?:Config|Store|Os2g)Error\(\s*'([a-z_]+)'/g,
    )) {
      codes.add(code);
    }
  }
  for (const code of codes) assert.ok(text.includes(`\`${code}\``), code);
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
