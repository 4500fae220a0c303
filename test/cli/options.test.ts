import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { gatherLayers, resolveOptions } from '../../runtime-node/cli/options/resolve.js';
import { optionName, variableName } from '../../runtime-node/cli/options/spec.js';
import { COMMON_OPTIONS, FEED_OPTIONS, S3_OPTIONS } from '../../runtime-node/cli/options/tables.js';
import { ConfigError } from '../../runtime-node/errors.js';

const TABLE = { ...COMMON_OPTIONS, ...FEED_OPTIONS, ...S3_OPTIONS };
const folder = mkdtempSync(join(tmpdir(), 'os2g-options-'));
test.after(() => rmSync(folder, { recursive: true }));

interface Given {
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
  file?: unknown;
}

function resolve({ flags = {}, env = {}, file }: Given) {
  if (file === undefined) return resolveOptions(TABLE, gatherLayers(flags, env));
  const path = join(folder, 'os2g.json');
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
  return resolveOptions(TABLE, gatherLayers({ ...flags, config: path }, env));
}

function refusal(given: Given): ConfigError {
  try {
    resolve(given);
  } catch (error) {
    assert.instance(error, ConfigError);
    return error as ConfigError;
  }
  throw new Error(`not refused: ${JSON.stringify(given)}`);
}

test('names of options and variables', () => {
  assert.is(optionName('stopAfterBatches'), 'stop-after-batches');
  assert.is(variableName('stopAfterBatches'), 'OS2G_STOP_AFTER_BATCHES');
});

test('a value is read: flag, variable, file', () => {
  const cases: [keyof typeof TABLE, string, unknown, unknown][] = [
    ['batchSamples', '8', 8, 8],
    ['epochs', '2147483647', 2147483647, 2147483647],
    ['seed', '18446744073709551615', '18446744073709551615', 2n ** 64n - 1n],
    ['seed', '7', 7, 7n],
    ['memory', '64MiB', '64MiB', 64 * 2 ** 20],
    ['memory', '64MB', '64MB', 64e6],
    ['stepTime', '20ms', '20ms', 20e6],
    ['shuffle', 'block', 'block', 'block'],
    ['anonymous', 'true', true, true],
    ['anonymous', '0', false, false],
    ['endpoint', 'http://[::1]:9000', 'http://[::1]:9000', 'http://[::1]:9000'],
  ];
  for (const [field, text, json, wanted] of cases) {
    if (typeof TABLE[field].initial !== 'boolean')
      assert.equal(resolve({ flags: { [field]: text } })[field], wanted);
    assert.equal(resolve({ env: { [variableName(field)]: text } })[field], wanted);
    assert.equal(resolve({ file: { [optionName(field)]: json } })[field], wanted);
  }
});

test('flag, then variable, then file, then default', () => {
  const file = { 'batch-samples': 3 };
  const env = { OS2G_BATCH_SAMPLES: '2' };
  assert.is(resolve({ flags: { batchSamples: '1' }, env, file }).batchSamples, 1);
  assert.is(resolve({ env, file }).batchSamples, 2);
  assert.is(resolve({ file }).batchSamples, 3);
  assert.is(resolve({}).batchSamples, undefined);
  assert.is(resolve({}).epochs, undefined);
  assert.is(resolve({}).rank, 0);
});

test('--set: layers merge by name, later ones win, values keep their form', () => {
  const file = { set: { 'hedge.share': 0.01, 'window.bytes': '1MiB' } };
  const env = { OS2G_SET: 'window.bytes=2MiB,retry.attempts=3' };
  const flags = { set: ['retry.attempts=4', 'retry.attempts=5', 'window.mode=fixed'] };
  assert.equal(resolve({ flags, env, file }).set, {
    'hedge.share': 0.01,
    'window.bytes': '2MiB',
    'retry.attempts': 5,
    'window.mode': 'fixed',
  });
});

// Case 29: each of these for every number, on the command line, in a variable and in a file.
const NO_COUNT = [
  'NaN',
  'Infinity',
  '-Infinity',
  '-1',
  '1.5',
  '9007199254740993',
  '',
  '0x10',
  '1e3',
  ' 8',
  '8 ',
  '+8',
  '１',
];
const NO_JSON_COUNT = [-1, 1.5, 2 ** 53 + 2, '8', '', null, true, [8], { n: 8 }];
const COUNTS = ['batchSamples', 'epochs', 'rank', 'worldSize', 'maxSkips', 'stopAfterBatches'] as const;

test('case 29: a number that is none is refused with name and range', () => {
  for (const field of COUNTS) {
    const name = optionName(field);
    for (const text of NO_COUNT) {
      for (const [given, where] of [
        [{ flags: { [field]: text } }, `--${name}`],
        [{ env: { [variableName(field)]: text } }, variableName(field)],
      ] as const) {
        const error = refusal(given);
        assert.is(error.code, 'bad_option');
        assert.is(error.context.option, name);
        assert.ok(error.message.startsWith(`${where}: ${JSON.stringify(text)}`), error.message);
        assert.match(error.message, /a whole number from \d+ to \d+/);
      }
    }
    for (const value of NO_JSON_COUNT) {
      const error = refusal({ file: { [name]: value } });
      assert.is(error.context.option, name);
      assert.match(error.message, new RegExp(`os2g.json: ${name}: `));
    }
  }
});

test('case 29: 0 and 2^31 where they are out of range', () => {
  const cases: [(typeof COUNTS)[number], string][] = [
    ['batchSamples', '0'],
    ['epochs', '0'],
    ['worldSize', '0'],
    ['stopAfterBatches', '0'],
    ['epochs', '2147483648'],
    ['batchSamples', '2147483648'],
    ['rank', '2147483648'],
    ['maxSkips', '2147483648'],
  ];
  for (const [field, text] of cases)
    assert.is(refusal({ flags: { [field]: text } }).context.option, optionName(field));
  assert.is(resolve({ flags: { rank: '0' } }).rank, 0);
  assert.is(resolve({ flags: { maxSkips: '2147483647' } }).maxSkips, 2147483647);
});

test('a seed outside 0..2^64-1 is refused', () => {
  for (const text of ['-1', '1.5', '18446744073709551616', '', 'NaN', '0x1']) {
    assert.is(refusal({ flags: { seed: text } }).context.option, 'seed');
  }
  for (const value of [-1, 1.5, 2 ** 53, null, true])
    assert.is(refusal({ file: { seed: value } }).context.option, 'seed');
});

test('sizes and durations: a bare number, a wrong unit, out of range', () => {
  for (const text of ['64', '64mib', '64 M', '-64MiB', '', 'MiB', '1e3MiB', 'NaN', '1KB']) {
    assert.is(refusal({ flags: { memory: text } }).context.option, 'memory', text);
  }
  for (const text of ['5', '5S', '-5s', '', 'ms', '25h']) {
    assert.is(refusal({ flags: { stepTime: text } }).context.option, 'step-time', text);
  }
  assert.is(refusal({ file: { memory: 67108864 } }).context.option, 'memory');
});

test('a wrong setting is named with its range, an unknown one with its neighbours', () => {
  assert.match(refusal({ flags: { set: ['retry.attempts=0'] } }).message, /retry\.attempts: 0 .* 1\.\.1000/);
  assert.match(refusal({ flags: { set: ['window.bytes=64'] } }).message, /window\.bytes: "64"/);
  assert.match(refusal({ flags: { set: ['retry.atempts=3'] } }).mend, /retry\.attempts/);
  assert.match(
    refusal({ env: { OS2G_SET: 'window.bytes' } }).message,
    /OS2G_SET: "window.bytes" is not NAME=VALUE/,
  );
  assert.match(refusal({ file: { set: { 'hedge.share': 2 } } }).message, /hedge\.share: 2/);
});

test('a configuration file: unknown fields, no JSON, no object, no file', () => {
  const unknown = refusal({ file: { 'batch-sample': 3 } });
  assert.is(unknown.code, 'unknown_field');
  assert.is(unknown.context.option, 'batch-sample');
  assert.match(unknown.mend, /batch-samples/);
  assert.is(refusal({ file: { config: 'other.json' } }).code, 'unknown_field');
  const broken = refusal({ file: '{\n  "epochs": 1,\n  "seed": x\n}' });
  assert.is(broken.code, 'bad_file');
  assert.match(broken.message, /os2g\.json/);
  assert.is(refusal({ file: [1] }).code, 'bad_file');
  assert.is(refusal({ flags: { config: join(folder, 'nowhere.json') } }).code, 'bad_file');
  assert.is(refusal({ env: { OS2G_CONFIG: join(folder, 'nowhere.json') } }).code, 'bad_file');
});

test('an empty variable is a wrong value, not a missing one', () => {
  assert.is(refusal({ env: { OS2G_EPOCHS: '' } }).context.option, 'epochs');
  assert.is(refusal({ env: { OS2G_ANONYMOUS: 'yes' } }).context.option, 'anonymous');
});

test('what is overridden is not read, so it may be wrong; what merges is', () => {
  const file = { path: 'x.json', fields: { epochs: 'many', seed: -1 } };
  const env = { OS2G_BATCH_SAMPLES: 'none', OS2G_SEED: '9', OS2G_EPOCHS: '3' };
  const values = resolveOptions(FEED_OPTIONS, { flags: { batchSamples: '4' }, env, file });
  assert.equal([values.batchSamples, values.epochs, String(values.seed)], [4, 3, '9']);
  const set = { flags: { set: ['retry.attempts=3'] }, env: { OS2G_SET: 'nonsense=1' }, file: null };
  assert.throws(() => resolveOptions(FEED_OPTIONS, set), /nonsense/);
  assert.throws(() => resolveOptions(FEED_OPTIONS, { flags: {}, env, file: null }), /OS2G_BATCH_SAMPLES/);
});

test.run();
