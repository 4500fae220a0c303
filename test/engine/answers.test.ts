import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { accessTo, Driver, fixedCredentials } from './engine-kit.js';
import { answer, errorXml, objectAnswer, type RawRequest, startRawStore } from './raw-store.js';

const BODY = Buffer.from('0123456789abcdefghij');
const ETAG = '"e1"';
const SIZE = BODY.length;

interface Row {
  name: string;
  reply: (request: RawRequest, socket: Socket) => void;
  /** Range asked for; default: the whole object. */
  range?: [offset: number, length: number];
  outcome: string;
  /** Requests of the attempt; default: 1. */
  requests?: number;
  etag?: string | null;
  says?: RegExp;
  mend?: RegExp;
  s3Code?: string;
  region?: string;
  retryAfterNs?: number;
}

const write =
  (bytes: Buffer) =>
  (_request: RawRequest, socket: Socket): void => {
    socket.write(bytes);
  };
const end =
  (bytes: Buffer) =>
  (_request: RawRequest, socket: Socket): void => {
    socket.end(bytes);
  };
const whole = (headers: Record<string, string>, body: Buffer | string = BODY): Buffer =>
  answer(200, { ETag: ETAG, 'Content-Length': String(body.length), ...headers }, body);
const part = (headers: Record<string, string>, body: Buffer | string): Buffer =>
  answer(206, { ETag: ETAG, 'Content-Length': String(body.length), ...headers }, body);
const error = (status: number, code: string, headers: Record<string, string> = {}, more = ''): Buffer => {
  const body = errorXml(code, 'as told', more);
  return answer(
    status,
    { 'Content-Type': 'application/xml', 'Content-Length': String(body.length), ...headers },
    body,
  );
};
const bare = (status: number, headers: Record<string, string> = {}): Buffer =>
  answer(status, { 'Content-Length': '0', ...headers });
const chunked = (body: string): Buffer =>
  answer(
    200,
    { ETag: ETAG, 'Transfer-Encoding': 'chunked' },
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );

const rows: Row[] = [
  { name: 'whole object', reply: write(whole({})), outcome: 'fetched' },
  { name: 'whole object without Content-Length', reply: write(chunked(BODY.toString())), outcome: 'fetched' },
  { name: 'ETag without quotes', reply: write(whole({ ETag: 'e1' })), outcome: 'fetched' },
  {
    name: 'ETag unknown to the manifest',
    reply: write(whole({ ETag: '"other"' })),
    etag: null,
    outcome: 'fetched',
  },
  {
    name: 'range',
    range: [3, 4],
    reply: write(part({ 'Content-Range': `bytes 3-6/${SIZE}` }, '3456')),
    outcome: 'fetched',
  },
  {
    name: 'range of an unknown size',
    range: [3, 4],
    reply: write(part({ 'Content-Range': 'bytes 3-6/*' }, '3456')),
    outcome: 'fetched',
  },
  {
    name: '100 Continue before the answer',
    reply: write(Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), whole({})])),
    outcome: 'fetched',
  },

  // Case 11
  {
    name: 'range ignored: 200 with everything',
    range: [3, 4],
    reply: write(whole({})),
    outcome: 'range',
    says: /ignored the range/,
  },
  {
    name: '206 with a shifted Content-Range',
    range: [3, 4],
    reply: write(part({ 'Content-Range': `bytes 4-7/${SIZE}` }, '4567')),
    outcome: 'range',
    says: /bytes 4-7/,
  },
  { name: '206 without Content-Range', range: [3, 4], reply: write(part({}, '3456')), outcome: 'range' },
  {
    name: '206 with nonsense for Content-Range',
    range: [3, 4],
    reply: write(part({ 'Content-Range': 'items 1' }, '3456')),
    outcome: 'range',
  },

  // Case 8
  { name: 'another ETag', reply: write(whole({ ETag: '"e2"' })), outcome: 'changed', says: /"e2".*"e1"/ },
  {
    name: 'no ETag',
    reply: write(answer(200, { 'Content-Length': String(SIZE) }, BODY)),
    outcome: 'changed',
    says: /no ETag/,
  },
  {
    name: '412: asked again without If-Match, so that the new version has a name',
    reply: (request, socket) =>
      socket.write(
        request.headers.has('if-match') ? error(412, 'PreconditionFailed') : whole({ ETag: '"e2"' }),
      ),
    outcome: 'changed',
    requests: 2,
    says: /"e2".*"e1"/,
  },
  { name: '412 to everything', reply: write(bare(412)), outcome: 'changed', requests: 2 },
  {
    name: 'another size in Content-Range',
    range: [3, 4],
    reply: write(part({ 'Content-Range': 'bytes 3-6/21' }, '3456')),
    outcome: 'changed',
    says: /21 bytes.*20/,
  },
  { name: '416', range: [3, 4], reply: write(error(416, 'InvalidRange')), outcome: 'changed' },

  // Case 9
  {
    name: 'cut at half the body',
    reply: end(answer(200, { ETag: ETAG, 'Content-Length': String(SIZE) }, '0123456789')),
    outcome: 'reset',
  },
  {
    name: 'short, with a short Content-Length',
    reply: write(whole({}, '0123')),
    outcome: 'short',
    says: /Content-Length is 4/,
  },
  { name: 'short, chunked', reply: write(chunked('0123')), outcome: 'short' },
  { name: 'short, no length at all', reply: end(answer(200, { ETag: ETAG }, '0123')), outcome: 'short' },
  {
    name: 'chunked, cut',
    reply: end(answer(200, { ETag: ETAG, 'Transfer-Encoding': 'chunked' }, '14\r\n0123')),
    outcome: 'reset',
  },
  { name: 'long, with a long Content-Length', reply: write(whole({}, `${BODY}x`)), outcome: 'long' },
  { name: 'long, chunked', reply: write(chunked(`${BODY}x`)), outcome: 'long' },
  {
    name: 'chunked, closing, cut',
    reply: end(
      answer(200, { ETag: ETAG, Connection: 'close', 'Transfer-Encoding': 'chunked' }, '14\r\n0123'),
    ),
    outcome: 'reset',
  },
  {
    name: 'closing, cut',
    reply: end(answer(200, { ETag: ETAG, Connection: 'close', 'Content-Length': String(SIZE) }, '0123')),
    outcome: 'reset',
  },
  { name: 'cut before the answer', reply: (_request, socket) => void socket.destroy(), outcome: 'reset' },
  { name: 'not HTTP', reply: end(Buffer.from('SSH-2.0-OpenSSH\r\n')), outcome: 'protocol' },
  { name: 'endless headers', reply: write(answer(200, { 'X-A': 'a'.repeat(70_000) })), outcome: 'protocol' },

  // Documents instead of objects
  {
    name: '200 with an error document',
    reply: write(
      answer(
        200,
        { 'Content-Type': 'application/xml', 'Content-Length': String(errorXml('InternalError').length) },
        errorXml('InternalError'),
      ),
    ),
    outcome: 'server',
    s3Code: 'InternalError',
  },
  {
    name: '200 with a page of a proxy',
    reply: write(
      answer(200, { 'Content-Type': 'text/html', 'Content-Length': String(SIZE) }, '<html>login!</html>0'),
    ),
    outcome: 'server',
    says: /document/,
  },

  // Answers of the store
  { name: '503 SlowDown', reply: write(error(503, 'SlowDown')), outcome: 'throttled', s3Code: 'SlowDown' },
  {
    name: '503 with Retry-After in seconds',
    reply: write(bare(503, { 'Retry-After': '3' })),
    outcome: 'throttled',
    retryAfterNs: 3e9,
  },
  { name: '429', reply: write(bare(429)), outcome: 'throttled' },
  { name: '500', reply: write(error(500, 'InternalError')), outcome: 'server' },
  { name: '502 of a proxy', reply: write(answer(502, { 'Content-Length': '3' }, 'bad')), outcome: 'server' },
  { name: '404', reply: write(error(404, 'NoSuchKey')), outcome: 'not_found', s3Code: 'NoSuchKey' },
  { name: '403', reply: write(error(403, 'AccessDenied')), outcome: 'forbidden', says: /requester-pays/ },
  {
    name: '403 for the clock',
    reply: write(error(403, 'RequestTimeTooSkewed', { Date: new Date(Date.now() - 3600e3).toUTCString() })),
    outcome: 'forbidden',
    says: /clock is (3599|3[6-9]\d\d) s ahead of the store's/,
    mend: /clock/,
  },
  { name: 'archived', reply: write(error(403, 'InvalidObjectState')), outcome: 'archived' },
  { name: '400', reply: write(error(400, 'InvalidBucketName')), outcome: 'refused' },
  { name: '204', reply: write(answer(204, {})), outcome: 'protocol' },

  // Case 18
  {
    name: '301 with a body',
    reply: write(error(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-1' })),
    outcome: 'moved',
    region: 'eu-west-1',
    says: /eu-west-1.*us-east-1/,
  },
  {
    name: '301 without a body',
    reply: write(bare(301, { 'x-amz-bucket-region': 'eu-west-1' })),
    outcome: 'moved',
    region: 'eu-west-1',
  },
  {
    name: '400 AuthorizationHeaderMalformed',
    reply: write(error(400, 'AuthorizationHeaderMalformed', {}, '<Region>eu-west-1</Region>')),
    outcome: 'moved',
    region: 'eu-west-1',
  },
  {
    name: '307 elsewhere is not followed',
    reply: write(bare(307, { Location: 'http://127.0.0.1:1/' })),
    outcome: 'moved',
  },
];

for (const row of rows) {
  test(`answer: ${row.name} -> ${row.outcome}`, async () => {
    const store = await startRawStore(row.reply);
    const driver = new Driver(accessTo(store.port), [
      { key: 'k', size: SIZE, etag: row.etag === undefined ? ETAG : row.etag },
    ]);
    const [offset, length] = row.range ?? [0, SIZE];
    const got = await driver.get(0, offset, length);
    assert.is(got.what, row.outcome, got.failure?.message);
    if (row.outcome === 'fetched') {
      assert.equal(got.target, BODY.subarray(offset, offset + length));
      assert.is(driver.firstBytes, 1);
    } else {
      assert.ok(got.failure?.message.startsWith('s3://b/k: '));
      assert.is(got.failure?.key, 'k');
    }
    if (row.says) assert.match(got.failure?.message ?? '', row.says);
    if (row.mend) assert.match(String(got.failure?.mend), row.mend);
    if (row.s3Code) assert.is(got.failure?.s3Code, row.s3Code);
    if (row.region) assert.is(got.failure?.region, row.region);
    if (row.retryAfterNs) assert.is(got.retryAfterNs, row.retryAfterNs);
    await driver.engine.close();
    assert.is(driver.engine.sockets, 0);
    await store.close();
    assert.is(store.requests.length, row.requests ?? 1, 'requests of one attempt');
  });
}

test('bytes beyond the range never reach the target', async () => {
  const store = await startRawStore((_request, socket) => void socket.write(chunked(`${BODY}overrun`)));
  const driver = new Driver(accessTo(store.port), [{ key: 'k', size: SIZE, etag: ETAG }]);
  const memory = Buffer.alloc(64, 0xee);
  driver.engine.get(1, 1, 0, 0, SIZE, memory.subarray(8, 8 + SIZE));
  await driver.ended(1);
  assert.ok(memory.subarray(0, 8).every((byte) => byte === 0xee));
  assert.ok(memory.subarray(8 + SIZE).every((byte) => byte === 0xee));
  await driver.engine.close();
  await store.close();
});

test('a store that refuses If-Match: said once, then compared locally', async () => {
  for (const refusal of [bare(501), error(400, 'NotImplemented'), error(400, 'InvalidArgument'), bare(400)]) {
    const store = await startRawStore((request, socket) => {
      socket.write(request.headers.has('if-match') ? refusal : objectAnswer(request, BODY, ETAG));
    });
    const driver = new Driver(accessTo(store.port), [
      { key: 'k', size: SIZE, etag: ETAG },
      { key: 'l', size: SIZE, etag: '"old"' },
    ]);
    assert.is((await driver.get(0, 0, SIZE)).what, 'server');
    assert.is((await driver.get(0, 0, SIZE)).what, 'fetched');
    assert.is((await driver.get(1, 0, SIZE)).what, 'changed');
    assert.is(driver.notices.length, 1);
    await driver.engine.close();
    await store.close();
  }
});

test('an object without a known ETag that is replaced between two parts: changed', async () => {
  const store = await startRawStore((request, socket) => {
    socket.write(objectAnswer(request, BODY, request.number === 0 ? '"v1"' : '"v2"'));
  });
  const driver = new Driver(accessTo(store.port), [{ key: 'k', size: SIZE, etag: null }]);
  assert.is((await driver.get(0, 0, 10)).what, 'fetched');
  assert.is((await driver.get(0, 10, 10)).what, 'changed');
  assert.is(store.requests[1]?.headers.get('if-match'), '"v1"');
  await driver.engine.close();
  await store.close();
});

test('headers: signed and plain, anonymous, requester pays, token, checksum', async () => {
  const store = await startRawStore(
    (request, socket) => void socket.write(objectAnswer(request, BODY, ETAG)),
  );
  const objects = [{ key: 'k', size: SIZE, etag: ETAG }];
  const sent = async (
    ...[access, over]: [Parameters<typeof accessTo>[1], ConstructorParameters<typeof Driver>[2]?]
  ) => {
    const driver = new Driver(accessTo(store.port, access), objects, over);
    assert.is((await driver.get(0, 5, 5)).what, 'fetched');
    await driver.engine.close();
    return store.requests.at(-1)!.headers;
  };
  const plain = await sent({});
  assert.is(plain.get('accept-encoding'), 'identity');
  assert.is(plain.get('if-match'), ETAG);
  assert.match(plain.get('authorization') ?? '', /SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,/);
  assert.is(
    [...plain.keys()].some((name) => name.includes('checksum') || name.includes('trailer')),
    false,
  );
  const anonymous = await sent({ credentials: null });
  assert.is(anonymous.has('authorization') || anonymous.has('x-amz-date'), false);
  const more = await sent(
    { requesterPays: true, credentials: fixedCredentials({ sessionToken: 'TOKEN' }) },
    { verify: 'checksum' },
  );
  assert.is(more.get('x-amz-request-payer'), 'requester');
  assert.is(more.get('x-amz-security-token'), 'TOKEN');
  assert.is(more.get('x-amz-checksum-mode'), 'ENABLED');
  const size = await sent({}, { verify: 'size' });
  assert.is(size.has('if-match'), false);
  await store.close();
});

test.run();
