import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Cursor } from '../../runtime-node/feed/cursor.js';
import { openFeed } from '../../runtime-node/feed/open.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import type { ScriptedStore } from '../store/index.js';
import { assertFails, BUCKET, optionsFor, situation } from './kit.js';

function put(store: ScriptedStore, count: number): void {
  for (let n = 0; n < count; n++) store.put(BUCKET, `k/${n}`, { sizeBytes: 100 + n, seed: n });
}

interface Read {
  batches: { rows: number[]; pads: number; cursor: Cursor }[];
}

async function read(store: ScriptedStore, over: Partial<FeedOptions>, most = Infinity): Promise<Read> {
  const feed = await openFeed(optionsFor(store, { shuffle: 'sample', seed: 7, ...over }));
  const batches: Read['batches'] = [];
  while (batches.length < most) {
    const batch = await feed.next();
    if (batch === null) break;
    const rows = Array.from({ length: batch.length }, (_, i) => batch.row(i));
    batches.push({ rows, pads: rows.filter((_, i) => batch.pad(i)).length, cursor: batch.cursor });
    batch.release();
  }
  await feed.close();
  return { batches };
}

const SHAPES: [samples: number, ranks: number, batch: number][] = [
  [1, 4, 1],
  [5, 2, 1],
  [10, 4, 3],
];
for (const [samples, worldSize, batchSamples] of SHAPES) {
  for (const tail of ['drop', 'pad', 'partial'] as const) {
    situation(
      23,
      `${samples} samples, ${worldSize} ranks, batch ${batchSamples}, ${tail}`,
      'test/core/sharding.test.ts',
      {},
      async ({ store }) => {
        put(store, samples);
        const ranks = await Promise.all(
          Array.from({ length: worldSize }, (_, rank) =>
            read(store, { rank, worldSize, batchSamples, tail }),
          ),
        );
        const steps = ranks.map(({ batches }) => batches.length);
        if (tail !== 'partial') assert.is(new Set(steps).size, 1, `steps ${steps}`);
        const rows = ranks.flatMap(({ batches }) => batches.flatMap((batch) => batch.rows));
        const pads = ranks.reduce(
          (sum, { batches }) => sum + batches.reduce((n, batch) => n + batch.pads, 0),
          0,
        );
        const whole = Math.floor(samples / (worldSize * batchSamples)) * worldSize * batchSamples;
        const wanted = tail === 'drop' ? whole : samples;
        assert.is(new Set(rows).size, wanted);
        assert.is(rows.length - pads, wanted);
      },
    );
  }
}

situation(
  24,
  'stopped after every batch, resumed, and two more epochs',
  'test/core/sharding.test.ts, test/feed/resume.test.ts',
  {},
  async ({ store }) => {
    put(store, 10);
    const job = { batchSamples: 3, tail: 'partial', epochs: 3 } as const;
    const unbroken = (await read(store, job)).batches.map(({ rows }) => rows);
    for (let stop = 1; stop <= 4; stop++) {
      const before = (await read(store, job, stop)).batches;
      const after = (await read(store, { ...job, resume: before.at(-1)!.cursor })).batches;
      assert.equal(
        [...before, ...after].map(({ rows }) => rows),
        unbroken,
        `stopped after ${stop}`,
      );
    }
  },
);

situation(
  25,
  'saved with 2 ranks, resumed with 1, 3, 4',
  'test/core/sharding.test.ts, test/feed/resume.test.ts',
  {},
  async ({ store, feed }) => {
    put(store, 40);
    const job = { epochs: 1, tail: 'drop' } as const;
    const all = (await read(store, { ...job, batchSamples: 12 })).batches.map(({ rows }) => [...rows].sort());
    const { cursor } = (await read(store, { ...job, batchSamples: 6, worldSize: 2, rank: 0 }, 1)).batches[0]!;
    for (const worldSize of [1, 3, 4]) {
      const ranks = await Promise.all(
        Array.from({ length: worldSize }, (_, rank) =>
          read(store, { ...job, batchSamples: 12 / worldSize, worldSize, rank, resume: cursor }),
        ),
      );
      const rest = all.slice(1).map((_, n) => ranks.flatMap(({ batches }) => batches[n]!.rows).sort());
      assert.equal(rest, all.slice(1), `${worldSize} ranks`);
    }
    const refused = await feed({
      ...job,
      shuffle: 'sample',
      seed: 7,
      batchSamples: undefined,
      worldSize: 5,
      resume: cursor,
    });
    assertFails(refused, 'cursor_mismatch', /cannot be shared by 5 ranks/);
  },
);

test.run();
