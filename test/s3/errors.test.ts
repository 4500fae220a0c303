import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../runtime-node/errors.js';
import { clockOff } from '../../runtime-node/s3/clock-off.js';
import { openStore, type S3Options, type S3Store } from '../../runtime-node/s3/store.js';
import { type Fault, type ScriptedStore, startStore, wrongRegion } from '../store/index.js';
import { keysOf, withAwsEnv } from './aws-env.js';

interface Row {
  name: string;
  set?: (store: ScriptedStore) => void;
  fault?: Fault;
  options?: S3Options;
  env?: Record<string, string>;
  bucket?: string;
  call?: 'list' | 'head';
  code: string;
  s3Code?: string;
  says?: RegExp;
  mend?: RegExp;
}

const status = (code: string, of: number): Fault => ({
  kind: 'status',
  status: of,
  code,
  message: 'as told',
});
const rows: Row[] = [
  {
    name: 'no such bucket',
    bucket: 'nowhere',
    code: 'not_found',
    s3Code: 'NoSuchBucket',
    mend: /bucket name/,
  },
  { name: 'no such key', call: 'head', code: 'not_found' },
  { name: 'denied', fault: status('AccessDenied', 403), code: 'forbidden', mend: /--requester-pays/ },
  { name: 'requester pays', bucket: 'paid', code: 'forbidden', mend: /--requester-pays/ },
  {
    name: 'denied without credentials',
    options: { anonymous: true },
    code: 'forbidden',
    mend: /--anonymous/,
  },
  {
    name: '301 with a body',
    fault: wrongRegion('eu-west-9'),
    code: 'moved',
    says: /eu-west-9.*us-east-1/,
    mend: /--region eu-west-9/,
  },
  {
    name: '301 without a body',
    fault: wrongRegion('eu-west-9', { body: false }),
    code: 'moved',
    says: /eu-west-9/,
  },
  {
    name: '301 to a head',
    fault: wrongRegion('eu-west-9', { body: false }),
    call: 'head',
    code: 'moved',
    says: /eu-west-9/,
  },
  {
    name: 'signed for another region',
    options: { region: 'eu-west-9' },
    code: 'moved',
    says: /eu-west-9/,
    mend: /--region us-east-1/,
  },
  {
    name: 'unknown access key',
    env: { AWS_ACCESS_KEY_ID: 'NOBODY' },
    code: 'forbidden',
    s3Code: 'InvalidAccessKeyId',
    mend: /AWS_ACCESS_KEY_ID/,
  },
  {
    name: 'wrong secret',
    env: { AWS_SECRET_ACCESS_KEY: 'wrong' },
    code: 'forbidden',
    s3Code: 'SignatureDoesNotMatch',
    mend: /AWS_SECRET_ACCESS_KEY/,
  },
  {
    name: 'clock',
    fault: status('RequestTimeTooSkewed', 403),
    code: 'forbidden',
    says: /clock/,
    mend: /clock/,
  },
  { name: 'refused', fault: status('MethodNotAllowed', 405), code: 'refused' },
  {
    name: 'refused connection',
    options: { endpoint: 'http://127.0.0.1:1' },
    code: 'connect',
    says: /127\.0\.0\.1:1/,
    mend: /--endpoint/,
  },
];
for (const row of rows) {
  test(`error: ${row.name} -> ${row.code}`, async () => {
    const store = await startStore({});
    store.createBucket('data');
    store.createBucket('paid', { requesterPays: true });
    if (row.fault) store.faults.add({ fault: row.fault });
    await withAwsEnv({ ...keysOf(store.credentials), ...row.env }, async () => {
      const s3 = await openStore({ endpoint: store.endpoint, ...row.options });
      const failed = await call(s3, row).catch((cause: unknown) => cause);
      if (!(failed instanceof StoreError)) throw failed;
      assert.is(failed.code, row.code, failed.message);
      assert.is(failed.context.bucket, row.bucket ?? 'data');
      if (row.s3Code) assert.is(failed.context.s3Code, row.s3Code);
      if (row.says) assert.match(failed.message, row.says);
      if (row.mend) assert.match(failed.told('command').mend, row.mend);
      assert.not.match(failed.message + failed.mend, /(?:^|\s)--[a-z]/, "the API's names in the API");
      const { secretAccessKey } = store.credentials;
      assert.not.match(JSON.stringify(failed), new RegExp(secretAccessKey));
      await s3.close();
    });
    await store.close();
  });
}

async function call(s3: S3Store, { bucket = 'data', call: what = 'list' }: Row): Promise<void> {
  if (what === 'head') await s3.headObject(bucket, 'k');
  else for await (const _page of s3.listObjects(bucket, ''));
}

test('case 20: an anonymous store that refuses signatures, and a requester-pays bucket', async () => {
  const store = await startStore({ anonymous: 'refuse-signed' });
  store.createBucket('data');
  store.put('data', 'k', Buffer.from('1'));
  await withAwsEnv({}, async () => {
    const s3 = await openStore({ endpoint: store.endpoint, anonymous: true });
    assert.is((await s3.headObject('data', 'k')).sizeBytes, 1);
    for await (const page of s3.listObjects('data', '')) assert.is(page.length, 1);
    await s3.close();
  });
  assert.is(
    store.requests().some(({ signed }) => signed),
    false,
  );
  await store.close();

  const paid = await startStore({});
  paid.createBucket('paid', { requesterPays: true });
  paid.put('paid', 'k', Buffer.from('1'));
  await withAwsEnv(keysOf(paid.credentials), async () => {
    const s3 = await openStore({ endpoint: paid.endpoint, requesterPays: true });
    assert.is((await s3.headObject('paid', 'k')).sizeBytes, 1);
    for await (const page of s3.listObjects('paid', '')) assert.is(page.length, 1);
    await s3.close();
  });
  for (const { headers } of paid.requests()) {
    assert.is(
      Object.keys(headers).some((name) => /checksum|trailer/.test(name)),
      false,
    );
  }
  await paid.close();
});

test('a refused clock: by how much, on which side, and not "0 s" where it agrees', () => {
  const now = Date.UTC(2026, 0, 1);
  const rows: [storeMs: number | null, says: RegExp][] = [
    [now - 3_600_000, /^this machine's clock is 3600 s ahead of the store's$/],
    [now + 900_400, /^this machine's clock is 900 s behind the store's$/],
    [now - 400, /agrees with its answer's/],
    [now, /agrees with its answer's/],
    [null, /^this machine's clock is off$/],
  ];
  for (const [storeMs, says] of rows) assert.match(clockOff(now, storeMs), says);
});

test.run();
