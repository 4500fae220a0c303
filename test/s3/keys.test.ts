import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ListedObject, openStore } from '../../runtime-node/s3/store.js';
import { Driver } from '../engine/engine-kit.js';
import { startStore } from '../store/index.js';
import { keysOf, withAwsEnv } from './aws-env.js';

// Cases 1 and 2: the store computes every signature again from the bytes of the request line.
const KEYS = [
  'plain',
  'a=b',
  'a+b',
  'a%b',
  'a%20b',
  'a b',
  'a^b',
  'a#b',
  'a?b',
  'a&b',
  "a'()!*b",
  'é',
  '\u{1f600}.jpg',
  'a"<>b',
  'a\\b|{}`~[]@:;,$',
  'x\u0001y',
  'tab\there',
  '/a',
  'a//b',
  'a/../b',
  'a/./b',
  'b',
  'a/b',
  'dir/',
  ' lead and trail ',
  '..',
];

for (const basePath of ['', '/s3/base']) {
  test(`every key is listed and read byte-exact ${basePath}`, async () => {
    const store = await startStore({ basePath });
    store.createBucket('data');
    for (const key of KEYS) store.put('data', key, Buffer.from(`bytes of ${key}`));
    await withAwsEnv(keysOf(store.credentials), async () => {
      const s3 = await openStore({ endpoint: `${store.endpoint}/` });
      const listed: ListedObject[] = [];
      for await (const page of s3.listObjects('data', '')) listed.push(...page);
      assert.equal(listed.map(({ key }) => key).sort(), [...KEYS].sort());
      const driver = new Driver(
        await s3.bucketAccess('data'),
        listed.map(({ key, sizeBytes, etag }) => ({ key, size: sizeBytes, etag })),
      );
      for (const [row, { key, sizeBytes }] of listed.entries()) {
        const got = await driver.get(row, 0, sizeBytes);
        assert.is(got.what, 'fetched', got.failure?.message);
        assert.is(got.target.toString(), `bytes of ${key}`);
        const { etag, sizeBytes: headed } = await s3.headObject('data', key);
        assert.equal([etag, headed], [listed[row]?.etag, sizeBytes]);
      }
      await driver.engine.close();
      await s3.close();
    });
    assert.is(store.counters.refused, 0);
    await store.close();
  });
}

test('a key that could be folded is not read without an ETag to prove it', async () => {
  const store = await startStore({ anonymous: true });
  store.createBucket('data');
  store.put('data', 'a/../b', Buffer.from('1'));
  await withAwsEnv({}, async () => {
    const s3 = await openStore({ endpoint: store.endpoint, anonymous: true });
    const access = await s3.bucketAccess('data');
    for (const [etag, verify] of [
      [null, 'etag'],
      ['"e"', 'size'],
    ] as const) {
      const driver = new Driver(access, [{ key: 'a/../b', size: 1, etag }], { verify });
      const got = await driver.get(0, 0, 1);
      assert.is(got.what, 'refused');
      assert.match(got.failure?.message ?? '', /cannot be addressed/);
      await driver.engine.close();
    }
    await s3.close();
  });
  assert.is(store.counters.gets, 0);
  await store.close();
});

test.run();
