import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { expiredToken, type Fault, type ScriptedStore, slowDown, startStore, wrongRegion } from './index.js';
import { type RawAnswer, RawClient } from './raw-client.js';

const SEED = 20;
const CONTENT = Buffer.from('0123456789abcdefghij');
let store: ScriptedStore;

test.before(async () => {
  console.log(`seed ${SEED}`);
  store = await startStore({ anonymous: true, seed: SEED });
  store.createBucket('data');
});
test.before.each(() => {
  store.faults.clear();
  store.resetCounters();
  store.put('data', 'k', CONTENT, { checksums: { crc32c: 'AAAAAA==' } });
});
test.after(() => store.close());

interface Seen extends RawAnswer {
  ended: 'fin' | 'rst' | null;
}

/** One GET with the fault, on a connection that asks to be closed: everything that came. */
async function observe(fault: Fault, headers: Record<string, string> = {}): Promise<Seen> {
  store.faults.add({ fault });
  const client = new RawClient(store.port);
  client.get('/data/k', { Connection: 'close', 'x-amz-checksum-mode': 'ENABLED', ...headers });
  await client.untilEnd();
  const answer = client.answer() ?? { status: 0, headers: {}, body: client.bytes };
  return { ...answer, ended: client.ended };
}

const text = (bytes: Buffer) => bytes.toString('latin1');

interface Row {
  name: string;
  fault: Fault;
  headers?: Record<string, string>;
  want: (seen: Seen) => unknown[];
  be: unknown[];
}

const length = (s: Seen) => s.headers['content-length'];
const ROWS: Row[] = [
  {
    name: 'closed in order',
    fault: { kind: 'close', how: 'fin' },
    want: (s) => [s.status, s.body.length, s.ended],
    be: [0, 0, 'fin'],
  },
  { name: 'reset', fault: { kind: 'close', how: 'rst' }, want: (s) => [s.status, s.ended], be: [0, 'rst'] },
  {
    name: 'cut at half, FIN',
    fault: { kind: 'cut', afterBodyShare: 0.5, how: 'fin' },
    want: (s) => [s.status, length(s), text(s.body), s.ended],
    be: [200, '20', '0123456789', 'fin'],
  },
  {
    name: 'cut after 3, RST',
    fault: { kind: 'cut', afterBodyBytes: 3, how: 'rst' },
    want: (s) => [s.status, length(s), text(s.body), s.ended],
    be: [200, '20', '012', 'rst'],
  },
  {
    name: 'cut after the head',
    fault: { kind: 'cut', how: 'fin' },
    want: (s) => [s.status, length(s), s.body.length],
    be: [200, '20', 0],
  },
  {
    name: 'drip',
    fault: { kind: 'drip', bytes: 7, everyMs: 1 },
    want: (s) => [s.status, text(s.body)],
    be: [200, text(CONTENT)],
  },
  {
    name: 'Content-Length too long',
    fault: { kind: 'wrong-length', headerDelta: 4 },
    want: (s) => [length(s), text(s.body), s.ended],
    be: ['24', text(CONTENT), 'fin'],
  },
  {
    name: 'Content-Length too short',
    fault: { kind: 'wrong-length', headerDelta: -4 },
    want: (s) => [length(s), text(s.body)],
    be: ['16', text(CONTENT)],
  },
  {
    name: 'no Content-Length',
    fault: { kind: 'wrong-length', headerDelta: 'absent' },
    want: (s) => [length(s), s.headers['transfer-encoding'], s.headers.connection, text(s.body), s.ended],
    be: [undefined, undefined, 'close', text(CONTENT), 'fin'],
  },
  {
    name: 'short body, honest length',
    fault: { kind: 'wrong-length', bodyDelta: -5, headerDelta: -5 },
    want: (s) => [length(s), text(s.body)],
    be: ['15', '0123456789abcde'],
  },
  {
    name: 'short body, no length',
    fault: { kind: 'wrong-length', bodyDelta: -5, headerDelta: 'absent' },
    want: (s) => [length(s), text(s.body)],
    be: [undefined, '0123456789abcde'],
  },
  {
    name: 'long body of a range, honest length',
    fault: { kind: 'wrong-length', bodyDelta: 3, headerDelta: 3 },
    headers: { Range: 'bytes=10-11' },
    want: (s) => [s.status, length(s), text(s.body)],
    be: [206, '5', 'abxxx'],
  },
  {
    name: 'Content-Range moved',
    fault: { kind: 'wrong-range', shiftBytes: 2 },
    headers: { Range: 'bytes=4-7' },
    want: (s) => [s.status, s.headers['content-range'], text(s.body)],
    be: [206, 'bytes 6-9/20', '4567'],
  },
  {
    name: 'range and body moved',
    fault: { kind: 'wrong-range', shiftBytes: 2, bodyToo: true },
    headers: { Range: 'bytes=4-7' },
    want: (s) => [s.status, s.headers['content-range'], text(s.body)],
    be: [206, 'bytes 6-9/20', '6789'],
  },
  {
    name: 'range ignored',
    fault: { kind: 'ignore-range' },
    headers: { Range: 'bytes=4-7' },
    want: (s) => [s.status, s.headers['content-range'], length(s), text(s.body)],
    be: [200, undefined, '20', text(CONTENT)],
  },
  {
    name: 'one byte wrong',
    fault: { kind: 'corrupt', atByte: 1 },
    want: (s) => [s.status, text(s.body)],
    be: [200, '0\u00ce23456789abcdefghij'],
  },
  {
    name: 'error document in a 200',
    fault: { kind: 'error-in-200', code: 'InternalError' },
    want: (s) => [s.status, /<Code>InternalError<\/Code>/.test(text(s.body))],
    be: [200, true],
  },
  {
    name: 'SlowDown with Retry-After',
    fault: slowDown({ retryAfterS: 2 }),
    want: (s) => [s.status, s.headers['retry-after'], /<Code>SlowDown<\/Code>/.test(text(s.body))],
    be: [503, '2', true],
  },
  {
    name: 'SlowDown without a body',
    fault: slowDown({ body: false }),
    want: (s) => [s.status, length(s), s.headers['retry-after'], s.body.length],
    be: [503, '0', undefined, 0],
  },
  {
    name: 'redirect with a body',
    fault: wrongRegion('eu-west-1'),
    want: (s) => [
      s.status,
      s.headers['x-amz-bucket-region'],
      /PermanentRedirect.*s3\.eu-west-1\./.test(text(s.body)),
    ],
    be: [301, 'eu-west-1', true],
  },
  {
    name: 'redirect without a body',
    fault: wrongRegion('eu-west-1', { body: false }),
    want: (s) => [s.status, s.headers['x-amz-bucket-region'], s.body.length],
    be: [301, 'eu-west-1', 0],
  },
  {
    name: 'expired, no body',
    fault: expiredToken({ body: false }),
    want: (s) => [s.status, s.body.length],
    be: [400, 0],
  },
  {
    name: 'not HTTP',
    fault: { kind: 'garbage', bytes: 'SSH-2.0-x\r\n' },
    want: (s) => [s.status, text(s.body), s.ended],
    be: [0, 'SSH-2.0-x\r\n', 'fin'],
  },
  {
    name: 'chunked',
    fault: { kind: 'chunked', chunkBytes: 15 },
    want: (s) => [length(s), s.headers['transfer-encoding'], text(s.body)],
    be: [undefined, 'chunked', 'f\r\n0123456789abcde\r\n5\r\nfghij\r\n0\r\n\r\n'],
  },
  { name: 'another ETag', fault: { kind: 'etag', value: '"x"' }, want: (s) => [s.headers.etag], be: ['"x"'] },
  {
    name: 'no ETag',
    fault: { kind: 'etag', value: null },
    want: (s) => [s.headers.etag, s.status],
    be: [undefined, 200],
  },
  {
    name: 'wrong checksum',
    fault: { kind: 'wrong-checksum' },
    want: (s) => [s.headers['x-amz-checksum-crc32c'], s.headers['x-amz-checksum-type']],
    be: ['/wAAAA==', 'FULL_OBJECT'],
  },
  {
    name: 'headers of choice',
    fault: { kind: 'headers', set: { 'accept-ranges': null, 'Content-Encoding': 'gzip' } },
    want: (s) => [s.headers['accept-ranges'], s.headers['content-encoding']],
    be: [undefined, 'gzip'],
  },
  {
    name: 'delay',
    fault: { kind: 'delay', ms: 2 },
    want: (s) => [s.status, text(s.body)],
    be: [200, text(CONTENT)],
  },
  {
    name: 'replaced before',
    fault: { kind: 'replace', body: (old) => Buffer.alloc(old.sizeBytes, 'n') },
    want: (s) => [s.status, text(s.body)],
    be: [200, 'n'.repeat(20)],
  },
  {
    name: 'replaced after',
    fault: { kind: 'replace', when: 'after', body: Buffer.from('new') },
    want: (s) => [text(s.body), text(Buffer.from(store.expectedBytes('data', 'k')))],
    be: [text(CONTENT), 'new'],
  },
];

for (const row of ROWS) {
  test(row.name, async () => {
    const seen = await observe(row.fault, row.headers);
    assert.equal(row.want(seen), row.be);
    assert.is(store.counters.faultsFired, 1);
    assert.is(store.requests()[0]?.fault, row.fault.kind);
  });
}

test('a replaced object answers 412 to If-Match of the old one', async () => {
  const { etag } = store.put('data', 'k', CONTENT);
  const seen = await observe({ kind: 'replace', body: Buffer.from('another') }, { 'If-Match': etag });
  assert.is(seen.status, 412);
  assert.match(text(seen.body), /PreconditionFailed/);
});

test.run();
