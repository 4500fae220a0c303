import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ConfigError } from '../../runtime-node/errors.js';
import { openFeed } from '../../runtime-node/feed/open.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import { loadNative } from '../../runtime-node/native/load.js';
import { inFolder, manifestOf, openFake, readAll, rejects } from './kit.js';

const manifest = manifestOf([1, 2, 3, 4]);
const hasNative = loadNative().module !== null;
const WRONG = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  1.5,
  2 ** 53 + 2,
  '8',
  '',
  null,
  {},
  true,
];
/** Wrong beyond WRONG, for each number. */
const numbers: Record<string, { command: string; wrong: unknown[] }> = {
  batchSamples: { command: 'batch-samples', wrong: [0, 2 ** 31] },
  epochs: { command: 'epochs', wrong: [0, 2 ** 31] },
  rank: { command: 'rank', wrong: [1, 2 ** 31] },
  worldSize: { command: 'world-size', wrong: [0, 2 ** 31] },
  memoryBytes: { command: 'memory', wrong: [0, 1] },
  maxSkips: { command: 'max-skips', wrong: [2 ** 31] },
  seed: { command: 'seed', wrong: [-1n, 2n ** 64n] },
};

for (const [name, { command, wrong }] of Object.entries(numbers)) {
  test(`${name}: every wrong number is refused before anything starts`, async () => {
    for (const value of [...WRONG, ...wrong]) {
      // Null is a seed that is not given.
      if (name === 'seed' && value === null) continue;
      const started: string[] = [];
      const options = {
        manifest,
        batchSamples: 2,
        [name]: value,
        internal: { engine: () => started.push('engine') },
      } as unknown as FeedOptions;
      const error = await rejects(openFeed(options), 'bad_option');
      const context = error.context as { option: string };
      assert.is(context.option, name, `${name} = ${String(value)}`);
      assert.match(`${error.message} ${error.mend}`, /\d+\.\.\d+/);
      assert.match(error.message, new RegExp(`^${name}: `));
      const told = (error as unknown as ConfigError).told('command');
      assert.is(told.option, command);
      assert.match(told.message, new RegExp(`^--${command}: `));
      assert.is(error.exitCode, 2);
      assert.equal(started, []);
    }
  });
}

const refused: [name: string, options: object, code: string, option: string][] = [
  ['no batch size', { batchSamples: undefined }, 'bad_option', 'batchSamples'],
  ['no data set', { manifest: undefined }, 'bad_option', 'manifest'],
  [
    'a bucket beside a source',
    { manifest: undefined, source: 's3://bucket/a', bucket: 'other' },
    'bad_option',
    'bucket',
  ],
  ['a format beside a manifest', { format: 'tar' }, 'bad_option', 'format'],
  [
    'an unknown format',
    { manifest: undefined, source: 's3://a/b', format: 'zip' as 'tar' },
    'bad_option',
    'format',
  ],
  ['two data sets', { source: 's3://a/b' }, 'bad_option', 'manifest'],
  ['an unknown shuffle', { shuffle: 'random' }, 'bad_option', 'shuffle'],
  ['an unknown tail', { tail: '' }, 'bad_option', 'tail'],
  ['an unknown failure policy', { onError: 'ignore' }, 'bad_option', 'onError'],
  ['an unknown preset', { policy: 'fast' }, 'bad_option', 'policy'],
  ['an unknown setting', { set: { 'window.byte': '1MiB' } }, 'bad_option', 'window.byte'],
  ['a size without unit', { set: { 'window.bytes': 1024 } }, 'bad_option', 'window.bytes'],
  ['an unknown engine', { engine: 'fast' }, 'bad_option', 'engine'],
  [
    'GPU memory without the native engine',
    { landing: 'cuda', engine: 'portable' },
    'landing_unavailable',
    'landing',
  ],
  ['remote memory', { landing: 'ucx' }, 'landing_unavailable', 'landing'],
  ['the direct path', { direct: 'on' }, 'direct_unavailable', 'direct'],
  ['an unknown verification', { verify: 'md5' }, 'bad_option', 'verify'],
  ['a policy file that is not there', { policy: './none.json' }, 'bad_policy', 'policy'],
  ['a policy in Wasm', { policy: './none.wasm' }, 'bad_policy', 'policy'],
  ['a cursor file that is not there', { resume: '/none/cursor.json' }, 'bad_cursor', 'resume'],
  [
    'a budget below the longest sample',
    { memoryBytes: 4096, manifest: manifestOf([9, 5000]) },
    'sample_too_large',
    'memoryBytes',
  ],
];
const withoutNative: typeof refused = [
  ['the native engine where it is not', { engine: 'native' }, 'engine_unavailable', 'engine'],
  ['shared memory where it is not', { landing: 'shm' }, 'landing_unavailable', 'landing'],
];
if (!hasNative) refused.push(...withoutNative);
for (const [name, options, code, option] of refused) {
  test(`refused: ${name}`, async () => {
    const error = await rejects(openFake(manifest, { batchSamples: 2, ...options }), code);
    assert.is((error.context as { option: string }).option, option);
    assert.is(error.exitCode, 2);
    assert.ok((error.mend as string).length > 0);
  });
}

test('what is no option is refused by name, with what is near', async () => {
  const cases: [options: unknown, words: RegExp][] = [
    [null, /openFeed: null is not an object/],
    [undefined, /openFeed: undefined is not an object/],
    ['s3://a/b', /openFeed: "s3:\/\/a\/b" is not an object/],
    [[], /openFeed: \[\] is not an object/],
    [{ manifest, batchSample: 2 }, /no option "batchSample".*did you mean batchSamples\?/],
    [{ manifest, batchSamples: 2, memory: 1 }, /no option "memory".*memoryBytes/],
    [{ manifest, batchSamples: 2, cursor_out: 'x' }, /no option "cursor_out".*cursorOut/],
    [{ manifest, batchSamples: 2, zzz: undefined }, /no option "zzz".*docs\/api.md/],
    [{ manifest, batchSamples: 2, s3: { endpont: 'x' } }, /no option "s3.endpont".*endpoint/],
    [{ manifest, batchSize: 2 }, /no option "batchSize": did you mean batchSamples\?$/],
    [{ manifest, batch_size: 2 }, /no option "batch_size": did you mean batchSamples\?$/],
    [{ manifest, num_workers: 2 }, /did you mean set\? \(there are no worker processes/],
    [{ manifest, dropLast: true }, /did you mean tail\? \(drop, the default/],
    [{ manifest, shuffle_seed: 2 }, /did you mean seed\?$/],
    [{ manifest, cacheLimit: 2 }, /did you mean memoryBytes\?$/],
    [{ manifest, constructor: 2 }, /no option "constructor"/],
    [{ manifest, batchSamples: 2, s3: { endpoint_url: 'x' } }, /did you mean endpoint\?$/],
    [{ manifest, batchSamples: 2, s3: null }, /s3: null is not an object/],
    [{ manifest, batchSamples: 2, policy: { presett: 'os2g' } }, /no option "policy.presett".*preset/],
    [{ manifest, batchSamples: 2, audit: '' }, /audit: "" is not the path/],
    [{ manifest, batchSamples: 2, trace: 7 }, /trace: 7 is not the path/],
  ];
  for (const [options, words] of cases) {
    const error = await rejects(openFeed(options as FeedOptions), 'bad_option');
    assert.match(`${error.message}: ${error.mend}`, words);
    assert.is(error.exitCode, 2);
  }
});

// Fits no option of these.
const FOREIGN = [null, 8n, Symbol('s'), Number.NaN, -1, []];
const UNSHOWABLE = {
  toJSON: () => assert.unreachable(),
  toString: () => assert.unreachable(),
};
const CIRCLE: { self?: object } = {};
CIRCLE.self = CIRCLE;
const NO_TEXT = [true, {}, () => {}, UNSHOWABLE, CIRCLE];
const NO_OBJECT = ['text', true, () => {}];
const NO_FLAG = ['text', 'true', 1, {}];

/** Wrong beyond FOREIGN, for each option. */
const foreign: Record<string, unknown[]> = {
  ...{
    manifest: [true, {}, UNSHOWABLE, { key: () => '', rows: 1 }],
    source: NO_TEXT,
    bucket: ['', ...NO_TEXT],
  },
  ...{ cursorOut: NO_TEXT, trace: NO_TEXT, audit: NO_TEXT, resume: ['', true, () => {}] },
  ...{ s3: NO_OBJECT, set: NO_OBJECT, policy: [true, () => {}] },
  ...{ signal: [{}, 'text', () => {}, new EventTarget()], logger: [{}, console.log, { info() {} }] },
  ...{ clock: [{}, () => 0, { nowNs: 0 }], onListed: [{}, 'text'] },
  ...{ 's3.endpoint': NO_TEXT, 's3.region': ['', ...NO_TEXT], 's3.profile': NO_TEXT, 's3.caBundle': NO_TEXT },
  ...{ 's3.anonymous': NO_FLAG, 's3.requesterPays': NO_FLAG, 's3.pathStyle': NO_FLAG },
  ...{ 'policy.preset': NO_TEXT, 'policy.set': NO_OBJECT },
  ...{ 'set.window.mode': [{}, UNSHOWABLE, CIRCLE], 'set.window.bytes': [true, CIRCLE] },
  ...{ 'set.concurrency.max': ['8', UNSHOWABLE], 'set.hedge.share': [{}, CIRCLE] },
};
for (const [name, wrong] of Object.entries(foreign)) {
  test(`${name}: a value of another kind is refused by the option's name`, async () => {
    const [option = '', ...inner] = name.split('.');
    for (const value of [...FOREIGN, ...wrong]) {
      const given = inner.length === 0 ? { [option]: value } : { [option]: { [inner.join('.')]: value } };
      const data = option === 'source' ? {} : { manifest };
      const opened = openFeed({ batchSamples: 1, ...data, ...given } as FeedOptions);
      const { context, exitCode } = await rejects(opened, 'bad_option');
      assert.is(exitCode, 2);
      assert.is(
        (context as { option: string }).option,
        option === 'set' && inner.length > 0 ? inner.join('.') : name,
      );
    }
  });
}

test('no bucket: said before anything starts', async () => {
  const error = await rejects(openFeed({ manifest, batchSamples: 2 }), 'bad_option');
  assert.is((error.context as { option: string }).option, 'bucket');
});

test('a policy by name, as an object and as a file: the same run', () =>
  inFolder(async (folder) => {
    const file = join(folder, 'policy.json');
    const set = { 'concurrency.max': 3, 'window.bytes': '1MiB' };
    writeFileSync(file, JSON.stringify({ schema: 'os2g.policy/1', preset: 'readahead', set }));
    const results: string[] = [];
    for (const options of [
      { policy: 'readahead', set },
      { policy: { preset: 'readahead', set } },
      { policy: file },
    ]) {
      const fake = await openFake(manifest, { batchSamples: 2, ...options });
      await readAll(fake);
      const stats = fake.feed.stats();
      assert.is(stats.policy.set['concurrency.max'], 3);
      results.push(stats.run_hash);
    }
    assert.is(new Set(results).size, 1, results.join());
    writeFileSync(file, JSON.stringify({ schema: 'os2g.policy/1', presets: 'os2g' }));
    await rejects(openFake(manifest, { batchSamples: 2, policy: file }), 'bad_policy');
  }));

test('auto says what it chose, and why', async () => {
  const fake = await openFake(manifest, { batchSamples: 2, landing: 'auto', direct: 'auto', engine: 'auto' });
  await readAll(fake);
  const stats = fake.feed.stats();
  assert.is(stats.engine, 'portable');
  assert.match(stats.engine_reason, /native/);
  const backend = hasNative ? 'shm' : 'memory';
  assert.equal([stats.landing.backend, stats.landing.mode, stats.landing.direct], [backend, 'auto', false]);
  assert.ok(stats.landing.reason);
});

test.run();
