import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { inFolder } from '../feed/kit.js';
import { selfSigned, startStore, wrongRegion } from '../store/index.js';
import { assertFails, assertWhole, BUCKET, outcomeOf, situation } from './kit.js';

const put = (
  store: { put: (bucket: string, key: string, body: { sizeBytes: number; seed: number }) => unknown },
  bucket = BUCKET,
): string[] => {
  const keys = Array.from({ length: 6 }, (_, n) => `k/${n}`);
  for (const [seed, key] of keys.entries()) store.put(bucket, key, { sizeBytes: 500, seed });
  return keys;
};

for (const body of [true, false]) {
  situation(
    17,
    `credentials that expire in mid-epoch, ${body ? 'with' : 'without'} an error document`,
    'test/s3/credentials.test.ts',
    { sessionToken: 'first-token' },
    async ({ store, feed }) => {
      const keys = put(store);
      await inFolder(async (folder) => {
        const file = join(folder, 'credentials');
        const write = (): void => {
          const { accessKeyId, secretAccessKey, sessionToken } = store.credentials;
          writeFileSync(
            file,
            `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\naws_session_token = ${sessionToken}\n`,
          );
        };
        write();
        for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'])
          delete process.env[name];
        process.env.AWS_SHARED_CREDENTIALS_FILE = file;
        // New keys are there: refreshed, and nothing is lost.
        const onListed = (): void => {
          store.expireCredentials({ body });
          store.acceptCredentials({ ...store.credentials, sessionToken: `next-token-${body}` });
          write();
        };
        assertWhole(await feed({ onListed }), keys);
        // None are: said, with where they should have come from.
        const outcome = await feed({ onListed: () => store.expireCredentials({ body }) });
        assertFails(outcome, 'forbidden', /credentials have expired and .* gives no new ones/);
      });
    },
  );
}

for (const [body, header] of [
  [true, true],
  [false, true],
  [false, false],
] as const) {
  situation(
    18,
    `a bucket of another region: 301 ${body ? 'with' : 'without'} a body, ${header ? 'named' : 'not named'}`,
    'test/s3/errors.test.ts, test/engine/answers.test.ts',
    {},
    async ({ store, feed }) => {
      put(store);
      store.faults.add({ match: { operation: 'get' }, fault: wrongRegion('eu-west-3', { body, header }) });
      const says = header
        ? /region eu-west-3, the request was signed for us-east-1/
        : /signed for region us-east-1/;
      assertFails(await feed(), 'moved', says);
      store.faults.clear();
      store.faults.add({ match: { operation: 'list' }, fault: wrongRegion('eu-west-3', { body, header }) });
      assertFails(await feed(), 'moved', header ? /eu-west-3/ : /us-east-1/);
    },
  );
}

situation(
  19,
  'archived objects: restored ones are read, others are told by name',
  'test/s3/listing.test.ts, test/manifest/listing.test.ts',
  {},
  async ({ store, feed }) => {
    const restore = { ongoing: false, expiry: new Date(Date.now() + 86_400_000) };
    store.put(BUCKET, 'back', { sizeBytes: 10, seed: 1 }, { storageClass: 'GLACIER', restore });
    const told: string[] = [];
    const warn = (_fields: object, message: string): void => void told.push(message);
    const logger = { debug() {}, info() {}, warn };
    assertWhole(await feed({ batchSamples: 1, logger }), ['back']);
    assert.equal(told, [], 'a restored one is read like any other');
    store.put(BUCKET, 'cold', { sizeBytes: 10, seed: 2 }, { storageClass: 'GLACIER' });
    assertFails(await feed({ batchSamples: 1, logger }), 'archived', /restore the object/, 'cold');
    assert.is(told.filter((line) => /^1 object .*archive .*: "cold"$/.test(line)).length, 1, told.join('\n'));
  },
);

situation(
  20,
  'a public bucket without credentials: nothing is signed, nobody is asked',
  'test/s3/errors.test.ts, test/s3/endpoint.test.ts',
  { anonymous: 'refuse-signed' },
  async ({ store, feed }) => {
    const keys = put(store);
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete process.env[name];
    assertWhole(await feed({ s3: { anonymous: true } }), keys);
  },
);

situation(
  20,
  'a requester-pays bucket: the refusal names the option',
  'test/s3/errors.test.ts',
  {},
  async ({ store, feed }) => {
    store.createBucket('paid', { requesterPays: true });
    put(store, 'paid');
    assertFails(await feed({ source: 's3://paid/' }), 'forbidden', /requester-pays .*s3\.requesterPays/);
  },
);

for (const host of ['127.0.0.1', '::1', 'localhost']) {
  situation(
    21,
    `an endpoint at ${host}, with a base path and a trailing slash`,
    'test/s3/endpoint.test.ts',
    {},
    async () => {
      const store = await startStore({ host, basePath: '/base/s3', seed: 1 });
      try {
        store.createBucket(BUCKET);
        const keys = put(store);
        const { accessKeyId, secretAccessKey } = store.credentials;
        Object.assign(process.env, {
          AWS_ACCESS_KEY_ID: accessKeyId,
          AWS_SECRET_ACCESS_KEY: secretAccessKey,
        });
        assertWhole(await outcomeOf(store, { s3: { endpoint: `${store.endpoint}/` } }), keys);
      } finally {
        await store.close();
      }
    },
  );
}

const CERTIFICATE = selfSigned();
situation(
  21,
  'a bucket with dots over https',
  'test/s3/endpoint.test.ts',
  { tls: CERTIFICATE },
  async ({ store, feed }) => {
    store.createBucket('with.dots');
    store.put('with.dots', 'k', { sizeBytes: 10, seed: 1 });
    await inFolder(async (folder) => {
      const caBundle = join(folder, 'ca.pem');
      writeFileSync(caBundle, CERTIFICATE.cert);
      store.put(BUCKET, 'k', { sizeBytes: 10, seed: 1 });
      assertWhole(await feed({ source: 's3://with.dots/', batchSamples: 1, s3: { caBundle } }), ['k']);
    });
  },
);

situation(
  22,
  'a private CA: trusted when given, refused when not, never off',
  'test/s3/endpoint.test.ts',
  { tls: CERTIFICATE },
  async ({ store, feed }) => {
    const keys = put(store);
    await inFolder(async (folder) => {
      const caBundle = join(folder, 'ca.pem');
      writeFileSync(caBundle, CERTIFICATE.cert);
      assertWhole(await feed({ s3: { caBundle } }), keys);
      assertFails(await feed(), 'tls', /caBundle/);
      assertFails(
        await feed({ s3: { caBundle: join(folder, 'none.pem') } }),
        'bad_ca_bundle',
        /cannot be switched off/,
      );
    });
  },
);

test.run();
