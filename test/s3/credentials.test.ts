import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../runtime-node/errors.js';
import { RefreshedCredentials, type SdkIdentity } from '../../runtime-node/s3/credentials.js';
import { openStore } from '../../runtime-node/s3/store.js';
import { accessTo, Driver, until } from '../engine/engine-kit.js';
import { answer, startRawStore } from '../engine/raw-store.js';
import { expiredToken, type StoreCredentials, startStore } from '../store/index.js';
import { withAwsEnv } from './aws-env.js';

const first: StoreCredentials = { accessKeyId: 'ONE', secretAccessKey: 's1', sessionToken: 't1' };
const second: StoreCredentials = { accessKeyId: 'TWO', secretAccessKey: 's2', sessionToken: 't2' };

/** A provider that gives one identity after the other, the last one for ever. */
function provider(identities: (SdkIdentity | Error)[]) {
  let calls = 0;
  const give = async (): Promise<SdkIdentity> => {
    const identity = identities[Math.min(calls++, identities.length - 1)]!;
    if (identity instanceof Error) throw identity;
    return identity;
  };
  return { give, calls: () => calls };
}
const identity = (of: StoreCredentials, expiration?: Date): SdkIdentity => ({ ...of, expiration });

for (const body of [true, false]) {
  test(`case 17: credentials that expire in mid-epoch, ${body ? 'with' : 'without'} a body: refreshed once, nothing lost`, async () => {
    const store = await startStore({ ...first });
    store.createBucket('data');
    store.put('data', 'k', Buffer.from('0123456789'));
    const source = provider([identity(first, new Date(Date.now() + 3600e3)), identity(second)]);
    const stale = { ...first, expiration: body ? new Date(Date.now() + 3600e3) : undefined };
    const credentials = await RefreshedCredentials.open(provider([stale, identity(second)]).give);
    const counted = await RefreshedCredentials.open(source.give);
    const driver = new Driver(
      accessTo(store.port, { pathPrefix: '/data', credentials: body ? counted : credentials }),
      [{ key: 'k', size: 10 }],
    );
    assert.is((await driver.get(0, 0, 10)).what, 'fetched');
    store.expireCredentials({ body });
    store.acceptCredentials(second);
    for (let id = 1; id <= 8; id++) driver.engine.get(id, 1, 0, 0, 10, Buffer.alloc(10));
    await driver.ended(9);
    assert.equal(new Set(driver.outcomes.slice(1).map(({ what }) => what)), new Set(['expired']));
    if (body) assert.is(source.calls(), 2, 'one refresh for all in flight');
    assert.is((await driver.get(0, 0, 10, 99)).what, 'fetched');
    await driver.engine.close();
    credentials.close();
    counted.close();
    await store.close();
  });
}

test('case 17: a refresh that gives the same keys, or fails: forbidden, naming the provider', async () => {
  for (const then of [identity(first), new Error('the role is gone')]) {
    const store = await startRawStore((_request, socket) => {
      const body = '<Error><Code>ExpiredToken</Code></Error>';
      socket.write(answer(400, { 'Content-Length': String(body.length) }, body));
    });
    const source = provider([{ ...identity(first), $source: { CREDENTIALS_ENV_VARS: 'g' } }, then]);
    const credentials = await RefreshedCredentials.open(source.give);
    const driver = new Driver(accessTo(store.port, { credentials }), [{ key: 'k', size: 10 }]);
    for (let id = 0; id < 3; id++) {
      const got = await driver.get(0, 0, 10, id);
      assert.is(got.what, 'forbidden');
      assert.match(
        got.failure?.message ?? '',
        /have expired and the AWS default chain \(env vars\) gives no new ones/,
      );
      assert.not.match(JSON.stringify(got.failure), /s1|t1/);
    }
    assert.is(source.calls(), 2, 'asked once an expiry');
    await driver.engine.close();
    credentials.close();
    await store.close();
  }
});

test('a bare 400 is no expiry where the token is known to hold, or there is none', async () => {
  for (const over of [{ expiration: new Date(Date.now() + 3600e3) }, { sessionToken: undefined }]) {
    const store = await startRawStore(
      (_request, socket) => void socket.write(answer(400, { 'Content-Length': '0' })),
    );
    const source = provider([{ ...identity(first), ...over }]);
    const credentials = await RefreshedCredentials.open(source.give);
    const driver = new Driver(accessTo(store.port, { credentials }), [{ key: 'k', size: 10 }]);
    assert.is((await driver.get(0, 0, 10)).what, 'refused');
    assert.is(source.calls(), 1);
    await driver.engine.close();
    credentials.close();
    await store.close();
  }
});

test('a cancel while the refresh runs ends the attempt once, as cancelled', async () => {
  const store = await startStore({ ...first });
  store.createBucket('data');
  store.faults.add({ match: { operation: 'get' }, fault: expiredToken() });
  const waiting: ((identity: SdkIdentity) => void)[] = [];
  let calls = 0;
  const credentials = await RefreshedCredentials.open(() =>
    calls++ === 0 ? Promise.resolve(identity(first)) : new Promise((resolve) => waiting.push(resolve)),
  );
  const driver = new Driver(accessTo(store.port, { pathPrefix: '/data', credentials }), [
    { key: 'k', size: 10 },
  ]);
  driver.engine.get(1, 1, 0, 0, 10, Buffer.alloc(10));
  await until(() => waiting.length === 1);
  driver.engine.cancel(1, 1);
  await driver.ended(1);
  waiting[0]?.(identity(second));
  await until(() => credentials.current().accessKeyId === 'TWO');
  assert.equal(
    driver.outcomes.map(({ what }) => what),
    ['cancelled'],
  );
  await driver.engine.close();
  credentials.close();
  await store.close();
});

test('refreshed ahead of expiry, in the background', async () => {
  // Half of what is left: the timer is set for a second from now.
  const source = provider([
    identity(first, new Date(Date.now() + 2000)),
    identity(second, new Date(Date.now() + 3600e3)),
  ]);
  const credentials = await RefreshedCredentials.open(source.give);
  const stay = setInterval(() => {}, 1000); // the timer itself keeps no process alive
  await until(() => credentials.current().accessKeyId === 'TWO');
  clearInterval(stay);
  assert.is(source.calls(), 2);
  credentials.close();
});

test('a listing refreshes expired credentials of a shared file that another program renewed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'os2g-aws-'));
  const file = join(folder, 'credentials');
  const write = (of: StoreCredentials): Promise<void> =>
    writeFile(
      file,
      `[default]\naws_access_key_id=${of.accessKeyId}\naws_secret_access_key=${of.secretAccessKey}\naws_session_token=${of.sessionToken}\n`,
    );
  const store = await startStore({ ...first });
  store.createBucket('data');
  store.put('data', 'k', Buffer.from('1'));
  await write(first);
  await withAwsEnv({ AWS_SHARED_CREDENTIALS_FILE: file }, async () => {
    const s3 = await openStore({ endpoint: store.endpoint });
    const list = async (): Promise<number> => {
      let count = 0;
      for await (const page of s3.listObjects('data', '')) count += page.length;
      return count;
    };
    assert.is(await list(), 1);
    store.expireCredentials();
    store.acceptCredentials(second);
    await write(second);
    assert.is(await list(), 1);
    store.expireCredentials();
    const failed = await list().catch((cause: unknown) => cause);
    assert.ok(failed instanceof StoreError && failed.code === 'credentials_expired');
    await s3.close();
  });
  await store.close();
  await rm(folder, { recursive: true });
});

test.run();
