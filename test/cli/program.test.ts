import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CommandSpec, command } from '../../runtime-node/cli/command.js';
import { COMMANDS } from '../../runtime-node/cli/commands.js';
import { optionName, variableName } from '../../runtime-node/cli/options/spec.js';
import { COMMON_OPTIONS } from '../../runtime-node/cli/options/tables.js';
import { helpText } from '../../runtime-node/cli/program.js';
import { ConfigError, Os2gError } from '../../runtime-node/errors.js';
import { SETTINGS } from '../../runtime-node/policy/settings.js';
import { call } from './kit/run-in-process.js';

function fake(run: CommandSpec['run']): readonly CommandSpec[] {
  return [command({ name: 'work', summary: 'works', args: [], options: {}, examples: [], run })];
}

test('a wrong call: exit 2, nothing on standard output, what to do', async () => {
  const cases: [string[], RegExp][] = [
    [[], /no command was given[\s\S]*os2g demo/],
    [['fed'], /no command "fed"[\s\S]*did you mean feed\?/],
    [['xyzzy'], /no command "xyzzy"[\s\S]*os2g --help/],
    [['serve'], /serve is not in this version/],
    [['calibrate'], /calibrate is not in this version/],
    [['feed', '--batch-size', '3'], /unknown option '--batch-size'[\s\S]*did you mean --batch-samples\?\n$/],
    [['feed', '--batchsize=3'], /did you mean --batch-samples\?\n$/],
    [['feed', '--memory_limit', '1GiB'], /did you mean --memory\?\n$/],
    [['index', '--no-sign-request'], /did you mean --anonymous\?\n$/],
    [['index', '--batch-size', '3'], /unknown option '--batch-size'/],
    [['feed', '--batch-sample', '3'], /unknown option '--batch-sample'[\s\S]*--batch-samples/],
    [['feed', '--batch-samples'], /argument missing/],
    [['feed', 's3://a/b', 'more'], /too many arguments/],
    [['feed', '--rank', '-1', 's3://a/b'], /--rank: "-1" is not a whole number from 0/],
    [['feed', '--batch-samples', '', 's3://a/b'], /--batch-samples: ""/],
    [
      ['feed', '--shuffle', 'external', 's3://a/b'],
      /--shuffle: "external" is not one of none, sample, block/,
    ],
    [['replay'], /missing required argument 'trace'/],
    [['replay', 'x', '--host', 'jvm'], /--host: "jvm" is not one of node, wasi, wasmtime/],
    [['index', 's3://a/b'], /no file to write/],
    [['index', 's3://a/b', '-o', 'x', '--format', 'zip'], /--format: "zip" is not one of auto, objects, tar/],
    [['demo', '--log-level', 'loud'], /--log-level: "loud"/],
    [['demo', '--config', '/nowhere/x.json'], /x\.json/],
  ];
  for (const [argv, words] of cases) {
    const { code, stdout, stderr } = await call(argv);
    assert.is(code, 2, `${argv.join(' ')}: ${stderr}`);
    assert.is(stdout, '', argv.join(' '));
    assert.match(stderr, words);
    assert.not.match(stderr, /\n\s+at /, 'no stack trace');
  }
});

test('a wrong call with --json: one error document', async () => {
  const cases: [string[], string, string | undefined][] = [
    [['--json'], 'bad_call', undefined],
    [['fed', '--json'], 'bad_call', undefined],
    [['--json', 'serve'], 'not_in_this_version', undefined],
    [['feed', '--json', '--batch-sample', '3'], 'bad_call', 'batch-sample'],
    [['feed', '--batch-samples', '1.5', '--json'], 'bad_option', 'batch-samples'],
    [['index', 's3://a/b', '-o', 'x', '--format', 'zip', '--json'], 'bad_option', 'format'],
  ];
  for (const [argv, code, option] of cases) {
    const outcome = await call(argv);
    assert.is(outcome.code, 2);
    const document = JSON.parse(outcome.stdout);
    assert.is(document.schema, 'os2g.error/1');
    assert.is(document.error.code, code);
    assert.is(document.error.option, option);
    assert.ok(document.error.message && document.error.mend);
  }
  const byVariable = await call(['feed', '--epochs', 'x'], { env: { OS2G_JSON: '1' } });
  assert.is(JSON.parse(byVariable.stdout).error.option, 'epochs');
});

test('how a wrong call is told stands in any layer, whatever is wrong', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'os2g-form-'));
  const file = (name: string, fields: object): string => {
    writeFileSync(join(folder, name), JSON.stringify(fields));
    return join(folder, name);
  };
  const all = file('all.json', { json: true, debug: true, 'log-format': 'json' });
  const wrong = file('wrong.json', { json: true, debug: true, 'log-format': 'json', epochs: 'x' });
  const unknown = file('unknown.json', { json: true, debug: true, 'log-format': 'json', nope: 1 });
  const contrary = file('contrary.json', { json: 'perhaps', debug: true, 'log-format': 'xml' });
  const flags = ['--json', '--debug', '--log-format', 'json'];
  const variables = { OS2G_JSON: '1', OS2G_DEBUG: 'true', OS2G_LOG_FORMAT: 'json' };
  const calls: [string, string[], Record<string, string>][] = [
    ['file, wrong flag', ['feed', '--config', all, '--epochs', 'x'], {}],
    ['file, unknown flag', ['feed', `--config=${all}`, '--nope'], {}],
    ['file of a variable, unknown command', ['sreve'], { OS2G_CONFIG: all }],
    ['file, wrong field', ['feed', '--config', wrong], {}],
    ['file, unknown field', ['feed', '--config', unknown], {}],
    ['flags, file that contradicts them', ['feed', '--config', contrary, ...flags], {}],
    ['flags, unknown flag', ['feed', '--nope', ...flags], {}],
    ['flags, no such file', ['feed', '--config', join(folder, 'none'), ...flags], {}],
    ['variables, file that contradicts them', ['feed', '--config', contrary], variables],
    ['variables, unknown command', ['sreve'], variables],
  ];
  for (const [name, argv, env] of calls) {
    const { code, stdout, stderr } = await call(argv, { env });
    assert.is(code, 2, name);
    assert.is(JSON.parse(stdout).schema, 'os2g.error/1', name);
    assert.is(JSON.parse(stderr).level, 'error', name);
  }
  const off = await call(['feed', '--config', all, '--epochs', 'x'], { env: { OS2G_JSON: '0' } });
  assert.is(off.stdout, '', 'a higher layer that says no');
  const debug = await call(['feed', '--config', file('debug.json', { debug: true }), '--epochs', 'x']);
  assert.match(debug.stderr, /\n\s+at /);
  rmSync(folder, { recursive: true });
});

test('help: exit 0, and every option is in it with its variable', async () => {
  const general = await call(['--help']);
  assert.is(general.code, 0);
  for (const spec of COMMANDS) {
    assert.match(general.stdout, new RegExp(`^  ${spec.name}`, 'm'));
    const { code, stdout, stderr } = await call([spec.name, '--help']);
    assert.is(code, 0);
    assert.is(stderr, '');
    const flat = stdout.replace(/\s+/g, ' ');
    for (const field of Object.keys({ ...COMMON_OPTIONS, ...spec.options })) {
      assert.ok(flat.includes(`--${optionName(field)}`), `${spec.name}: --${optionName(field)}`);
      assert.ok(flat.includes(`env: ${variableName(field)}`), `${spec.name}: ${variableName(field)}`);
    }
    assert.is((await call(['help', spec.name])).stdout, stdout);
  }
  for (const later of ['serve', 'calibrate']) {
    assert.not.match(helpText(COMMANDS, COMMON_OPTIONS), new RegExp(later));
  }
});

test('--version', async () => {
  const { code, stdout } = await call(['--version']);
  assert.is(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('feed --help-settings prints every setting, as text and as a document', async () => {
  const { code, stdout } = await call(['feed', '--help-settings']);
  assert.is(code, 0);
  const document = JSON.parse((await call(['feed', '--help-settings', '--json'])).stdout);
  assert.is(document.settings.length, SETTINGS.length);
  for (const { name, meaning } of SETTINGS) {
    const line = stdout.split('\n').find((text) => text.startsWith(`${name} `));
    assert.ok(line?.endsWith(meaning), name);
  }
});

test('how a command ends: exit code, standard output, standard error', async () => {
  const defect = new TypeError('undefined is not a function');
  const cases: [CommandSpec['run'], number, RegExp, RegExp][] = [
    [async () => ({ document: { n: 1 }, text: 'one' }), 0, /^one\n$/, /^$/],
    [async () => ({ document: { n: 1 }, text: 'no', exitCode: 1 }), 1, /^no\n$/, /^$/],
    [
      async () => Promise.reject(new Os2gError('lost', 'it is lost', 'look', { key: 'a/b', attempts: 3 })),
      1,
      /^$/,
      /error: it is lost\n {2}key: a\/b\n {2}attempts: 3\n {2}to mend it: look\n$/,
    ],
    [async () => Promise.reject(new ConfigError('bad', 'it is bad', 'mend it')), 2, /^$/, /error: it is bad/],
    [async () => Promise.reject(defect), 1, /^$/, /unexpected: undefined is not a function[\s\S]*--debug/],
  ];
  for (const [run, code, stdout, stderr] of cases) {
    const outcome = await call(['work'], { commands: fake(run) });
    assert.is(outcome.code, code);
    assert.match(outcome.stdout, stdout);
    assert.match(outcome.stderr, stderr);
    assert.not.match(outcome.stderr, /\n\s+at /);
  }
  const traced = await call(['work', '--debug'], { commands: fake(async () => Promise.reject(defect)) });
  assert.match(traced.stderr, /TypeError: undefined is not a function\n\s+at /);
});

test('--json: the document alone, whatever the command logs', async () => {
  const commands = fake(async (_args, _options, { log, stderr }) => {
    log.warn({ secretAccessKey: 'hidden-secret' }, 'careful');
    stderr.progress('working').update({ done: 1, total: 2, detail: 'half' });
    return { document: { schema: 'x/1', n: 1 }, text: 'text' };
  });
  for (const argv of [
    ['work', '--json'],
    ['--json', 'work'],
    ['work', '--json', '--progress', 'always', '--log-format', 'json'],
  ]) {
    const { code, stdout, stderr } = await call(argv, { commands });
    assert.is(code, 0);
    assert.equal(JSON.parse(stdout), { schema: 'x/1', n: 1 });
    assert.is(stdout.split('\n').length, 2);
    assert.match(stderr, /careful/);
    assert.not.match(stderr, /hidden-secret/);
  }
  const quiet = await call(['work', '--json', '--log-level', 'error'], { commands });
  assert.is(quiet.stderr, '');
});

test.run();
