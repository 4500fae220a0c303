import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolvePolicy } from '../../runtime-node/policy/resolve.js';
import type { TuneResult } from '../../simulator/tune/index.js';
import { BUCKET, openDataset } from '../cli/kit/dataset.js';
import { Call, os2g } from '../cli/kit/process.js';
import { call } from '../cli/kit/run-in-process.js';
import { SMALL, withoutWall } from './tune-kit.js';

const folder = mkdtempSync(join(tmpdir(), 'os2g-tune-'));
test.after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(at(name), 'utf8');
const SCENARIO = at('small.json');
writeFileSync(SCENARIO, JSON.stringify(SMALL));

const linesOf = (name: string): number => (existsSync(at(name)) ? read(name).split('\n').length - 1 : 0);
const resultOf = (name: string): Omit<TuneResult, 'wall_s'> =>
  withoutWall(JSON.parse(read(name)) as TuneResult);

test('a policy, its evidence beside it, and a table; the same document with --json', async () => {
  const flags = ['--budget', '12', '--seeds', '2', '-o', at('tuned.json')];
  const { code, stdout, stderr } = await os2g(['tune', SCENARIO, ...flags, '--progress', 'always']);
  assert.is(code, 0, stderr);
  assert.match(stdout, /held-out seeds +[\d.]+ %/);
  assert.match(stderr, /tune \d+% /);
  const policy = JSON.parse(read('tuned.json'));
  assert.equal(Object.keys(policy), ['schema', 'preset', 'set']);
  resolvePolicy(policy);
  const told = resultOf('tuned.tune.json');
  assert.equal(told.policy, policy);
  const again = await os2g(['tune', SCENARIO, ...flags, '--json', '--workers', '1']);
  assert.equal(
    withoutWall(JSON.parse(again.stdout) as TuneResult),
    told,
    'replaced by the same, with another number of workers',
  );
});

test('killed with SIGKILL and resumed: the files of an unbroken run', async () => {
  const flags = (name: string): string[] => [
    '--budget',
    '40',
    '--seeds',
    '2',
    '-o',
    at(`${name}.json`),
    '--journal',
    at(`${name}.jsonl`),
  ];
  assert.is((await os2g(['tune', SCENARIO, ...flags('whole')])).code, 0);
  const running = new Call(['tune', SCENARIO, ...flags('killed')]);
  await running.until(() => linesOf('killed.jsonl') >= 20);
  running.child.kill('SIGKILL');
  await running.ended;
  assert.not.ok(existsSync(at('killed.json')));
  const resumed = await os2g(['tune', SCENARIO, ...flags('killed'), '--resume']);
  assert.is(resumed.code, 0, resumed.stderr);
  assert.is(read('killed.json'), read('whole.json'));
  assert.equal(resultOf('killed.tune.json'), resultOf('whole.tune.json'));
});

test('SIGINT: exit 130, the best so far is a policy file, and the search can go on', async () => {
  const flags = ['-o', at('stopped.json'), '--journal', at('stopped.jsonl')];
  const running = new Call(['tune', SCENARIO, '--time', '1h', ...flags, '--json']);
  await running.until(() => linesOf('stopped.jsonl') >= 20);
  running.child.kill('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  assert.is(code, 130, stderr);
  const { error } = JSON.parse(stdout);
  assert.is(error.code, 'aborted');
  assert.match(error.message, /best so far/);
  resolvePolicy(JSON.parse(read('stopped.json')));
  assert.is(resultOf('stopped.tune.json').search.ended_by, 'interrupted');
  const more = await os2g(['tune', SCENARIO, '--budget', '12', ...flags, '--resume', '--json']);
  assert.is(more.code, 0, more.stderr);
});

test('feed takes the policy', async () => {
  const data = await openDataset();
  try {
    const tuned = await os2g(['tune', SCENARIO, '--budget', '12', '-o', at('feed.json'), '--json']);
    assert.is(tuned.code, 0, tuned.stderr);
    const { policy } = JSON.parse(tuned.stdout) as TuneResult;
    const argv = [
      'feed',
      `s3://${BUCKET}/train/`,
      '--batch-samples',
      '8',
      '--policy',
      at('feed.json'),
      '--json',
    ];
    const { code, stdout, stderr } = await os2g(argv, data.env);
    assert.is(code, 0, stderr);
    const result = JSON.parse(stdout);
    assert.is(result.samples, 120);
    for (const [name, value] of Object.entries(policy.set)) assert.is(result.policy.set[name], value, name);
  } finally {
    await data.close();
  }
});

test('wrong calls: exit 2, nothing on standard output, nothing written', async () => {
  const other = at('other.txt');
  writeFileSync(other, 'mine');
  writeFileSync(at('bad.json'), JSON.stringify({ ...SMALL, seed: -1 }));
  writeFileSync(at('odd.json'), JSON.stringify({ ...SMALL, speed: 3 }));
  writeFileSync(at('tight.json'), JSON.stringify({ ...SMALL, memory_budget_mib: 0.01 }));
  const good = ['-o', at('never.json')];
  const cases: [string[], RegExp][] = [
    [[], /missing required argument 'scenarios'/],
    [[SCENARIO], /no file to write/],
    [[at('nowhere.json'), ...good], /nowhere\.json/],
    [[at('bad.json'), ...good], /bad\.json: seed/],
    [[at('odd.json'), ...good], /odd\.json: speed/],
    [[at('tight.json'), ...good], /memory_budget_mib/],
    [[SCENARIO, '-o', SCENARIO], /--output.*also what --scenarios names|holds something else/],
    [[SCENARIO, '-o', other], /holds something else than a policy file/],
    [[SCENARIO, '-o', join(folder, 'no', 'x.json')], /folder .* does not exist/],
    [[SCENARIO, '-o', at('x.wasm')], /is JSON/],
    [[SCENARIO, ...good, '--objective', 'speed'], /--objective: "speed"/],
    [[SCENARIO, ...good, '--constraint', 'epoch_time<=90'], /90/],
    [[SCENARIO, ...good, '--constraint', 'speed<=1x'], /NAME<=VALUE/],
    [[SCENARIO, ...good, '--robust', 'best'], /--robust/],
    [[SCENARIO, ...good, '--pipeline', 's3fs'], /--pipeline: "s3fs"/],
    [[SCENARIO, ...good, '--seeds', '0'], /--seeds/],
    [[SCENARIO, ...good, '--budget', 'NaN'], /--budget/],
    [[SCENARIO, ...good, '--time', '5'], /--time/],
    [[SCENARIO, ...good, '--budget', '5', '--time', '5s'], /both/],
    [[SCENARIO, ...good, '--workers', '0'], /--workers/],
    [[SCENARIO, ...good, '--resume'], /without --journal/],
    [[SCENARIO, ...good, '--resume', '--journal', at('none.jsonl')], /cannot be read/],
    [[SCENARIO, ...good, '--journal', other], /holds something else than a journal/],
    [[SCENARIO, ...good, '--objective', 'host_cpu', '--pipeline', 'os2g'], /host_cpu is 0/],
  ];
  for (const [argv, words] of cases) {
    const { code, stdout, stderr } = await call(['tune', ...argv]);
    assert.is(code, 2, `${argv.join(' ')}: ${stderr}`);
    assert.is(stdout, '');
    assert.match(stderr, words);
    assert.not.match(stderr, /\n\s+at /, 'no stack trace');
  }
  assert.is(readFileSync(other, 'utf8'), 'mine');
  assert.not.ok(existsSync(at('never.json')));
});

test.run();
