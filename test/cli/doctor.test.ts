import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checksText } from '../../runtime-node/cli/commands/doctor.js';
import type { Check } from '../../runtime-node/cli/doctor/check.js';
import { skewCheck } from '../../runtime-node/cli/doctor/clock-skew.js';
import { loadNative } from '../../runtime-node/native/load.js';
import { selfSigned } from '../store/index.js';
import { BUCKET, type Dataset, openDataset } from './kit/dataset.js';
import { os2g } from './kit/process.js';

let data: Dataset;
test.before(async () => {
  data = await openDataset();
});
test.after(() => data.close());

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function doctor(
  argv: string[],
  env: Record<string, string>,
  exitCode: number,
): Promise<Map<string, Check>> {
  const { code, stdout, stderr } = await os2g(['doctor', ...argv, '--json'], env);
  assert.is(code, exitCode, stdout + stderr);
  const { schema, checks, first_failure } = JSON.parse(stdout) as {
    schema: string;
    first_failure: string | null;
    checks: Check[];
  };
  assert.is(first_failure, checks.find(({ status }) => status === 'fail')?.name ?? null);
  assert.is(schema, 'os2g.doctor-result/1');
  for (const { name, status, detail, mend } of checks) {
    assert.ok(name && detail);
    assert.is(mend === null, status === 'ok' || status === 'info' || status === 'skip', name);
    assert.not.match(`${detail} ${mend}`, /none needed|routines|\n/, name);
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
    ...[
      'dns',
      'connect',
      'tls',
      'endpoint answers',
      'clock',
      'region',
      'listing',
      'head',
      'range',
      'if-match',
    ],
    ...['throughput (1 connection)', 'throughput (16 connections)'],
    'limit of open files',
    'memory',
  ]) {
    assert.is(checks.get(name)?.status, 'ok', name);
  }
  const native = loadNative().module;
  assert.is(checks.get('engine (native)')?.status, native === null ? 'warn' : 'ok');
  if (native !== null) assert.is(checks.get('landing (shm)')?.status, 'ok');
  const without = await doctor([], { OS2G_NATIVE: 'off' }, 0);
  assert.is(without.get('engine (native)')?.status, 'warn');
  assert.match(without.get('engine (native)')?.mend ?? '', /OS2G_NATIVE/);
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
    [[source, '--endpoint', 'http://127.0.0.1:1'], data.env, 'connect'],
    [[source, '--ca-bundle', '/nowhere.pem'], data.env, 'endpoint'],
    [[`s3://${BUCKET}/nope/`], data.env, 'listing'],
    [[source, '--profile', 'nope'], { ...data.env, AWS_CONFIG_FILE: '/nowhere' }, 'profile'],
    [['--profile', 'nope'], { ...data.env, AWS_CONFIG_FILE: '/nowhere' }, 'profile'],
  ];
  for (const [argv, env, name] of cases) {
    const checks = await doctor(argv, env, 1);
    assert.is(checks.get(name)?.status, 'fail', `${argv.join(' ')}: ${JSON.stringify([...checks.values()])}`);
  }
});

test('without credentials: endpoint and network are looked at all the same', async () => {
  const env = {
    ...{ AWS_REGION: 'us-east-1', AWS_ENDPOINT_URL_S3: data.store.endpoint },
    ...{ AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' },
  };
  for (const [argv, exitCode, status] of [
    [[`s3://${BUCKET}/train/`], 1, 'fail'],
    [[], 0, 'warn'],
  ] as const) {
    const checks = await doctor([...argv], env, exitCode);
    assert.is(checks.get('credentials')?.status, status);
    assert.is(checks.get('endpoint')?.status, 'ok');
    assert.is(checks.get('endpoint answers')?.status, 'ok');
    assert.is(checks.get('listing')?.status, argv.length === 0 ? undefined : 'skip');
  }
});

test('folder markers are no objects, as for index', async () => {
  const { store, env } = data;
  store.createBucket('marked');
  for (const key of ['a/', 'b/', 'b/c/']) store.put('marked', key, { sizeBytes: 0, seed: 1 });
  store.put('marked', 'b/c/1', { sizeBytes: 10, seed: 1 });
  const some = await doctor(['s3://marked/b/'], env, 0);
  assert.is(some.get('listing')?.detail, '1 object on the first page (and 2 folder markers, no samples)');
  const none = await doctor(['s3://marked/a/'], env, 1);
  assert.is(none.get('listing')?.detail, 'nothing but 1 folder marker begins with "a/"');
});

test('what answers is not what was asked for: each said in words', async () => {
  const web = createServer((_request, answer) => {
    answer.writeHead(404, { 'content-type': 'text/html' }).end('<html><h1>Not Found</h1></html>');
  });
  const mute = createTcpServer((socket) => {
    socket.on('error', () => {}); // a look at whether anybody listens ends in a reset
    socket.end('220 mail.example.com ESMTP\r\n');
  });
  const { key, cert } = selfSigned(['localhost']);
  const secure = createTlsServer({ key, cert }, (_request, answer) => answer.end());
  const ports = await Promise.all([web, mute, secure].map(listen));
  const [webPort, mutePort, securePort] = ports;
  const cases: [endpoint: string, detail: RegExp, mend: RegExp, step?: string][] = [
    [`http://127.0.0.1:${webPort}`, /answers, but not as an S3 does \(HTTP 404, text\/html\)/, /port/],
    [`https://127.0.0.1:${webPort}`, /this port speaks http, not https/, /http:\/\//, 'tls'],
    [`http://127.0.0.1:${mutePort}`, /does not answer in HTTP/, /--endpoint/],
    [`http://127.0.0.1:${securePort}`, /127\.0\.0\.1/, /--endpoint/],
    [`https://127.0.0.1:${securePort}`, /self-signed/, /AWS_CA_BUNDLE/, 'tls'],
  ];
  for (const [endpoint, detail, mend, step = 'endpoint answers'] of cases) {
    for (const argv of [[`s3://${BUCKET}/train/`], []]) {
      const check = (await doctor([...argv, '--endpoint', endpoint], data.env, 1)).get(step);
      assert.is(check?.status, 'fail', endpoint);
      assert.match(check?.detail ?? '', detail);
      assert.match(check?.mend ?? '', mend);
    }
  }
  for (const server of [web, mute, secure]) server.close();
});

test('a CA bundle is told with https only', async () => {
  const file = data.file('ca.pem');
  writeFileSync(file, selfSigned(['localhost']).cert);
  const plain = await doctor([], { ...data.env, AWS_CA_BUNDLE: file }, 0);
  assert.not.match(plain.get('endpoint')?.detail ?? '', /CA bundle/);
  const { AWS_ENDPOINT_URL_S3: _endpoint, ...aws } = data.env;
  const secure = await doctor([], { ...aws, AWS_CA_BUNDLE: file }, 0);
  assert.match(secure.get('endpoint')?.detail ?? '', /CA bundle/);
});

test('the clocks', () => {
  const now = Date.UTC(2026, 0, 1);
  const cases: [number | null, Check['status']][] = [
    [now + 900, 'ok'],
    [now - 59_000, 'ok'],
    [now + 61_000, 'warn'],
    [now - 14 * 60_000, 'warn'],
    [now + 15 * 60_000, 'fail'],
    [null, 'info'],
  ];
  for (const [endpointMs, status] of cases) assert.is(skewCheck(endpointMs, now).status, status);
});

test('what people see: the mend stands below', () => {
  const text = checksText([{ name: 'a', status: 'fail', detail: 'is broken', mend: 'mend it' }], {
    NO_COLOR: '1',
  });
  assert.is(text, 'fail  a  is broken\n         to mend it: mend it\n\nthe first that fails: a. Mend it.');
});

test.run();
