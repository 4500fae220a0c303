import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Os2gError } from '../../runtime-node/errors.js';
import { openFeed } from '../../runtime-node/index.js';
import { parseS3Url } from '../../runtime-node/s3/location.js';
import { hiderOf, shownUrl } from '../../runtime-node/s3/secrets.js';
import { openStore } from '../../runtime-node/s3/store.js';
import { accessTo, Driver, fixedCredentials } from '../engine/engine-kit.js';
import { answer, errorXml, startRawStore } from '../engine/raw-store.js';
import { startStore } from '../store/index.js';
import { keysOf, withAwsEnv } from './aws-env.js';

const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalr/XUtn+FEMI=',
  sessionToken: 'IQoJb3JpZ2luX2Vj==',
};
const { secretAccessKey: secret, sessionToken: token } = KEYS;
const SECRETS = [secret, token, encodeURIComponent(secret), encodeURIComponent(token)];

function assertNoSecret(text: string): void {
  for (const one of SECRETS) assert.is(text.includes(one), false, text);
}

async function failureOf(call: Promise<unknown>): Promise<Os2gError> {
  const thrown = await call.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (thrown instanceof Os2gError) return thrown;
  throw thrown ?? new Error('nothing was thrown');
}

test('what is hidden, and what is not', () => {
  const hide = hiderOf({ ...KEYS, expiresAtMs: null });
  const cases: [string, string][] = [
    [`got ${secret}.`, 'got [hidden].'],
    [`t=${encodeURIComponent(token)}&k=${encodeURIComponent(secret).toLowerCase()}`, 't=[hidden]&k=[hidden]'],
    ['wJalr&#x2F;XUtn&#43;FEMI&#x3D;', '[hidden]'],
    [`${token}${token}`, '[hidden][hidden]'],
    [`cut off: ${token.slice(0, 12)}`, 'cut off: [hidden]'],
    [`begins alike, ${token.slice(0, 12)} and goes on`, `begins alike, ${token.slice(0, 12)} and goes on`],
    [`access key ${KEYS.accessKeyId}`, `access key ${KEYS.accessKeyId}`],
  ];
  for (const [text, shown] of cases) assert.is(hide(text), shown);
  const short = hiderOf({
    accessKeyId: 'a',
    secretAccessKey: 'secret',
    sessionToken: null,
    expiresAtMs: null,
  });
  assert.is(short('the secret key'), 'the secret key', 'too short to be one');
  assert.is(hiderOf(null)('text'), 'text');
});

test('a store that echoes the request: no secret in an error of a listing or a head', async () => {
  const store = await startStore({ ...KEYS });
  store.createBucket('data');
  const message = `no: ${secret} ${token} ${encodeURIComponent(token)}`;
  const headers = { 'x-amz-request-id': `id-${token}` };
  store.faults.add({ fault: { kind: 'status', status: 403, code: `No${secret}`, message, headers } });
  await withAwsEnv(keysOf(store.credentials), async () => {
    const s3 = await openStore({ endpoint: store.endpoint });
    for (const call of [() => s3.listObjects('data', '').next(), () => s3.headObject('data', 'k')]) {
      const failed = await failureOf(call());
      assertNoSecret(`${JSON.stringify(failed)} ${failed.message} ${failed.stack}`);
      assertNoSecret(`${(failed.cause as Error).message} ${(failed.cause as Error).stack}`);
    }
    await s3.close();
  });
  await store.close();
});

// What an answer to a GET echoes, and where.
const BODY = `${'x'.repeat(3900)}`;
const ECHOES: [string, Buffer][] = [
  ['in the message', error(403, `denied: ${token} ${secret}`, {})],
  ['at the start of a body that is no XML', error(400, '', {}, `${secret} ${token} ${token}`)],
  ['where the kept body is cut off', error(400, '', {}, `${token.repeat(4)}${BODY}${token}`)],
  ['in the request id', error(404, 'gone', { 'x-amz-request-id': token })],
  ['in the region', error(301, 'elsewhere', { 'x-amz-bucket-region': token })],
  ['in the ETag', answer(200, { ETag: `"${token}"`, 'Content-Length': '4' }, 'abcd')],
  [
    'in Content-Range',
    answer(206, { ETag: '"e"', 'Content-Range': `bytes ${token}`, 'Content-Length': '4' }, 'abcd'),
  ],
];
function error(status: number, message: string, headers: Record<string, string>, text?: string): Buffer {
  const body = text ?? errorXml('Refused', message);
  return answer(status, { 'Content-Length': String(Buffer.byteLength(body)), ...headers }, body);
}
for (const [where, reply] of ECHOES) {
  test(`a store that echoes a secret ${where}: none in the failure of a GET`, async () => {
    const store = await startRawStore((_request, socket) => void socket.write(reply));
    const driver = new Driver(accessTo(store.port, { credentials: fixedCredentials(KEYS) }), [
      { key: 'k', size: 4, etag: '"e"' },
    ]);
    assert.is.not((await driver.get(0, 0, 4, 7)).what, 'fetched');
    const shown = inspect(driver.engine.failure(7), { depth: 9 });
    assertNoSecret(shown);
    assert.match(shown, /\[hidden\]/);
    await driver.engine.close();
    await store.close();
  });
}

test('a URL is shown without what may be secret in it', () => {
  const cases: [string, string][] = [
    ['http://me:PASSWORD@host:9000/base', 'http://...@host:9000/base'],
    ['http://:PASSWORD@host', 'http://...@host'],
    ['http://me:PASS/WORD@host', 'http://...@host'],
    ['http://me:PASS@WORD@host', 'http://...@host'],
    ['http://me:PASS?WORD#@host', 'http://...@host'],
    ['me:PASSWORD@host', '...@host'],
    ['https://host/?X-Amz-Signature=PASSWORD', 'https://host/?...'],
    ['https://host/#PASSWORD', 'https://host/?...'],
  ];
  for (const [url, shown] of cases) assert.is(shownUrl(url), JSON.stringify(shown));
});

test('an endpoint or a source with a password is refused, and not shown', async () => {
  const calls: [string, () => Promise<unknown>][] = [
    ...[
      'http://me:PASSWORD@host',
      'http://:PASSWORD@host',
      'me:PASSWORD@host',
      'http://me:PASS/PASSWORD@host',
    ].flatMap((endpoint): [string, () => Promise<unknown>][] => [
      [endpoint, () => openStore({ endpoint })],
      [
        `${endpoint} in AWS_ENDPOINT_URL_S3`,
        () => withAwsEnv({ AWS_ENDPOINT_URL_S3: endpoint }, () => openStore({})),
      ],
    ]),
    ['s3://', async () => parseS3Url('s3://KEY:PASSWORD@bucket/prefix')],
    ...['s3a://KEY:PASSWORD@bucket/prefix', 'https://host/bucket/key?X-Amz-Signature=PASSWORD'].map(
      (source): [string, () => Promise<unknown>] => [source, () => openFeed({ source, batchSamples: 1 })],
    ),
  ];
  for (const [name, call] of calls) {
    const refused = await failureOf(call());
    assert.is(refused.exitCode, 2, `${name}: ${refused.message}`);
    const shown =
      inspect(refused, { depth: 9 }) + JSON.stringify([refused.told('api'), refused.told('command')]);
    assert.not.match(shown, /PASSWORD/, name);
  }
});

test.run();
