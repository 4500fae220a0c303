import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checksText } from '../../runtime-node/cli/commands/doctor.js';
import type { Check } from '../../runtime-node/cli/doctor/check.js';
import { skewCheck } from '../../runtime-node/cli/doctor/clock-skew.js';
import { BUCKET, type Dataset, openDataset } from './kit/dataset.js';
import { os2g } from './kit/process.js';

let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

async function doctor(
  argv: string[],
  env: Record<string, string>,
  exitCode: number,
): Promise<Map<string, Check>> {
  const { code, stdout, stderr } = await os2g(['doctor', ...argv, '--json'], env);
  assert.is(code, exitCode, stdout + stderr);
  const { schema, checks } = JSON.parse(stdout) as { schema: string; checks: Check[] };
  assert.is(schema, 'os2g.doctor-result/1');
  for (const { name, status, detail, mend } of checks) {
    assert.ok(name && detail);
    assert.is(mend === null, status === 'ok', name);
  }
  return new Map(checks.map((check) => [check.name, check]));
}

test('a store that is well: everything is looked at, nothing fails, no secret is shown', async () => {
  const checks = await doctor([`s3://${BUCKET}/train/`], data.env, 0);
  for (const name of [
    'node',
    'core (release)',
    'core (debug)',
    'core (wasi)',
    'engine (portable)',
    'landing (memory)',
    'credentials',
    'endpoint',
    'endpoint answers',
    'listing',
    'limit of open files',
    'memory',
  ]) {
    assert.is(checks.get(name)?.status, 'ok', name);
  }
  assert.is(checks.get('engine (native)')?.status, 'warn');
  const { stdout } = await os2g(['doctor', `s3://${BUCKET}/train/`], data.env);
  assert.not.ok(stdout.includes(data.store.credentials.secretAccessKey));
  assert.match(stdout, /^ok +node/m);
});

test('a store that is not: each with its reason', async () => {
  const source = `s3://${BUCKET}/train/`;
  const { AWS_SECRET_ACCESS_KEY: _secret, AWS_ACCESS_KEY_ID: _id, ...nobody } = data.env;
  const cases: [string[], Record<string, string>, string][] = [
    [['s3://nowhere/x'], data.env, 'listing'],
    [[source], { ...data.env, AWS_SECRET_ACCESS_KEY: 'wrong' }, 'listing'],
    [
      [source],
      { ...nobody, AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' },
      'credentials',
    ],
    [[source, '--endpoint', 'http://127.0.0.1:1'], data.env, 'endpoint answers'],
    [[source, '--ca-bundle', '/nowhere.pem'], data.env, 'endpoint'],
  ];
  for (const [argv, env, name] of cases) {
    const checks = await doctor(argv, env, 1);
    assert.is(checks.get(name)?.status, 'fail', `${argv.join(' ')}: ${JSON.stringify([...checks.values()])}`);
  }
});

test('the clocks', () => {
  const now = Date.UTC(2026, 0, 1);
  const cases: [number | null, Check['status']][] = [
    [now + 900, 'ok'],
    [now - 59_000, 'ok'],
    [now + 61_000, 'warn'],
    [now - 14 * 60_000, 'warn'],
    [now + 15 * 60_000, 'fail'],
    [null, 'warn'],
  ];
  for (const [endpointMs, status] of cases) assert.is(skewCheck(endpointMs, now).status, status);
});

test('what people see: the mend stands below', () => {
  const text = checksText([{ name: 'a', status: 'fail', detail: 'is broken', mend: 'mend it' }], {
    NO_COLOR: '1',
  });
  assert.is(text, 'fail  a  is broken\n         to mend it: mend it');
});

test.run();
