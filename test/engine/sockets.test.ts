import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Limits } from '../../runtime-node/engine/engine.js';
import { accessTo, Driver, MS, SHORT_LIMITS, until } from './engine-kit.js';
import { answer, errorXml, objectAnswer, type RawRequest, startRawStore } from './raw-store.js';

const BODY = Buffer.alloc(100_000, 'abcdefghij');
const ETAG = '"e1"';
const OBJECTS = [{ key: 'k', size: BODY.length, etag: ETAG }];
const right = (request: RawRequest, socket: Socket): void => {
  socket.write(objectAnswer(request, BODY, ETAG));
};
const headAndHalf = Buffer.concat([
  answer(200, { ETag: ETAG, 'Content-Length': String(BODY.length) }),
  BODY.subarray(0, BODY.length / 2),
]);
const silent = (): void => {};

// Case 12: each limit ends in a class of its own.
interface LimitRow {
  limit: keyof Limits;
  outcome: string;
  reply: (request: RawRequest, socket: Socket) => void;
}
const limitRows: LimitRow[] = [
  { limit: 'firstByteNs', outcome: 'timeout_first_byte', reply: silent },
  { limit: 'idleNs', outcome: 'timeout_idle', reply: (_request, socket) => void socket.write(headAndHalf) },
  {
    limit: 'idleNs',
    outcome: 'timeout_idle',
    reply: (_request, socket) => void socket.write(answer(500, { 'Content-Length': '9' })),
  },
  { limit: 'totalNs', outcome: 'timeout_total', reply: (_request, socket) => void socket.write(headAndHalf) },
];
for (const { limit, outcome, reply } of limitRows) {
  test(`limit ${limit} -> ${outcome}; the socket is gone`, async () => {
    const store = await startRawStore(reply);
    const driver = new Driver(accessTo(store.port), OBJECTS, {
      limits: { ...SHORT_LIMITS, [limit]: 100 * MS },
    });
    const got = await driver.get(0, 0, BODY.length);
    assert.is(got.what, outcome);
    await until(() => driver.engine.sockets === 0);
    await driver.engine.close();
    await store.close();
  });
}

test('limit connectNs: a TLS server that never shakes hands', async () => {
  const store = await startRawStore(silent);
  const driver = new Driver(accessTo(store.port, { protocol: 'https:' }), OBJECTS, {
    limits: { ...SHORT_LIMITS, connectNs: 100 * MS },
  });
  assert.is((await driver.get(0, 0, BODY.length)).what, 'timeout_connect');
  await until(() => driver.engine.sockets === 0);
  await driver.engine.close();
  await store.close();
});

test('case 12: a slow but moving body outlives the idle limit', async () => {
  const store = await startRawStore((_request, socket) => {
    socket.write(answer(200, { ETag: ETAG, 'Content-Length': String(BODY.length) }));
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(BODY.subarray(sent, sent + BODY.length / 20));
      sent += BODY.length / 20;
      if (sent >= BODY.length) clearInterval(timer);
    }, 20);
  });
  const driver = new Driver(accessTo(store.port), OBJECTS, { limits: { ...SHORT_LIMITS, idleNs: 200 * MS } });
  const got = await driver.get(0, 0, BODY.length);
  assert.is(got.what, 'fetched', got.failure?.message);
  assert.equal(got.target, BODY);
  await driver.engine.close();
  await store.close();
});

test('a process that was busy for longer than the limit does not take it for silence', async () => {
  const store = await startRawStore(right);
  const driver = new Driver(accessTo(store.port), OBJECTS, { limits: { ...SHORT_LIMITS, idleNs: 50 * MS } });
  await driver.get(0, 0, BODY.length);
  const target = Buffer.alloc(BODY.length);
  driver.engine.get(1, 1, 0, 0, BODY.length, target);
  await until(() => driver.firstBytes === 2 || driver.outcomes.length === 2);
  const end = performance.now() + 200;
  while (performance.now() < end);
  await driver.ended(2);
  assert.is(driver.outcomes[1]?.what, 'fetched');
  await driver.engine.close();
  await store.close();
});

test('case 16: a kept-alive connection closed as it is reused is stale, and the next GET works', async () => {
  const store = await startRawStore((request, socket) => {
    if (request.onConnection === 1) socket.destroy();
    else right(request, socket);
  });
  const driver = new Driver(accessTo(store.port), OBJECTS);
  const outcomes = [];
  for (let i = 0; i < 3; i++) outcomes.push((await driver.get(0, 0, 1000)).what);
  assert.equal(outcomes, ['fetched', 'stale', 'fetched']);
  assert.is(store.connections, 2);
  await driver.engine.close();
  await store.close();
});

test('case 10: a connection that the store closed while idle is replaced unseen', async () => {
  const store = await startRawStore(right);
  const driver = new Driver(accessTo(store.port), OBJECTS);
  assert.is((await driver.get(0, 0, 1000)).what, 'fetched');
  for (const socket of store.open) socket.end();
  await until(() => driver.engine.sockets === 0);
  assert.is((await driver.get(0, 0, 1000)).what, 'fetched');
  await driver.engine.close();
  await store.close();
});

test('connections are kept and used again; errors with a body do not cost them', async () => {
  const store = await startRawStore((request, socket) => {
    if (request.number % 2 === 0) right(request, socket);
    else {
      const body = errorXml('SlowDown');
      socket.write(answer(503, { 'Content-Length': String(body.length) }, body));
    }
  });
  const driver = new Driver(accessTo(store.port), OBJECTS);
  for (let i = 0; i < 20; i++) await driver.get(0, 0, 1000);
  assert.is(store.connections, 1);
  await driver.engine.close();
  await store.close();
});

test('nothing listens: connect', async () => {
  const store = await startRawStore(right);
  await store.close();
  const driver = new Driver(accessTo(store.port), OBJECTS);
  const got = await driver.get(0, 0, 1000);
  assert.is(got.what, 'connect');
  assert.match(got.failure?.message ?? '', /ECONNREFUSED/);
  await driver.engine.close();
});

test('case 14: 200 abandoned bodies leave no socket behind, and the next reads work', async () => {
  const store = await startRawStore((request, socket) => {
    if (request.headers.get('range') === 'bytes=0-9') right(request, socket);
    else socket.write(headAndHalf);
  });
  const driver = new Driver(accessTo(store.port), OBJECTS, { maxSockets: 20 });
  for (let round = 0; round < 10; round++) {
    for (let id = 0; id < 20; id++)
      driver.engine.get(id, round, 0, 0, BODY.length, Buffer.alloc(BODY.length));
    await until(() => driver.firstBytes === (round + 1) * 20);
    for (let id = 0; id < 20; id++) driver.engine.cancel(id, round);
    await driver.ended((round + 1) * 20);
  }
  assert.is(driver.outcomes.filter((outcome) => outcome.what === 'cancelled').length, 200);
  await until(() => driver.engine.sockets === 0 && store.open.size === 0);
  assert.is(store.connections, 200, 'no connection is made for an abandoned request');
  assert.is((await driver.get(0, 0, 10, 999)).what, 'fetched');
  await driver.engine.close();
  await store.close();
});

test('cancel while connecting, before the answer, twice, and after the end: one completion each', async () => {
  const store = await startRawStore((request, socket) => {
    if (request.headers.get('range') === 'bytes=0-9') right(request, socket);
  });
  const driver = new Driver(accessTo(store.port), OBJECTS);
  driver.engine.get(1, 1, 0, 0, BODY.length, Buffer.alloc(BODY.length));
  driver.engine.cancel(1, 1);
  driver.engine.cancel(1, 1);
  driver.engine.get(2, 1, 0, 0, BODY.length, Buffer.alloc(BODY.length));
  await until(() => store.requests.length === 1);
  driver.engine.cancel(2, 1);
  driver.engine.cancel(7, 7);
  await driver.ended(2);
  await driver.get(0, 0, 10, 3);
  driver.engine.cancel(3, 1);
  await driver.get(0, 0, 10, 4);
  assert.equal(
    driver.outcomes.map(({ id, what }) => [id, what]),
    [
      [1, 'cancelled'],
      [2, 'cancelled'],
      [3, 'fetched'],
      [4, 'fetched'],
    ],
  );
  await driver.engine.close();
  await store.close();
});

test('two attempts of one request at a time (a hedge): each ends once', async () => {
  const store = await startRawStore((request, socket) => {
    if (request.number === 1) right(request, socket);
  });
  const driver = new Driver(accessTo(store.port), OBJECTS);
  driver.engine.get(1, 1, 0, 0, 1000, Buffer.alloc(1000));
  await until(() => store.requests.length === 1);
  driver.engine.get(1, 2, 0, 0, 1000, Buffer.alloc(1000));
  await driver.ended(1);
  driver.engine.cancel(1, 1);
  await driver.ended(2);
  assert.equal(
    driver.outcomes.map(({ attempt, what }) => [attempt, what]),
    [
      [2, 'fetched'],
      [1, 'cancelled'],
    ],
  );
  await driver.engine.close();
  await store.close();
});

test('case 13: one hung request does not hold up the others; one more than the sockets is a defect, not a queue', async () => {
  const store = await startRawStore((request, socket) => {
    if (request.number > 0) right(request, socket);
  });
  const driver = new Driver(accessTo(store.port), OBJECTS, { maxSockets: 2 });
  driver.engine.get(0, 1, 0, 0, BODY.length, Buffer.alloc(BODY.length));
  await until(() => store.requests.length === 1);
  for (let id = 1; id <= 200; id++) assert.is((await driver.get(0, 0, 1000, id)).what, 'fetched');
  driver.engine.get(300, 1, 0, 0, 1000, Buffer.alloc(1000));
  driver.engine.get(301, 1, 0, 0, 1000, Buffer.alloc(1000));
  await driver.ended(202);
  assert.is(driver.outcomes.find(({ id }) => id === 301)?.what, 'internal');
  assert.ok(store.connections <= 2);
  await driver.engine.close();
  await store.close();
});

test('completions that come together wake once', async () => {
  const store = await startRawStore(right);
  const driver = new Driver(accessTo(store.port), [{ key: '', size: 10, etag: null }]);
  for (let id = 0; id < 100; id++) driver.engine.get(id, 1, 0, 0, 10, Buffer.alloc(10));
  await driver.ended(100);
  assert.is(driver.wakes, 1);
  assert.is(driver.outcomes[0]?.what, 'refused');
  await driver.engine.close();
  await store.close();
});

test('close in the middle of everything: resolves, no completion follows', async () => {
  const store = await startRawStore((_request, socket) => void socket.write(headAndHalf));
  const driver = new Driver(accessTo(store.port), OBJECTS);
  for (let id = 0; id < 8; id++) driver.engine.get(id, 1, 0, 0, BODY.length, Buffer.alloc(BODY.length));
  await until(() => store.requests.length === 8);
  for (let id = 8; id < 16; id++) driver.engine.get(id, 1, 0, 0, BODY.length, Buffer.alloc(BODY.length));
  await driver.engine.close();
  assert.is(driver.engine.sockets, 0);
  assert.is(driver.outcomes.length, 0);
  await until(() => store.open.size === 0);
  await store.close();
});

test.run();
