import {
  DeleteObjectCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ScriptedStore, startStore } from './index.js';
import { sdkClient } from './sdk-client.js';

/** Cases 1 and 2: what a key may hold and a path must carry. */
const KEYS = [
  '/a',
  'a b',
  'a%20b',
  'a%2Fb',
  'a&amp;b<c>"d"',
  "a'()!*",
  'a+b',
  'a/../b',
  'a/./b',
  'a//b',
  'a=b&c=d',
  'a?b#c^d',
  'b',
  'dir/',
  'line\nbreak',
  'tilde~_-.',
  'é',
  '\uffee',
  '\u{1f600}',
];

let store: ScriptedStore;
test.before(async () => {
  store = await startStore();
  for (const bucket of ['data', 'with.dots']) {
    store.createBucket(bucket);
    for (const key of KEYS) store.put(bucket, key, Buffer.from(`body of ${key}`));
  }
});
test.after(() => store.close());

async function listAll(client: S3Client, Bucket: string, encoding: 'url' | undefined): Promise<string[]> {
  const keys: string[] = [];
  let token: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket, MaxKeys: 4, ContinuationToken: token, EncodingType: encoding }),
    );
    const read = (key: string) => (encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key);
    for (const object of page.Contents ?? []) keys.push(read(object.Key ?? ''));
    token = page.NextContinuationToken;
  } while (token);
  return keys;
}

const STYLES = [
  { name: 'path style', bucket: 'data', config: {} },
  { name: 'virtual hosts', bucket: 'data', config: { forcePathStyle: false } },
  { name: 'virtual hosts, dots', bucket: 'with.dots', config: { forcePathStyle: false } },
];
for (const { name, bucket, config } of STYLES) {
  test(`weird keys listed, headed and read byte-exact: ${name}`, async () => {
    const endpoint = store.endpoint.replace('127.0.0.1', 'localhost');
    const client = sdkClient(store, { endpoint, ...config });
    const ordered = [...KEYS].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.equal(await listAll(client, bucket, undefined), ordered);
    assert.equal(await listAll(client, bucket, 'url'), ordered);
    for (const key of KEYS) {
      const got = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      assert.is(await got.Body?.transformToString(), `body of ${key}`);
      const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
      assert.is(head.ETag, got.ETag);
    }
    assert.is(store.requests().at(-1)?.headers.host?.startsWith('localhost'), name === 'path style');
    client.destroy();
  });
}

test('put, read back, checksum on request, delete', async () => {
  const client = sdkClient(store);
  const [Bucket, Key] = ['data', 'new object'];
  await client.send(new PutObjectCommand({ Bucket, Key, Body: 'hello', ContentType: 'text/plain' }));
  const got = await client.send(new GetObjectCommand({ Bucket, Key, Range: 'bytes=1-3' }));
  assert.is(await got.Body?.transformToString(), 'ell');
  assert.is(got.ContentType, 'text/plain');
  assert.is(got.ContentRange, 'bytes 1-3/5');
  // "hello" has the CRC-32C 9a71bb4c; the SDK checks what it asked for.
  store.put(Bucket, Key, Buffer.from('hello'), { checksums: { crc32c: 'mnG7TA==' } });
  const checked = await client.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
  assert.is(checked.ChecksumCRC32C, 'mnG7TA==');
  assert.is(await checked.Body?.transformToString(), 'hello');
  await client.send(new DeleteObjectCommand({ Bucket, Key }));
  await rejects(client.send(new GetObjectCommand({ Bucket, Key })), 'NoSuchKey', 404);
  client.destroy();
});

test('buckets: there, not there, where', async () => {
  const client = sdkClient(store);
  store.createBucket('far', { region: 'eu-west-1' });
  const head = await client.send(new HeadBucketCommand({ Bucket: 'data' }));
  assert.is(head.BucketRegion, 'us-east-1');
  const location = await client.send(new GetBucketLocationCommand({ Bucket: 'data' }));
  assert.is(location.LocationConstraint ?? '', '');
  await rejects(client.send(new HeadBucketCommand({ Bucket: 'none' })), 'NotFound', 404);
  await rejects(client.send(new ListObjectsV2Command({ Bucket: 'none' })), 'NoSuchBucket', 404);
  await rejects(client.send(new ListObjectsV2Command({ Bucket: 'far' })), 'PermanentRedirect', 301);
  client.destroy();
  const near = sdkClient(store, { region: 'eu-west-1' });
  await near.send(new ListObjectsV2Command({ Bucket: 'far' }));
  await rejects(near.send(new ListObjectsV2Command({ Bucket: 'data' })), 'AuthorizationHeaderMalformed', 400);
  near.destroy();
});

test('requester pays, archived, restored', async () => {
  const client = sdkClient(store);
  store.createBucket('paid', { requesterPays: true });
  store.put('paid', 'k', Buffer.from('x'));
  const paid = { Bucket: 'paid', Key: 'k' };
  await rejects(client.send(new GetObjectCommand(paid)), 'AccessDenied', 403);
  const got = await client.send(new GetObjectCommand({ ...paid, RequestPayer: 'requester' }));
  assert.is(got.RequestCharged, 'requester');
  await got.Body?.transformToString();

  const Bucket = 'data';
  const expiry = new Date('2030-01-02T00:00:00Z');
  store.put(Bucket, 'cold/a', Buffer.from('x'), { storageClass: 'GLACIER' });
  store.put(Bucket, 'cold/b', Buffer.from('x'), { storageClass: 'GLACIER', restore: { ongoing: true } });
  store.put(Bucket, 'cold/c', Buffer.from('x'), {
    storageClass: 'GLACIER',
    restore: { ongoing: false, expiry },
  });
  await rejects(client.send(new GetObjectCommand({ Bucket, Key: 'cold/a' })), 'InvalidObjectState', 403);
  await rejects(client.send(new GetObjectCommand({ Bucket, Key: 'cold/b' })), 'InvalidObjectState', 403);
  const restored = await client.send(new GetObjectCommand({ Bucket, Key: 'cold/c' }));
  assert.is(await restored.Body?.transformToString(), 'x');
  assert.match(restored.Restore ?? '', 'ongoing-request="false", expiry-date=');
  const page = await client.send(
    new ListObjectsV2Command({ Bucket, Prefix: 'cold/', OptionalObjectAttributes: ['RestoreStatus'] }),
  );
  assert.equal(
    page.Contents?.map((o) => [
      o.StorageClass,
      o.RestoreStatus?.IsRestoreInProgress,
      o.RestoreStatus?.RestoreExpiryDate,
    ]),
    [
      ['GLACIER', undefined, undefined],
      ['GLACIER', true, undefined],
      ['GLACIER', false, expiry],
    ],
  );
  client.destroy();
});

async function rejects(work: Promise<unknown>, name: string, status: number): Promise<void> {
  try {
    await work;
  } catch (error) {
    const { name: actual, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
    assert.equal([actual, $metadata?.httpStatusCode], [name, status]);
    return;
  }
  assert.unreachable(`expected ${name}`);
}

test.run();
