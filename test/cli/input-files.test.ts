import { execFileSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BUCKET, type Dataset, openDataset } from './kit/dataset.js';
import { Call, os2g } from './kit/process.js';

let data: Dataset;
test.before(async () => {
  data = await openDataset();
  execFileSync('mkfifo', [data.file('pipe')]);
});
test.after(() => data.close());

const SOURCE = `s3://${BUCKET}/train/`;

// Call with the pipe in place of PIPE -> code. A call that opened the pipe would wait for a writer until the kit ends it.
const CALLS: [string[], string][] = [
  [['replay', 'PIPE'], 'bad_trace'],
  [['replay', 'PIPE', '--host', 'wasi'], 'bad_trace'],
  [['feed', SOURCE, '--resume', 'PIPE'], 'bad_cursor'],
  [['feed', SOURCE, '--policy', 'PIPE'], 'bad_policy'],
  [['feed', SOURCE, '--config', 'PIPE'], 'bad_file'],
  [['feed', SOURCE, '--ca-bundle', 'PIPE'], 'bad_ca_bundle'],
  [['feed', '--manifest', 'PIPE'], 'bad_manifest'],
  [['simulate', 'PIPE'], 'bad_scenario'],
  [['tune', 'PIPE', '-o', 'OUT'], 'bad_scenario'],
];
for (const [words, code] of CALLS) {
  test(`a named pipe: ${words.slice(0, 3).join(' ').replace(SOURCE, '...')} -> ${code}`, async () => {
    const files: Record<string, string> = { PIPE: data.file('pipe'), OUT: data.file('tuned.json') };
    const ended = await os2g([...words.map((word) => files[word] ?? word), '--json'], data.env);
    assert.is(ended.code, 2, ended.stderr);
    const { error } = JSON.parse(ended.stdout);
    assert.is(error.code, code);
    assert.match(error.message, /pipe/);
  });
}

for (const path of ['/dev/zero', '/dev/null']) {
  test(`a device never ends: replay ${path}`, async () => {
    const { code, stderr } = await os2g(['replay', path]);
    assert.is(code, 2);
    assert.match(stderr, /it is a device, not a file/);
  });
}

test('a pipe that the shell opened is read', async () => {
  const trace = data.file('run.trace');
  const fed = await os2g(['feed', SOURCE, '--batch-samples', '8', '--trace', trace, '--json'], data.env);
  assert.is(fed.code, 0, fed.stderr);
  const ended = await Call.ofShell(`"$@" <(cat '${trace}')`, ['replay', '--json']).ended;
  assert.is(ended.code, 0, ended.stderr);
  assert.is(JSON.parse(ended.stdout).match, true);
});

test.run();
