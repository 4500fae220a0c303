import { GetObjectCommand, type S3ClientConfig } from '@aws-sdk/client-s3';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ScriptedStore, type StoreCredentials, type StoreOptions, startStore } from './index.js';
import { sdkClient } from './sdk-client.js';

const TOKENED: StoreCredentials = { accessKeyId: 'AKTEST', secretAccessKey: 'secret', sessionToken: 'token' };
type SentRequest = { path: string; query: Record<string, string>; headers: Record<string, string> };

interface Row {
  name: string;
  store?: StoreOptions;
  client?: (store: ScriptedStore) => S3ClientConfig;
  /** Changes the request after it was signed. */
  tamper?: (request: SentRequest) => void;
  want: string;
}

const MINUTE_MS = 60_000;
const ROWS: Row[] = [
  { name: 'right', want: 'ok' },
  { name: 'right, with a session token', store: TOKENED, want: 'ok' },
  { name: 'right, another region', store: { region: 'eu-central-2' }, want: 'ok' },
  { name: 'right, below a base path', store: { basePath: '/deep/s3' }, want: 'ok' },
  {
    name: 'wrong secret',
    client: (store) => ({ credentials: { ...store.credentials, secretAccessKey: 'other' } }),
    want: 'SignatureDoesNotMatch 403',
  },
  {
    name: 'unknown key',
    client: () => ({ credentials: { accessKeyId: 'AKNOBODY', secretAccessKey: 'other' } }),
    want: 'InvalidAccessKeyId 403',
  },
  {
    name: 'wrong token',
    store: TOKENED,
    client: () => ({ credentials: { ...TOKENED, sessionToken: 'other' } }),
    want: 'InvalidToken 400',
  },
  {
    name: 'no token',
    store: TOKENED,
    client: () => ({ credentials: { ...TOKENED, sessionToken: undefined } }),
    want: 'InvalidToken 400',
  },
  {
    name: 'wrong region',
    client: () => ({ region: 'ap-south-1' }),
    want: 'AuthorizationHeaderMalformed 400',
  },
  { name: '14 minutes slow', store: { wallClockMs: () => Date.now() + 14 * MINUTE_MS }, want: 'ok' },
  {
    name: '16 minutes slow',
    store: { wallClockMs: () => Date.now() + 16 * MINUTE_MS },
    want: 'RequestTimeTooSkewed 403',
  },
  {
    name: '16 minutes fast',
    store: { wallClockMs: () => Date.now() - 16 * MINUTE_MS },
    want: 'RequestTimeTooSkewed 403',
  },
  {
    name: 'another key',
    tamper: (r) => (r.path = r.path.replace('one', 'two')),
    want: 'SignatureDoesNotMatch 403',
  },
  {
    name: 'encoded twice',
    tamper: (r) => (r.path = r.path.replace('%20', '%2520')),
    want: 'SignatureDoesNotMatch 403',
  },
  {
    name: 'not as SigV4 encodes',
    tamper: (r) => (r.path = r.path.replace('%2B', '+')),
    want: 'InvalidURI 400',
  },
  { name: 'query added', tamper: (r) => (r.query.prefix = 'x'), want: 'SignatureDoesNotMatch 403' },
  {
    name: 'signed header changed',
    tamper: (r) => (r.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'),
    want: 'SignatureDoesNotMatch 403',
  },
  {
    name: 'x-amz header unsigned',
    tamper: (r) => (r.headers['x-amz-request-payer'] = 'requester'),
    want: 'AccessDenied 403',
  },
  { name: 'no authorization', tamper: (r) => delete r.headers.authorization, want: 'AccessDenied 403' },
  {
    name: 'another mechanism',
    tamper: (r) => (r.headers.authorization = 'AWS a:b'),
    want: 'InvalidRequest 400',
  },
  {
    name: 'garbled',
    tamper: (r) => (r.headers.authorization += '0'),
    want: 'AuthorizationHeaderMalformed 400',
  },
  { name: 'no date', tamper: (r) => delete r.headers['x-amz-date'], want: 'AccessDenied 403' },
  { name: 'anonymous store, signed', store: { anonymous: true }, want: 'ok' },
  { name: 'anonymous store that refuses', store: { anonymous: 'refuse-signed' }, want: 'InvalidRequest 400' },
  {
    name: 'anonymous store that refuses, unsigned',
    store: { anonymous: 'refuse-signed' },
    tamper: (r) => delete r.headers.authorization,
    want: 'ok',
  },
];

async function outcome(store: ScriptedStore, row: Pick<Row, 'client' | 'tamper'>): Promise<string> {
  const client = sdkClient(store, row.client?.(store));
  // Runs after signing, which is in the step before.
  client.middlewareStack.add(
    (next) => (args) => {
      row.tamper?.(args.request as SentRequest);
      return next(args);
    },
    { step: 'deserialize', priority: 'low', name: 'tamper' },
  );
  try {
    const got = await client.send(new GetObjectCommand({ Bucket: 'data', Key: 'one +x' }));
    return (await got.Body?.transformToString()) === 'content' ? 'ok' : 'other content';
  } catch (error) {
    const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
    return `${name} ${$metadata?.httpStatusCode}`;
  } finally {
    client.destroy();
  }
}

async function withStore(options: StoreOptions, use: (store: ScriptedStore) => Promise<void>): Promise<void> {
  const store = await startStore(options);
  try {
    store.createBucket('data', {});
    for (const key of ['one +x', 'two +x']) store.put('data', key, Buffer.from('content'));
    await use(store);
  } finally {
    await store.close();
  }
}

for (const row of ROWS) {
  test(row.name, () =>
    withStore(row.store ?? {}, async (store) => {
      assert.is(await outcome(store, row), row.want);
      assert.is(store.counters.refused, row.want === 'ok' || row.want.startsWith('InvalidURI') ? 0 : 1);
    }),
  );
}

test('expired, then renewed; the old ones stay expired', () =>
  withStore(TOKENED, async (store) => {
    assert.is(await outcome(store, {}), 'ok');
    store.expireCredentials();
    assert.is(await outcome(store, {}), 'ExpiredToken 400');
    store.acceptCredentials({ ...TOKENED, sessionToken: 'second' });
    assert.is(await outcome(store, {}), 'ok');
    assert.is(await outcome(store, { client: () => ({ credentials: TOKENED }) }), 'ExpiredToken 400');
    store.expireCredentials({ body: false });
    assert.match(await outcome(store, {}), / 400$/);
    assert.is(store.requests().at(-1)?.s3Code, 'ExpiredToken');
  }));

test('a public bucket takes the unsigned, and still checks the signed', () =>
  withStore({}, async (store) => {
    store.createBucket('open', { public: true });
    store.put('open', 'k', Buffer.from('x'));
    assert.is((await fetch(`${store.endpoint}/open/k`)).status, 200);
    assert.is((await fetch(`${store.endpoint}/data/k`)).status, 403);
    const signed = await fetch(`${store.endpoint}/open/k`, {
      headers: { authorization: 'AWS4-HMAC-SHA256 x' },
    });
    assert.is(signed.status, 400);
    await signed.text();
  }));

test.run();
