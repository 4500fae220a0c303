// docs/results.md, held against what the code prints: every field stands there, and nothing else does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { demoObjects } from '../../runtime-node/cli/demo/plan.js';
import { demoDocument } from '../../runtime-node/cli/demo/report.js';
import { settingsDocument } from '../../runtime-node/cli/settings-table.js';
import { type ErrorContext, Os2gError } from '../../runtime-node/errors.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { packageRoot } from '../../runtime-node/package-root.js';
import { BUCKET, type Dataset, keyOf, openDataset } from './kit/dataset.js';
import { os2g } from './kit/process.js';

/** Fields of each document by its schema, as the page has them. */
const documented = new Map<string, Set<string>>();
for (const section of readFileSync(join(packageRoot, 'docs/results.md'), 'utf8').split(/^## /m)) {
  const schema = /^`(os2g\.[a-z-]+\/\d)`/.exec(section)?.[1];
  if (schema === undefined) continue;
  const cells = [...section.matchAll(/^\| (`[^|]*?) *\|/gm)].map(([, cell = '']) => cell);
  documented.set(
    schema,
    new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))),
  );
}

/** Their fields are names of settings or of presets, or are told elsewhere. */
const MAPS = new Set(['policy.set', 'settings[].presets', 'error.cursor']);

/** `a`, `b.c`, `d[].e`: every field that holds a value, and each list. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [`${path}[]`, ...value.flatMap((item) => fieldsOf(item, `${path}[]`))];
  if (typeof value !== 'object' || value === null || MAPS.has(path)) return path.endsWith('[]') ? [] : [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    fieldsOf(inner, path === '' ? name : `${path}.${name}`),
  );
}

function check(document: unknown, optional: readonly string[] = []): void {
  const { schema } = document as { schema: string };
  const told = documented.get(schema);
  assert.ok(told, `docs/results.md has no section for ${schema}`);
  const fields = new Set(fieldsOf(document));
  for (const field of fields) assert.ok(told.has(field), `${schema}: ${field} is not in docs/results.md`);
  const missing = [...told].filter(
    (name) =>
      !fields.has(name) &&
      !optional.includes(name) &&
      ![...fields].some((field) => field.startsWith(`${name}.`)),
  );
  assert.equal(missing, [], `${schema}: in docs/results.md and not in the result`);
}

let data: Dataset;
let stats: FeedStats;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

async function json(argv: readonly string[], exitCode = 0): Promise<unknown> {
  const { code, stdout, stderr } = await os2g([...argv, '--json'], data.env);
  assert.is(code, exitCode, stderr);
  return JSON.parse(stdout);
}

test('index, feed with a skipped sample, replay', async () => {
  const manifest = data.file('m.arrow');
  const counts = ['added', 'removed', 'changed', 'unchanged'].map((name) => `update.${name}`);
  const pictures = ['sized', 'without'].map((name) => `pictures.${name}`);
  check(await json(['index', `s3://${BUCKET}/`, '-o', manifest]), [...counts, ...pictures]);
  check(await json(['index', `s3://${BUCKET}/`, '-o', manifest, '--update', '--image-size']));
  data.store.delete(BUCKET, keyOf(7));
  const trace = data.file('run.trace');
  const argv = ['--manifest', manifest, '--on-error', 'skip', '--max-skips', '3', '--trace', trace];
  stats = (await json(['feed', ...argv])) as FeedStats;
  check(stats);
  check(await json(['replay', trace]));
  check(await json(['replay', trace, '--host', 'wasi']));
});

test('demo', () => {
  const document = demoDocument(demoObjects().slice(0, 3), [{ policy: 'sync', stats, bytesVerified: 1 }]);
  const feed = documented.get('os2g.feed-result/1') ?? new Set();
  const { schema: _schema, policy: _policy, ...inherited } = stats;
  const pipelines = document.pipelines as Record<string, unknown>[];
  for (const field of fieldsOf(inherited)) assert.ok(feed.has(field), field);
  const own = pipelines.map((run) =>
    Object.fromEntries(Object.entries(run).filter(([name]) => !(name in inherited))),
  );
  check({ ...document, pipelines: own }, ['pipelines[].*']);
});

test('doctor, settings', async () => {
  check(await json(['doctor', `s3://${BUCKET}/train/`]));
  check(settingsDocument());
});

test('an error: every field of its context', () => {
  const context: Required<Omit<ErrorContext, 'cause'>> = {
    ...{ key: 'k', bucket: 'b', option: 'o', file: 'f', attempts: 1, status: 404 },
    ...{ s3Code: 'c', requestId: 'r', bodyStart: 's', row: 1, cursor: stats.cursor },
  };
  const error = new Os2gError('code', 'message', 'mend', context);
  check({ schema: 'os2g.error/1', error: error.told('command') });
});

test('every document of the command has its section', () => {
  for (const schema of ['demo', 'index', 'feed', 'replay', 'doctor']) {
    assert.ok(documented.has(`os2g.${schema}-result/1`), schema);
  }
});

test.run();
