import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import type { Fault } from '../store/index.js';
import { assertFails, assertWhole, BUCKET, situation, until } from './kit.js';

const SIZE = 20_000;
const KEYS = ['k/0', 'k/1', 'k/2'];

for (const [what, sizeBytes] of [
  ['shorter', SIZE - 1],
  ['longer', SIZE + 1],
  ['of the same length', SIZE],
] as const) {
  situation(
    8,
    `an object replaced after the listing by one that is ${what}`,
    'test/feed/store.test.ts, test/engine/scripted.test.ts',
    {},
    async ({ store, feed }) => {
      const { etag } = store.put(BUCKET, 'k', { sizeBytes: SIZE, seed: 1 });
      let replaced = '';
      const onListed = (): void => {
        replaced = store.put(BUCKET, 'k', { sizeBytes, seed: 2 }).etag;
      };
      const outcome = await feed({ onListed, batchSamples: 1, set: { 'split.bytes': '4KiB' } });
      assertFails(outcome, 'changed', /index the data set again/, 'k');
      for (const part of [etag, replaced])
        assert.ok(outcome.error?.message.includes(part), outcome.error?.message);
    },
  );
}

const BAD_BODIES: [what: string, fault: Fault, code: string][] = [
  ['cut at half', { kind: 'cut', afterBodyShare: 0.5, how: 'rst' }, 'reset'],
  [
    'shorter than listed, with a right length',
    { kind: 'wrong-length', bodyDelta: -10, headerDelta: -10 },
    'short',
  ],
  ['shorter than it says', { kind: 'wrong-length', bodyDelta: -10 }, 'reset'],
  ['shorter, without a length', { kind: 'wrong-length', bodyDelta: -10, headerDelta: 'absent' }, 'short'],
  ['too long', { kind: 'wrong-length', bodyDelta: 10, headerDelta: 10 }, 'long'],
  ['too long, without a length', { kind: 'wrong-length', bodyDelta: 10, headerDelta: 'absent' }, 'long'],
];
for (const [what, fault, code] of BAD_BODIES) {
  situation(
    9,
    `a body ${what}: retried, then a typed error`,
    'test/engine/scripted.test.ts',
    {},
    async ({ store, feed }) => {
      for (const [seed, key] of KEYS.entries()) store.put(BUCKET, key, { sizeBytes: SIZE, seed });
      const once = store.faults.add({ match: { operation: 'get', key: 'k/1' }, times: 1, fault });
      const passing = await feed();
      assertWhole(passing, KEYS);
      assert.ok((passing.stats?.retries ?? 0) + (passing.stats?.hedges ?? 0) >= 1);
      once.remove();
      store.faults.add({ match: { operation: 'get', key: 'k/1' }, fault });
      const outcome = await feed({ set: { 'retry.base': '1ms', 'retry.attempts': 3 } });
      if (code === 'reset') assert.match(outcome.error?.code ?? '', /^(?:reset|short)$/);
      else assert.is(outcome.error?.code, code, outcome.error?.message);
      assert.is(outcome.error?.context.key, 'k/1');
    },
  );
}

situation(
  10,
  'the store closes idle connections while the trainer computes',
  'test/feed/store.test.ts, test/engine/sockets.test.ts',
  { idleCloseMs: 30 },
  async ({ store, feed }) => {
    for (const [seed, key] of KEYS.entries()) store.put(BUCKET, key, { sizeBytes: SIZE, seed });
    assertWhole(await feed({ batchSamples: 1, epochs: 1 }), KEYS);
    await until(() => store.openSockets === 0, 'idle connections are closed');
    assertWhole(await feed(), KEYS);
  },
);

const BAD_RANGES: [what: string, fault: Fault, code: string, says: RegExp][] = [
  ['200 with everything', { kind: 'ignore-range' }, 'range', /ignored the range/],
  ['a shifted Content-Range', { kind: 'wrong-range', shiftBytes: 5 }, 'range', /Content-Range/],
  [
    'another range, and its bytes',
    { kind: 'wrong-range', shiftBytes: 5, bodyToo: true },
    'range',
    /Content-Range/,
  ],
];
for (const [what, fault, code, says] of BAD_RANGES) {
  situation(11, `a range answered by ${what}`, 'test/engine/answers.test.ts', {}, async ({ store, feed }) => {
    const { etag } = store.put(BUCKET, 'k', { sizeBytes: SIZE, seed: 1 });
    const columns = { keys: ['k'], offsets: [100], lengths: [500], objectSizes: [SIZE], etags: [etag] };
    const manifest = manifestFromColumns(columns);
    assertWhole(await feed({ manifest, batchSamples: 1 }), ['k']);
    store.faults.add({ match: { operation: 'get' }, fault });
    const set = { 'retry.base': '1ms', 'retry.attempts': 2 };
    assertFails(await feed({ manifest, batchSamples: 1, set }), code, says, 'k');
  });
}

situation(
  12,
  'a slow but moving body succeeds; silence ends in time',
  'test/engine/sockets.test.ts',
  {},
  async ({ store, feed }) => {
    store.put(BUCKET, 'k', { sizeBytes: 1200, seed: 1 });
    const slow = store.faults.add({
      match: { operation: 'get' },
      fault: { kind: 'drip', bytes: 100, everyMs: 100 },
    });
    const set = {
      'limits.idle': '1s',
      'limits.first_byte': '1s',
      'hedge.share': 0,
      'retry.base': '1ms',
      'retry.attempts': 2,
    };
    assertWhole(await feed({ batchSamples: 1, set }), ['k']);
    slow.remove();
    store.faults.add({ match: { operation: 'get' }, fault: { kind: 'silence' } });
    const silent = await feed({ batchSamples: 1, set: { ...set, 'limits.first_byte': '50ms' } });
    assertFails(silent, 'timeout_first_byte', /limits\.first_byte/, 'k');
    store.faults.clear();
    store.faults.add({ match: { operation: 'get' }, fault: { kind: 'silence', afterBodyBytes: 100 } });
    const stuck = await feed({ batchSamples: 1, set: { ...set, 'limits.idle': '50ms' } });
    assertFails(stuck, 'timeout_idle', /limits\.idle/, 'k');
  },
);

test.run();
