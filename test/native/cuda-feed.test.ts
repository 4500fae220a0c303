import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { inFolder, rejects } from '../feed/kit.js';
import { withFake } from './fake-cuda.js';
import {
  BUCKET,
  checkAudit,
  checkBatch,
  keyOf,
  MIB,
  openGpuFeed,
  readChecked,
  withStore,
} from './gpu-feed.js';
import { nativeModule } from './module.js';

nativeModule();

// The fake driver copies 2 ms after it was told to: whoever does not wait for a copy reads the bytes before it.

function checkResult(stats: FeedStats, memoryBytes: number): void {
  const { landing, engine, memory_peak_bytes, memory_budget_bytes } = stats;
  assert.equal([engine, landing.backend, landing.mode, landing.direct], ['native', 'cuda', 'auto', false]);
  assert.match(landing.reason, /GPU 0 \(Fake GPU 0\).*CPU receives every byte/);
  assert.is(memory_budget_bytes, memoryBytes);
  assert.ok(memory_peak_bytes > 0 && memory_peak_bytes <= memoryBytes, `${memory_peak_bytes} bytes`);
}

const WAYS: [name: string, fake: object, options: Partial<FeedOptions>][] = [
  ['by file descriptor', {}, {}],
  ['by IPC handle', { fd: 0 }, { policy: 'readahead' }],
  ['one request at a time', { delay_us: 300 }, { policy: 'sync' }],
  ['slots used again and again', { delay_us: 1000 }, { memoryBytes: MIB, shuffle: 'none' }],
];
for (const [name, settings, options] of WAYS) {
  test(`whole epochs, ${name}: memory and audit hold the store's bytes, nothing is left on the GPU`, () =>
    withStore(50, {}, (store) =>
      inFolder((folder) =>
        withFake(settings, async () => {
          const audit = join(folder, 'audit.jsonl');
          const stats = await readChecked(store, { epochs: 2, tail: 'pad', audit, ...options });
          assert.equal([stats.samples, stats.padded, stats.batches], [100, 12, 14]);
          checkResult(stats, options.memoryBytes ?? 8 * MIB);
          assert.is(checkAudit(store, audit), 112);
        }),
      ),
    ));
}

test('budgets down to one sample: staging and landing together stay within them', () =>
  withStore(30, {}, async (store) => {
    for (const memoryBytes of [56 * 1024, 100_000, 300_001]) {
      await withFake({ delay_us: 100 }, async () => {
        const stats = await readChecked(store, { memoryBytes, batchSamples: 1 });
        assert.is(stats.samples, 30);
        checkResult(stats, memoryBytes);
      });
    }
  }));

test('samples longer than a piece of the audit and than a quarter of staging come in parts', () =>
  withStore(0, {}, (store) =>
    inFolder((folder) =>
      withFake({ delay_us: 500 }, async (fake) => {
        for (let i = 0; i < 6; i++) store.put(BUCKET, keyOf(i), { sizeBytes: 1_300_000 + i, seed: i });
        const audit = join(folder, 'audit.jsonl');
        const stats = await readChecked(store, { batchSamples: 2, audit });
        assert.is(stats.samples, 6);
        assert.is(checkAudit(store, audit), 6);
        assert.ok(fake.called('cuMemcpyHtoDAsync_v2') >= 18, 'parts of 512 KiB at most');
      }),
    ),
  ));

test('a store that fails, and hedges: the same bytes', () =>
  withStore(60, { slowTail: { share: 0.05, factor: 40 }, latency: { kind: 'constant', value: 2 } }, (store) =>
    withFake({ delay_us: 200 }, async () => {
      store.faults.add({
        match: { operation: 'get', every: 7 },
        fault: { kind: 'cut', afterBodyShare: 0.5, how: 'rst' },
      });
      const set = { 'hedge.share': 0.2, 'retry.base': '1ms' };
      const stats = await readChecked(store, { epochs: 3, set, tail: 'partial' });
      assert.is(stats.samples, 180);
      assert.ok(stats.retries > 0, 'no fault was met');
    }),
  ));

test('stopped and resumed: both audits together are that of a whole run', () =>
  withStore(40, {}, (store) =>
    inFolder((folder) =>
      withFake({ delay_us: 500 }, async () => {
        const file = (name: string): string => join(folder, name);
        const run = { epochs: 2, seed: 5 };
        await readChecked(store, { ...run, audit: file('whole') });
        const cursorOut = file('cursor.json');
        await readChecked(store, { ...run, cursorOut, audit: file('parts') }, 4);
        await readChecked(store, { ...run, resume: cursorOut, audit: file('parts') });
        assert.is(readFileSync(file('parts'), 'utf8'), readFileSync(file('whole'), 'utf8'));
        await readChecked(store, { ...run, landing: 'shm', audit: file('shm') });
        assert.is(readFileSync(file('shm'), 'utf8'), readFileSync(file('whole'), 'utf8'));
      }),
    ),
  ));

test('closed and aborted with copies under way: all is given back, and no copy loses its memory', () =>
  withStore(60, {}, async (store) => {
    for (const how of ['close', 'abort', 'leave'] as const) {
      await withFake(
        { delay_us: 20_000 },
        async (fake) => {
          const abort = new AbortController();
          const feed = await openGpuFeed(store, { signal: abort.signal });
          const batch = await feed.next();
          assert.ok(batch !== null);
          checkBatch(store, feed, batch);
          assert.ok(
            fake.called('cuMemcpyHtoDAsync_v2') > fake.called('cuEventSynchronize'),
            'copies are under way',
          );
          if (how === 'abort') {
            abort.abort();
            await rejects(feed.next(), 'aborted');
          } else if (how === 'leave') for await (const _ of feed) break;
          await feed.close();
        },
        how,
      );
    }
  }));

test.run();
