import { spawn } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openFeed } from '../../runtime-node/feed/open.js';
import { ENGINE_UNDER_TEST } from '../engine/engine-kit.js';
import { assertFails, assertWhole, BUCKET, optionsFor, situation, until } from './kit.js';

function put(
  store: { put: (bucket: string, key: string, body: { sizeBytes: number; seed: number }) => unknown },
  count: number,
  sizeBytes: number,
): string[] {
  const keys = Array.from({ length: count }, (_, n) => `k/${n}`);
  for (const [seed, key] of keys.entries()) store.put(BUCKET, key, { sizeBytes, seed });
  return keys;
}

situation(
  13,
  'one hung request and 200 behind few sockets',
  'test/engine/sockets.test.ts',
  {},
  async ({ store, feed }) => {
    const keys = put(store, 200, 300);
    store.faults.add({ match: { operation: 'get', key: 'k/0' }, times: 1, fault: { kind: 'silence' } });
    const set = { 'concurrency.max': 4, 'hedge.share': 0, 'limits.first_byte': '300ms', 'retry.base': '1ms' };
    const outcome = await feed({ batchSamples: 50, set });
    assertWhole(outcome, keys);
    assert.is(outcome.stats?.retries, 1);
    const waits = Object.values(outcome.stats?.stall_s ?? {});
    assert.ok(waits.reduce((sum, seconds) => sum + seconds, 0) > 0, 'the wait is reported');
    assert.ok(store.counters.mostOpenSockets <= 5, `${store.counters.mostOpenSockets} sockets`);
  },
);

situation(
  14,
  'prefetches abandoned in the middle of their bodies',
  'test/engine/sockets.test.ts',
  {},
  async ({ store, feed }) => {
    const keys = put(store, 200, 40_000);
    const slow = store.faults.add({
      match: { operation: 'get' },
      fault: { kind: 'drip', bytes: 1000, everyMs: 20 },
    });
    const abandoned = await openFeed(optionsFor(store, {}));
    await until(() => store.counters.inFlight >= 4, 'bodies are under way');
    await abandoned.close();
    await until(() => store.openSockets === 0, 'sockets are back at none');
    slow.remove();
    assertWhole(await feed({ batchSamples: 50 }), keys);
  },
);

situation(
  15,
  '503 above a rate, two feeders',
  'test/feed/store.test.ts, test/core/throttling.test.ts',
  { requestRate: { requestsPerS: 100 } },
  async ({ store, feed }) => {
    put(store, 200, 100);
    const shares = [0, 1].map((rank) => feed({ rank, worldSize: 2, memoryBytes: 2 ** 22, set: {} }));
    const outcomes = await Promise.all(shares);
    let sent = 0;
    const keys: string[] = [];
    for (const { error, stats, delivered } of outcomes) {
      assert.is(error, null);
      sent += stats?.requests ?? 0;
      keys.push(...delivered.map(({ key }) => key));
    }
    assert.is(new Set(keys).size, 200);
    assert.ok(store.counters.throttled > 0, 'the cap was reached');
    assert.ok(sent <= 600, `${sent} requests for 200 samples`);
  },
);

situation(
  16,
  'a kept connection closed just as it is used again',
  'test/engine/sockets.test.ts',
  {},
  async ({ store, feed }) => {
    const keys = put(store, 40, 300);
    store.faults.add({
      match: { operation: 'get', reused: true, every: 5 },
      fault: { kind: 'close', how: 'fin' },
    });
    const outcome = await feed({ set: { 'concurrency.max': 2, 'hedge.share': 0, 'retry.attempts': 1 } });
    assertWhole(outcome, keys); // with one attempt: a replay is none
    assert.is(outcome.stats?.stall_s.throttle, 0);
  },
);

situation(
  26,
  'large objects, a slow trainer, one object larger than the budget',
  'test/core/shape.test.ts, test/feed/options.test.ts',
  {},
  async ({ store, feed }) => {
    const keys = put(store, 12, 2 ** 20);
    const memoryBytes = 6 * 2 ** 20;
    const outcome = await feed({ batchSamples: 1, memoryBytes });
    assertWhole(outcome, keys);
    assert.ok((outcome.stats?.memory_peak_bytes ?? Number.NaN) <= memoryBytes);
    store.put(BUCKET, 'large', { sizeBytes: 2 ** 24, seed: 1 });
    assertFails(await feed({ batchSamples: 1, memoryBytes }), 'sample_too_large', /memoryBytes/);
  },
);

situation(
  28,
  'the cause of a failure reaches next()',
  'test/feed/failure.test.ts, test/cli/simulate.test.ts',
  {},
  async ({ store, feed }) => {
    put(store, 8, 300);
    const outcome = await feed({ onListed: () => void store.delete(BUCKET, 'k/5') });
    assertFails(outcome, 'not_found', /NoSuchKey/, 'k/5');
    const { status, s3Code, requestId, attempts } = outcome.error?.context ?? {};
    assert.equal([status, s3Code, attempts], [404, 'NoSuchKey', 1]);
    assert.match(String(requestId), /^[0-9A-F]{16}$/);
  },
);

situation(
  29,
  'numbers that are none',
  'test/core/config.test.ts, test/feed/options.test.ts',
  {},
  async ({ feed, store }) => {
    put(store, 1, 10);
    const bad = [Number.NaN, Infinity, -Infinity, -1, 1.5, 2 ** 53 + 2, '8'] as number[];
    for (const option of [
      'batchSamples',
      'epochs',
      'rank',
      'worldSize',
      'memoryBytes',
      'maxSkips',
      'seed',
    ] as const) {
      for (const value of bad) {
        if (option === 'memoryBytes' && value === 2 ** 53 + 2) continue; // above what a process can have: another code
        const { error } = await feed({ [option]: value, onError: 'skip' });
        assert.is(error?.code, 'bad_option', `${option} ${value}`);
        assert.is(error?.context.option, option);
      }
    }
    for (const option of ['batchSamples', 'epochs', 'worldSize', 'memoryBytes'] as const) {
      assert.is((await feed({ [option]: 0 })).error?.code, 'bad_option', option);
    }
    assert.is(store.counters.requests, 0);
  },
);

const SCRIPT = `
  const { openFeed } = await import(process.argv[1]);
  const feed = await openFeed(JSON.parse(process.argv[2]));
  let samples = 0;
  for await (const batch of feed) samples += batch.length;
  console.log(samples);
`;

situation(
  31,
  'a process whose feed is done ends by itself',
  'test/native/process.test.ts',
  {},
  async ({ store }) => {
    put(store, 8, 300);
    const api = new URL('../../runtime-node/index.js', import.meta.url).href;
    const options = JSON.stringify(optionsFor(store, { engine: ENGINE_UNDER_TEST }));
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, api, options], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += String(chunk);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    assert.equal([said.trim(), code], ['8', 0]);
  },
);

test.run();
