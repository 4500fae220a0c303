import https from 'node:https';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ScriptedStore, type StoreOptions, selfSigned, startStore } from './index.js';
import { eventually, RawClient } from './raw-client.js';

const CONTENT = Buffer.from('0123456789');

async function withStore(options: StoreOptions, use: (store: ScriptedStore) => Promise<void>): Promise<void> {
  const store = await startStore({ anonymous: true, ...options });
  try {
    store.createBucket('data');
    store.put('data', 'k', CONTENT);
    store.put('data', 'empty', Buffer.alloc(0));
    await use(store);
  } finally {
    await store.close();
    assert.is(store.openSockets, 0);
    assert.is(store.pendingTimers, 0);
  }
}

const RANGES: {
  range: string | null;
  key?: string;
  status: number;
  contentRange: string | null;
  body?: string;
}[] = [
  { range: null, status: 200, contentRange: null, body: '0123456789' },
  { range: 'bytes=0-0', status: 206, contentRange: 'bytes 0-0/10', body: '0' },
  { range: 'bytes=0-9', status: 206, contentRange: 'bytes 0-9/10', body: '0123456789' },
  { range: 'bytes=3-', status: 206, contentRange: 'bytes 3-9/10', body: '3456789' },
  { range: 'bytes=8-99', status: 206, contentRange: 'bytes 8-9/10', body: '89' },
  { range: 'bytes=-3', status: 206, contentRange: 'bytes 7-9/10', body: '789' },
  { range: 'bytes=-99', status: 206, contentRange: 'bytes 0-9/10', body: '0123456789' },
  { range: 'bytes=10-', status: 416, contentRange: 'bytes */10' },
  { range: 'bytes=10-20', status: 416, contentRange: 'bytes */10' },
  { range: 'bytes=-0', status: 416, contentRange: 'bytes */10' },
  { range: 'bytes=5-2', status: 200, contentRange: null, body: '0123456789' },
  { range: 'bytes=0-1,4-5', status: 200, contentRange: null, body: '0123456789' },
  { range: 'lines=1-2', status: 200, contentRange: null, body: '0123456789' },
  { range: null, key: 'empty', status: 200, contentRange: null, body: '' },
  { range: 'bytes=0-', key: 'empty', status: 416, contentRange: 'bytes */0' },
  { range: 'bytes=-1', key: 'empty', status: 416, contentRange: 'bytes */0' },
];

test('ranges', () =>
  withStore({}, async (store) => {
    for (const { range, key = 'k', status, contentRange, body } of RANGES) {
      const response = await fetch(`${store.endpoint}/data/${key}`, {
        headers: range === null ? {} : { range },
      });
      const text = await response.text();
      assert.equal(
        [response.status, response.headers.get('content-range')],
        [status, contentRange],
        `${range}`,
      );
      if (body !== undefined) assert.is(text, body);
      else assert.match(text, /<Code>InvalidRange<\/Code>.*<ActualObjectSize>/);
    }
  }));

test('HEAD never has a body; what is not spoken is 501; an error has its request id', () =>
  withStore({}, async (store) => {
    const head = await fetch(`${store.endpoint}/data/k`, { method: 'HEAD' });
    assert.equal([head.status, head.headers.get('content-length'), await head.text()], [200, '10', '']);
    const missing = await fetch(`${store.endpoint}/data/none`, { method: 'HEAD' });
    assert.equal([missing.status, await missing.text()], [404, '']);
    for (const target of ['/data/k?acl', '/data?versions', '/data', '/']) {
      const response = await fetch(store.endpoint + target);
      const id = response.headers.get('x-amz-request-id') ?? 'none';
      assert.is(response.status, 501, target);
      assert.match(await response.text(), `<RequestId>${id}</RequestId>`);
    }
  }));

test('PUT and CreateBucket refuse what cannot be', () =>
  withStore({ putLimitBytes: 4 }, async (store) => {
    const put = async (path: string, body: string) =>
      (await fetch(store.endpoint + path, { method: 'PUT', body })).status;
    assert.equal(
      [
        await put('/data/new', '1234'),
        await put('/data/new', '12345'),
        await put(`/data/${'k'.repeat(1025)}`, ''),
      ],
      [200, 400, 400],
    );
    assert.equal([await put('/new-bucket', ''), await put('/BAD_BUCKET', '')], [200, 400]);
    assert.is(Buffer.from(store.expectedBytes('data', 'new')).toString(), '1234');
  }));

test('a large synthetic body, its ranges, and a client that reads slowly', () =>
  withStore({}, async (store) => {
    const sizeBytes = 5 * 2 ** 20 + 3;
    store.put('data', 'large', { sizeBytes, seed: 3 });
    const whole = Buffer.from(await (await fetch(`${store.endpoint}/data/large`)).arrayBuffer());
    assert.is(Buffer.compare(whole, store.expectedBytes('data', 'large')), 0);
    const range = { range: 'bytes=1048575-1048580' };
    const part = await (await fetch(`${store.endpoint}/data/large`, { headers: range })).arrayBuffer();
    assert.equal(Buffer.from(part), whole.subarray(1048575, 1048581));
    assert.is(store.counters.bytesSent, sizeBytes + 6);
    assert.throws(() => store.expectedBytes('data', 'large', sizeBytes, 1), RangeError);
  }));

test('300 objects of 64 MiB cost no memory', () =>
  withStore({}, async (store) => {
    const before = process.memoryUsage().rss;
    for (let i = 0; i < 300; i++) store.put('data', `large-${i}`, { sizeBytes: 64 * 2 ** 20, seed: i });
    assert.is(store.expectedBytes('data', 'large-7', 60 * 2 ** 20, 1000).length, 1000);
    assert.ok(process.memoryUsage().rss - before < 64 * 2 ** 20);
  }));

test('above the request rate 503, with Retry-After; off again at run time', () =>
  withStore({ requestRate: { requestsPerS: 0.001, burst: 2, retryAfterS: 3 } }, async (store) => {
    const statuses: number[] = [];
    const get = async () => {
      const response = await fetch(`${store.endpoint}/data/k`);
      await response.text();
      statuses.push(response.status);
      return response;
    };
    await get();
    await get();
    assert.is((await get()).headers.get('retry-after'), '3');
    store.setRequestRate(null);
    await get();
    assert.equal(statuses, [200, 200, 503, 200]);
    assert.equal([store.counters.throttled, store.counters.statuses[503]], [1, 1]);
  }));

test('a slow request does not hold up another connection', () =>
  withStore({}, async (store) => {
    store.faults.add({ match: { key: 'k' }, fault: { kind: 'delay', ms: 60_000 } });
    const [slow, fast] = [new RawClient(store.port), new RawClient(store.port)];
    slow.get('/data/k');
    await eventually(() => store.counters.requests === 1, 'slow request');
    fast.get('/data/empty');
    await fast.until((c) => c.answer()?.status === 200);
    assert.equal([store.pendingTimers, slow.bytes.length], [1, 0]);
    slow.close();
    fast.close();
  }));

test('latency and a rate for each connection change when, never what', () =>
  withStore(
    { latency: { kind: 'uniform', low: 0, high: 3 }, connectionMbPerS: 20, seed: 5 },
    async (store) => {
      store.put('data', 'mid', { sizeBytes: 300_000, seed: 1 });
      const bodies = await Promise.all(
        [1, 2, 3].map(async () => (await fetch(`${store.endpoint}/data/mid`)).arrayBuffer()),
      );
      for (const body of bodies) {
        assert.is(Buffer.compare(Buffer.from(body), store.expectedBytes('data', 'mid')), 0);
      }
    },
  ));

test('an idle connection is closed, unannounced', () =>
  withStore({ idleCloseMs: 200 }, async (store) => {
    const client = new RawClient(store.port);
    client.get('/data/k');
    await client.untilEnd();
    const answer = client.answer();
    assert.equal(
      [answer?.body.toString(), answer?.headers['keep-alive'], client.ended],
      ['0123456789', undefined, 'fin'],
    );
    const silent = new RawClient(store.port);
    await silent.untilEnd();
    assert.is(silent.ended, 'fin');
    client.close();
    silent.close();
    await eventually(() => store.openSockets === 0, 'sockets closed');
  }));

test('an idle limit leaves a long answer alone', () =>
  withStore({ idleCloseMs: 200 }, async (store) => {
    store.faults.add({ fault: { kind: 'drip', bytes: 1, everyMs: 40 } });
    const client = new RawClient(store.port);
    client.get('/data/k');
    await client.until((c) => c.answer()?.body.length === CONTENT.length);
    client.close();
  }));

test('HTTPS with a certificate of our own: trusted when given, refused when not; cut and reset there too', async () => {
  const tls = selfSigned();
  await withStore({ tls }, async (store) => {
    const get = (path: string, ca?: string) =>
      new Promise<string>((resolve, reject) => {
        const request = https.get(
          `${store.endpoint}${path}`,
          { ...(ca && { ca }), agent: false },
          (response) => {
            let text = '';
            response.on('data', (piece) => (text += piece));
            response.on('end', () => resolve(text));
            response.on('error', reject);
          },
        );
        request.on('error', reject);
      });
    const code = (work: Promise<string>) => work.catch((error: NodeJS.ErrnoException) => String(error.code));
    assert.match(store.endpoint, /^https:/);
    assert.is(await get('/data/k', tls.cert), '0123456789');
    assert.match(await code(get('/data/k')), /SELF_SIGNED|UNABLE_TO_VERIFY/);
    store.faults.add({ times: 1, fault: { kind: 'cut', afterBodyBytes: 4, how: 'rst' } });
    assert.is(await code(get('/data/k', tls.cert)), 'ECONNRESET');
    store.faults.add({ times: 1, fault: { kind: 'cut', afterBodyBytes: 4, how: 'fin' } });
    assert.is(await code(get('/data/k', tls.cert)), 'ECONNRESET');
    assert.is(store.requests().length, 3);
    await eventually(() => store.openSockets === 0, 'sockets closed');
  });
});

test('the log is bounded and says what arrived', () =>
  withStore({ logCapacity: 2 }, async (store) => {
    const headers = { range: 'bytes=1-2', 'if-match': '*' };
    for (const key of ['a', 'b', 'k'])
      await (await fetch(`${store.endpoint}/data/${key}`, { headers })).text();
    const [first, second] = store.requests();
    assert.equal([first?.key, first?.status, first?.s3Code], ['b', 404, 'NoSuchKey']);
    assert.equal(
      [second?.number, second?.range, second?.headers['if-match'], second?.signed],
      [3, 'bytes=1-2', '*', false],
    );
    assert.equal(
      [store.counters.requests, store.counters.gets, store.counters.statuses],
      [3, 3, { 206: 1, 404: 2 }],
    );
    store.resetCounters();
    assert.equal([store.requests(), store.counters.requests], [[], 0]);
  }));

test('close() ends hanging, dripping and idle connections; nothing is left of them', async () => {
  await withStore({ idleCloseMs: 60_000 }, async (store) => {
    store.put('data', 'large', { sizeBytes: 2 ** 30, seed: 1 });
    store.faults.add({ match: { operation: 'connect', nth: 1 }, fault: { kind: 'silence' } });
    store.faults.add({ match: { operation: 'get', nth: 1 }, fault: { kind: 'silence' } });
    store.faults.add({ match: { operation: 'get', nth: 2 }, fault: { kind: 'drip', bytes: 1, everyMs: 50 } });
    const clients = [1, 2, 3, 4].map(() => new RawClient(store.port));
    await eventually(() => clients.every((client) => client.connected), 'connected');
    for (const client of clients) client.get('/data/large');
    await eventually(() => store.counters.requests === 3, 'requests');
    const ends = clients.map((client) => client.untilEnd());
    await store.close();
    await Promise.all(ends);
    for (const client of clients) client.close();
  });
  await eventually(() => !process.getActiveResourcesInfo().includes('TCPServerWrap'), 'server gone');
});

const BAD: { options: StoreOptions; message: RegExp }[] = [
  { options: { host: '0.0.0.0' }, message: /loopback/ },
  { options: { basePath: 's3/' }, message: /basePath/ },
  { options: { pageSize: 0 }, message: /pageSize/ },
  { options: { idleCloseMs: Number.NaN }, message: /idleCloseMs/ },
  { options: { connectionMbPerS: 0 }, message: /connectionMbPerS/ },
  { options: { requestRate: { requestsPerS: -1 } }, message: /requestsPerS/ },
  { options: { latency: { kind: 'constant', value: Number.NaN } }, message: /latency/ },
];
for (const { options, message } of BAD) {
  test(`refused: ${JSON.stringify(options)}`, async () => {
    try {
      await startStore(options);
    } catch (error) {
      assert.instance(error, RangeError);
      assert.match((error as Error).message, message);
      return;
    }
    assert.unreachable();
  });
}

test.run();
