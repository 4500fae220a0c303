import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FaultTable } from './faults.js';
import { type FaultRule, type ScriptedStore, slowDown, startStore } from './index.js';
import { eventually, RawClient } from './raw-client.js';

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

test('silence: before the answer, in mid-body, and on accept', async () => {
  store.faults.add({ times: 1, fault: { kind: 'silence' } });
  store.faults.add({ times: 1, fault: { kind: 'silence', afterBodyBytes: 6 } });
  const [first, second] = [new RawClient(store.port), new RawClient(store.port)];
  first.get('/data/k');
  await eventually(() => store.counters.requests === 1, 'first request');
  second.get('/data/k');
  await second.until((c) => c.answer()?.body.length === 6);
  assert.is(first.bytes.length, 0);
  assert.is(store.counters.inFlight, 2);

  store.faults.add({ match: { operation: 'connect' }, times: 1, fault: { kind: 'silence' } });
  const third = new RawClient(store.port);
  third.get('/data/k');
  await eventually(() => store.openSockets === 3, 'third connection');
  assert.is(store.counters.requests, 2);
  for (const client of [first, second, third]) client.close();
  await eventually(() => store.openSockets === 0, 'clients gone');
  assert.is(store.counters.inFlight, 0);
});

test('a connection reset as soon as it is accepted', async () => {
  store.faults.add({ match: { operation: 'connect' }, times: 1, fault: { kind: 'close', how: 'rst' } });
  const client = new RawClient(store.port);
  await client.untilEnd();
  assert.is(client.bytes.length, 0);
});

test('a kept connection closed just as it is used again', async () => {
  store.faults.add({ match: { reused: true }, fault: { kind: 'close', how: 'fin' } });
  const client = new RawClient(store.port);
  client.get('/data/k');
  await client.until((c) => c.answer()?.body.length === CONTENT.length);
  client.reset();
  client.get('/data/k');
  await client.untilEnd();
  assert.is(client.bytes.length, 0);
  assert.equal(
    store.requests().map((r) => [r.connection > 0, r.onConnection, r.status]),
    [
      [true, 1, 200],
      [true, 2, 0],
    ],
  );
});

const PICKS: { name: string; rule: FaultRule; hits: string }[] = [
  { name: 'nth', rule: { match: { nth: 2 }, fault: slowDown() }, hits: '.x....' },
  { name: 'every', rule: { match: { every: 2 }, fault: slowDown() }, hits: '.x.x.x' },
  {
    name: 'every, at most twice',
    rule: { match: { every: 2 }, times: 2, fault: slowDown() },
    hits: '.x.x..',
  },
  { name: 'after', rule: { match: { afterRequests: 4 }, fault: slowDown() }, hits: '....xx' },
  { name: 'key', rule: { match: { key: 'other' }, fault: slowDown() }, hits: '......' },
  { name: 'pattern', rule: { match: { key: /^k$/g, operation: 'get' }, fault: slowDown() }, hits: 'xxxxxx' },
  { name: 'range', rule: { match: { range: true }, fault: slowDown() }, hits: '......' },
  { name: 'never', rule: { match: { probability: 0 }, fault: slowDown() }, hits: '......' },
  { name: 'always', rule: { match: { probability: 1 }, times: 3, fault: slowDown() }, hits: 'xxx...' },
];
for (const { name, rule, hits } of PICKS) {
  test(`rule picks: ${name}`, async () => {
    const active = store.faults.add(rule);
    const client = new RawClient(store.port);
    let seen = '';
    for (let i = 0; i < hits.length; i++) {
      client.reset();
      client.get('/data/k');
      await client.until((c) => c.answer()?.body.length === Number(c.answer()?.headers['content-length']));
      seen += client.answer()?.status === 503 ? 'x' : '.';
    }
    client.close();
    assert.is(seen, hits);
    assert.is(active.fired, hits.split('x').length - 1);
  });
}

test('probability draws from the seed, each rule from its own stream', () => {
  const picks = (seed: number) => {
    const table = new FaultTable(seed);
    table.add({ match: { probability: 0.3 }, fault: slowDown() });
    table.add({ match: { probability: 0.5 }, fault: { kind: 'silence' } });
    const subject = { request: null, operation: 'get', reused: false } as const;
    return Array.from({ length: 1000 }, () => table.pick(subject)?.kind ?? 'none');
  };
  assert.equal(picks(SEED), picks(SEED));
  assert.not.equal(picks(SEED), picks(SEED + 1));
  const share = (kind: string) => picks(SEED).filter((pick) => pick === kind).length / 1000;
  assert.ok(Math.abs(share('status') - 0.3) < 0.05 && Math.abs(share('silence') - 0.35) < 0.05);
});

test('a rule that cannot work is refused', () => {
  assert.throws(() => store.faults.add({ match: { nth: 0 }, fault: slowDown() }), /nth/);
  assert.throws(() => store.faults.add({ match: { operation: 'connect' }, fault: slowDown() }), /connection/);
});

test.run();
