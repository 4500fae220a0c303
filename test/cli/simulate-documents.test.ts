// What docs/simulator.md and docs/scenario.md say, held against the code.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../runtime-node/package-root.js';
import { loadScenario, PROFILES, STALL_NAMES } from '../../simulator/index.js';
import { JOB_DEFAULTS } from '../../simulator/scenario/defaults.js';
import { scenarioInput } from '../../simulator/scenario/schema.js';
import { call } from './kit/run-in-process.js';

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');
const folder = join(packageRoot, 'docs/examples/scenarios');
const examples = readdirSync(folder).filter((name) => name.endsWith('.json'));
/** Beyond this a run takes its time. */
const QUICK_SAMPLES = 70_000;

test('every example is a scenario, and the quick ones run', async () => {
  assert.ok(examples.length >= 6);
  for (const name of examples) {
    const { scenario } = loadScenario(join(folder, name));
    assert.is(`${scenario.name}.json`, name, 'a file is named as its scenario');
    if (scenario.dataset.samples > QUICK_SAMPLES) continue;
    const { code, stdout, stderr } = await call(['simulate', join(folder, name), '--json']);
    assert.is(code, 0, `${name}: ${stderr}`);
    const { results } = JSON.parse(stdout);
    assert.equal(
      results.map(({ pipeline }: { pipeline: string }) => pipeline),
      scenario.pipelines,
    );
  }
});

test('docs/simulator.md shows the example in code as it is, and it runs', () => {
  assert.ok(read('docs/simulator.md').includes(read('docs/examples/simulate.mjs')));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(packageRoot, 'docs/examples/simulate.mjs'), join(folder, 'own-machine.json')],
    { encoding: 'utf8', timeout: 60_000 },
  );
  assert.is(status, 0, stderr);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    lines.map(({ hedge_share }) => hedge_share),
    [0, 0.01],
  );
  assert.ok(
    lines.every(({ epoch_s }) => epoch_s.length === 3 && epoch_s.every((seconds: number) => seconds > 0)),
  );
});

test('docs/scenario.md names every field', () => {
  const text = read('docs/scenario.md');
  const paths = [
    ...Object.keys(scenarioInput.shape).filter((name) => name !== 'schema'),
    ...Object.keys(JOB_DEFAULTS.dataset),
    ...Object.keys(JOB_DEFAULTS.training),
    ...loadScenario({ schema: 'os2g.scenario/1' }).parameters.map(({ path }) => path.split('.').at(-1)!),
  ];
  for (const path of paths) assert.match(text, new RegExp(`\\b${path}\\b`), path);
  for (const { name } of PROFILES) assert.ok(text.includes(`\`${name}\``), name);
});

test('docs/simulator.md names every field of a result and every cause of a stall', async () => {
  const text = read('docs/simulator.md');
  const { stdout } = await call([
    'simulate',
    join(folder, 'four-nodes.json'),
    '--pipeline',
    'os2g',
    '--json',
  ]);
  const { results, ...document } = JSON.parse(stdout);
  const fields = [...Object.keys(document).filter((name) => name !== 'schema'), ...Object.keys(results[0])];
  const own = ['simulated_events', 'pipeline'];
  for (const name of [...fields, ...STALL_NAMES]) {
    if (!own.includes(name)) assert.match(text, new RegExp(`\`${name}(\\[\\])?\``), name);
  }
});

test('the calls that docs/simulator.md shows are right calls', async () => {
  const lines = read('docs/simulator.md').match(/^os2g simulate .+$/gm) ?? [];
  assert.ok(lines.length >= 4);
  for (const line of lines) {
    const words = line.replace(/#.*$/, '').trim().split(/\s+/).slice(1);
    // Everything is checked before the run, the place of the files last: a folder that is not there ends the call.
    const argv = words.map((word) => (word.startsWith('docs/') ? join(packageRoot, word) : word));
    const { code, stdout, stderr } = await call([...argv, '--trace', join(folder, 'nowhere', 'x'), '--json']);
    assert.is(code, 2, stderr);
    assert.is(JSON.parse(stdout).error.code, 'bad_output', `${line}: ${stderr}`);
  }
});

test.run();
