import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PIPELINE_NAMES } from '../../simulator/index.js';
import { Call, os2g } from './kit/process.js';
import { call } from './kit/run-in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'os2g-simulate-'));
test.after(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);

const SCENARIO = {
  schema: 'os2g.scenario/1',
  name: 'small',
  profile: 'paper',
  dataset: { samples: 3000 },
  training: { batch_samples_per_gpu: 100 },
};

function scenario(name: string, over: object = {}): string {
  writeFileSync(file(name), JSON.stringify({ ...SCENARIO, ...over }));
  return file(name);
}

const small = scenario('small.json');

async function document(
  argv: readonly string[],
): Promise<{ code: number; result: ReturnType<typeof JSON.parse> }> {
  const { code, stdout, stderr } = await call(['simulate', ...argv, '--json']);
  assert.is(stdout.split('\n').length, 2, stderr);
  return { code, result: JSON.parse(stdout) };
}

/** Without what the contract sets aside: wall time and rates. */
const reproducible = (result: object): string =>
  JSON.stringify(result, (name, value) =>
    ['wall_s', 'core_events_per_s'].includes(name) ? undefined : value,
  );

test('--json: the document of the contract, the same bytes from every call', async () => {
  const { code, result } = await document([small]);
  assert.is(code, 0);
  assert.is(result.schema, 'os2g.simulate-result/1');
  assert.is(result.scenario_sha256, createHash('sha256').update(readFileSync(small)).digest('hex'));
  assert.equal(
    result.results.map(({ pipeline }: { pipeline: string }) => pipeline),
    [...PIPELINE_NAMES],
  );
  assert.equal(result.steps.map(({ step }: { step: string }) => step).slice(0, 3), [
    'better client',
    'off the host',
    'direct',
  ]);
  const again = await os2g([
    'simulate',
    small,
    '--json',
    '--report',
    file('a.html'),
    '--timeline',
    file('a.json'),
  ]);
  assert.is(again.code, 0, again.stderr);
  assert.is(reproducible(JSON.parse(again.stdout)), reproducible(result));
});

test('the table: all pipelines side by side, the bound with who sets it, the steps apart', async () => {
  const { code, stdout, stderr } = await call(['simulate', small]);
  assert.is(code, 0, stderr);
  assert.is(stderr, '', 'no progress where there is no terminal');
  const lines = stdout.split('\n');
  assert.match(
    lines[0]!,
    /^small: 1 epoch of 3,000 samples, 1 GPU, batches of 100; profile paper, policy os2g, seed 7$/,
  );
  assert.equal(lines[2]!.trim().split(/\s+/), [...PIPELINE_NAMES]);
  for (const title of [
    'epoch',
    'GPU busy',
    'host CPU',
    'DPU CPU',
    'bound of an epoch',
    'set by',
    'stalled: store',
    'run hash',
  ]) {
    assert.ok(
      lines.some((line) => line.startsWith(`${title}  `)),
      title,
    );
  }
  for (const step of [
    'better client  s3connector -> os2g-host',
    'off the host   os2g-host -> relay',
    'direct         relay -> os2g',
  ]) {
    assert.match(stdout, new RegExp(`^${step} +[-+]?[\\d.]+ % +[-+]?[\\d.]+ %$`, 'm'));
  }
  assert.ok(lines.every((line) => line.length < 132));
});

test('what a call changes: pipelines, policy, settings, nodes, seed, profile', async () => {
  const policy = file('policy.json');
  writeFileSync(policy, '{"schema":"os2g.policy/1","preset":"readahead","set":{"concurrency.max":7}}');
  const one = (argv: string[]) => document([small, ...argv]);
  const names = (result: { results: { pipeline: string }[] }): string[] =>
    result.results.map(({ pipeline }) => pipeline);
  for (const argv of [
    ['--pipeline', 'os2g', '--pipeline', 's3fs'],
    ['--pipeline', 'os2g', 's3fs'],
    ['--pipeline', 'os2g,s3fs'],
  ]) {
    assert.equal(names((await one(argv)).result), ['os2g', 's3fs'], argv.join(' '));
  }
  const swapped = await document(['--pipeline', 'os2g', 's3fs', small]);
  assert.equal(names(swapped.result), ['os2g', 's3fs']);
  const withPolicy = (await one(['--pipeline', 'os2g', '--policy', policy, '--set', 'concurrency.initial=3']))
    .result;
  assert.is(withPolicy.policy.preset, 'readahead');
  assert.is(withPolicy.policy.set['concurrency.max'], 7);
  assert.is(withPolicy.policy.set['concurrency.initial'], 3);
  assert.is((await one(['--pipeline', 'os2g', '--policy', 'sync'])).result.policy.preset, 'sync');
  const several = (
    await one(['--pipeline', 'os2g', '--nodes', '2', '--seed', '11', '--profile', 'bluefield3'])
  ).result;
  assert.equal(
    [several.scenario.nodes, several.scenario.seed, several.scenario.profile],
    [2, 11, 'bluefield3'],
  );
  assert.ok(several.results[0].fairness.jain > 0);
});

test('--trace: `os2g replay` comes to the same run hash', async () => {
  const trace = file('run.trace');
  const { result } = await document([small, '--pipeline', 's3fs', 'os2g', '--trace', trace]);
  const { code, stdout } = await call(['replay', trace, '--json']);
  assert.is(code, 0);
  const { run_hash, match } = JSON.parse(stdout);
  assert.equal([run_hash, match], [result.results[1].run_hash, true]);
});

test('--report and --timeline: files that are whole, the same from every call', async () => {
  const write = async (n: number): Promise<string[]> => {
    const files = [file(`r${n}.html`), file(`t${n}.json`)];
    const { code, stderr } = await call(['simulate', small, '--report', files[0]!, '--timeline', files[1]!]);
    assert.is(code, 0, stderr);
    assert.match(stderr, /report: .*\.html[\s\S]*timeline: .*\.json/);
    return files.map((name) => readFileSync(name, 'utf8'));
  };
  const [page, timeline] = await write(1);
  assert.match(page!, /^<!doctype html>[\s\S]*<\/html>\n$/);
  assert.ok(JSON.parse(timeline!).traceEvents.length > 1000);
  assert.equal(await write(2), [page, timeline]);
  assert.equal(
    readdirSync(folder).filter((name) => name.includes('.part')),
    [],
  );
});

test('without a file: the scenario of the profile, with its data set', async () => {
  // A whole epoch takes its time; what is refused is known at once.
  const { code, stderr } = await call([
    'simulate',
    '--profile',
    'laptop',
    '--pipeline',
    's3fs',
    '--nodes',
    '60000',
  ]);
  assert.is(code, 2);
  assert.match(stderr, /dataset\.samples: 1281167 samples make no batch of 15360000/);
});

test('a run that its policy gives up: exit 1, the document all the same', async () => {
  const hopeless = scenario('hopeless.json', {
    store: { error_share: 0.95 },
    policy: { set: { 'retry.attempts': 1 } },
  });
  const { code, result } = await document([hopeless, '--pipeline', 'os2g']);
  assert.is(code, 1);
  assert.ok(result.results[0].failed);
  const { reason, row, at_s } = result.results[0].failed;
  assert.match(reason, new RegExp(`^reading sample ${row} failed for good \\(server\\)`));
  assert.ok(at_s > 0);
  const { stdout } = await call(['simulate', hopeless, '--pipeline', 'os2g']);
  assert.match(stdout, /ended early +server at /);
  assert.ok(stdout.includes(`os2g ended early: ${reason}.`), stdout);
});

test('a wrong call or scenario: exit 2, file and field are named, no file is written', async () => {
  mkdirSync(file('folder'));
  const bad = (name: string, over: object): string => scenario(name, over);
  writeFileSync(file('broken.json'), '{"schema": ');
  const cases: [string[], string, string | undefined, RegExp][] = [
    [[], 'bad_call', undefined, /no scenario was given/],
    [[small, small], 'bad_call', undefined, /2 scenarios/],
    [[small, 'os2g'], 'bad_call', undefined, /2 scenarios/],
    [[file('nowhere.json')], 'bad_scenario', undefined, /nowhere\.json: cannot be read/],
    [[file('broken.json')], 'bad_scenario', undefined, /broken\.json: is not JSON/],
    [[bad('x1.json', { stor: {} })], 'bad_scenario', 'stor', /x1\.json: stor/],
    [[bad('x2.json', { store: { error_shares: 0 } })], 'bad_scenario', 'store.error_shares', /x2\.json/],
    [[bad('x3.json', { network: { rtt_ms: -1 } })], 'bad_scenario', 'network.rtt_ms', /x3\.json/],
    [[bad('x4.json', { memory_budget_mib: 1 })], 'bad_scenario', 'memory_budget_mib', /x4\.json.*one batch/],
    [
      [bad('x5.json', { policy: { preset: 'best' } })],
      'bad_scenario',
      'policy.preset',
      /x5\.json: policy\.preset: there is no policy preset "best"/,
    ],
    [
      [bad('x6.json', { policy: { set: { nope: 1 } } })],
      'bad_scenario',
      'policy.set.nope',
      /x6\.json: policy\.set\.nope: there is no setting "nope"/,
    ],
    [
      [
        bad('x7.json', {
          dataset: { samples: 3000, sample_bytes: { kind: 'constant', value: 2e5 } },
          memory_budget_mib: 19.1,
        }),
        '--pipeline',
        'os2g',
      ],
      'bad_scenario',
      'memory_budget_mib',
      /x7\.json: memory_budget_mib: 19\.1 MiB give each GPU/,
    ],
    [
      [bad('x8.json', { network: { gbit_per_s: 1e-300 } })],
      'bad_scenario',
      'network.gbit_per_s',
      /x8\.json: network\.gbit_per_s/,
    ],
    [[small, '--profile', 'mainframe'], 'bad_scenario', 'profile', /no profile "mainframe"/],
    [[small, '--pipeline', 'os2'], 'bad_option', 'pipeline', /no pipeline "os2"/],
    [[small, '--pipeline', ''], 'bad_option', 'pipeline', /--pipeline/],
    [[small, '--pipeline', 'os2g,os2g'], 'bad_scenario', 'pipelines', /twice/],
    [[small, '--nodes', '0'], 'bad_option', 'nodes', /--nodes/],
    [[small, '--nodes', '1000'], 'bad_scenario', 'dataset.samples', /make no batch/],
    [[small, '--seed', '1.5'], 'bad_option', 'seed', /--seed/],
    [[small, '--set', 'window.byte=1'], 'bad_option', undefined, /window\.byte/],
    [[small, '--policy', 'nothing'], 'bad_policy', 'policy', /nothing/],
    [[small, '--report', file('folder')], 'bad_output', 'report', /is a folder/],
    [[small, '--timeline', file('no/where.json')], 'bad_output', 'timeline', /where\.json/],
    [[small, '--trace', file('no/where')], 'bad_output', 'trace', /where/],
    [[small, '--timeline', small], 'bad_output', 'timeline', /also what/],
    [[small, '--timeline', file('broken.json')], 'bad_output', 'timeline', /something else than a timeline/],
    [[small, '--report', file('same'), '--trace', file('same')], 'bad_output', 'report', /also what --trace/],
    [[small, '--pipeline', 's3fs', '--trace', file('t')], 'bad_option', 'trace', /has a core/],
  ];
  for (const [argv, code, option, words] of cases) {
    const report = argv.includes('--report') ? [] : ['--report', file('never.html')];
    const outcome = await call(['simulate', ...argv, ...report, '--json']);
    assert.is(outcome.code, 2, `${argv.join(' ')}: ${outcome.stdout}`);
    const { error } = JSON.parse(outcome.stdout);
    assert.is(error.code, code, error.message);
    if (option !== undefined) assert.is(error.option, option, error.message);
    assert.match(error.message, words);
    assert.ok(error.mend.length > 5);
  }
  assert.not.ok(existsSync(file('never.html')));
});

test('--progress always: it is told on standard error, and which pipeline runs', async () => {
  const { code, stdout, stderr } = await call(['simulate', small, '--progress', 'always', '--json']);
  assert.is(code, 0);
  assert.match(stderr, /simulating \d+% \S+ \(\d of 6\) +\S+ s of virtual time/);
  assert.is(stdout.split('\n').length, 2);
});

test('interrupted in the middle of a long run: it ends, with 130 and no file', async () => {
  const long = scenario('long.json', { dataset: { samples: 50_000_000 } });
  const run = new Call(['simulate', long, '--progress', 'always', '--report', file('long.html')]);
  await run.until(() => run.stderr.includes('simulating'));
  run.child.kill('SIGINT');
  const { code, stderr } = await run.ended;
  assert.is(code, 130, stderr);
  assert.match(stderr, /the simulation was interrupted/);
  assert.not.ok(existsSync(file('long.html')));
});

test.run();
