import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ENGINE_UNDER_TEST } from '../engine/engine-kit.js';
import type { FaultRule } from '../store/index.js';
import { assertFails, assertWhole, BUCKET, situation } from './kit.js';

const KEYS = Array.from({ length: 12 }, (_, n) => `k/${String(n).padStart(2, '0')}`);

const refused = (header: string, status: number, code?: string): FaultRule => ({
  match: { operation: 'get', header },
  fault: { kind: 'status', status, ...(code === undefined ? { body: false } : { code }) },
});

/** What stores that are not AWS's do with the requests of one that is written for AWS's. */
const HABITS: [what: string, rules: FaultRule[], told: RegExp | null][] = [
  [
    'If-Match is refused with 501',
    [refused('if-match', 501, 'NotImplemented')],
    /answers If-Match with status 501/,
  ],
  [
    'If-Match is refused with 400',
    [refused('if-match', 400, 'InvalidArgument')],
    /answers If-Match with status 400/,
  ],
  ['If-Match is refused without a word', [refused('if-match', 400)], /answers If-Match with status 400/],
  ['If-Match is ignored', [{ match: { operation: 'get' }, fault: { kind: 'ignore-if-match' } }], null],
  [
    'the listing is in no order',
    [{ match: { operation: 'list' }, fault: { kind: 'listing', how: 'unordered' } }],
    null,
  ],
  [
    'a page is empty, and more follow',
    [{ match: { operation: 'list', nth: 2 }, fault: { kind: 'listing', how: 'empty-page' } }],
    null,
  ],
  ['bodies come in chunks', [{ match: { operation: 'get' }, fault: { kind: 'chunked' } }], null],
];
for (const [what, rules, told] of HABITS) {
  situation(
    3,
    `a store's habit: ${what}: every byte, and what is done without is said`,
    'test/s3/listing.test.ts, test/engine/answers.test.ts',
    { pageSize: 5 },
    async ({ store, feed }) => {
      for (const [seed, key] of KEYS.entries()) store.put(BUCKET, key, { sizeBytes: 2000 + seed, seed });
      for (const rule of rules) store.faults.add(rule);
      const lines: string[] = [];
      const logger = {
        debug() {},
        info() {},
        warn: (_fields: object, line: string) => void lines.push(line),
      };
      assertWhole(await feed({ logger, set: { 'retry.base': '1ms', 'concurrency.max': 4 } }), KEYS);
      assert.is(lines.filter((line) => told?.test(line)).length, told === null ? 0 : 1, lines.join('\n'));
    },
  );
}

situation(
  8,
  'an object replaced in a store that refuses or ignores If-Match: found all the same',
  'test/engine/answers.test.ts',
  {},
  async ({ store, feed }) => {
    for (const rule of [refused('if-match', 501, 'NotImplemented'), HABITS[3]![1][0]!]) {
      store.faults.clear();
      store.put(BUCKET, 'k', { sizeBytes: 2000, seed: 1 });
      store.faults.add(rule);
      const onListed = (): void => void store.put(BUCKET, 'k', { sizeBytes: 2000, seed: 2 });
      assertFails(await feed({ batchSamples: 1, onListed }), 'changed', /index the data set again/, 'k');
    }
  },
);

for (const [status, code] of [
  [501, 'NotImplemented'],
  [400, 'InvalidArgument'],
] as const) {
  situation(
    9,
    `verify checksum at a store that refuses the header with ${status}: no silent lesser check`,
    'test/engine/scripted.test.ts',
    {},
    async ({ store, feed }) => {
      store.put(BUCKET, 'k', { sizeBytes: 2000, seed: 1 });
      store.faults.add(refused('x-amz-checksum-mode', status, code));
      const set = { 'retry.base': '1ms', 'retry.attempts': 3 };
      const outcome = await feed({ batchSamples: 1, verify: 'checksum', set });
      // The native engine takes a 501 for a fault that may pass, and asks again before it says the same.
      assertFails(
        outcome,
        status === 501 && ENGINE_UNDER_TEST === 'native' ? 'server' : 'refused',
        /refuses to be asked for its checksum .* verify by ETag/,
        'k',
      );
      assertWhole(await feed({ batchSamples: 1, set }), ['k']);
    },
  );
}

situation(
  9,
  'verify checksum where no object has one: said at the end',
  'test/engine/scripted.test.ts',
  {},
  async ({ store, feed }) => {
    store.put(BUCKET, 'k', { sizeBytes: 2000, seed: 1 });
    const lines: string[] = [];
    const logger = { debug() {}, info() {}, warn: (_fields: object, line: string) => void lines.push(line) };
    assertWhole(await feed({ batchSamples: 1, verify: 'checksum', logger }), ['k']);
    assert.ok(
      lines.some((line) => /no answer had a checksum/.test(line)),
      lines.join('\n'),
    );
  },
);

test.run();
