import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fate } from './fake-engine.js';
import { MS, manifestOf, openFake, readAll, type Seen, sizesTo } from './kit.js';

/** Latency that is different for each request, but the same in each run. */
const jumbled =
  (seed: number) =>
  ({ row, offset }: { row: number; offset: number }): Fate => ({
    latencyNs: ((row * 7919 + offset + seed) % 97) * MS + 1,
  });

const shape = (seen: Seen[]): unknown => seen.map(({ epoch, index, rows }) => ({ epoch, index, rows }));
const sorted = (rows: number[]): number[] => [...rows].sort((a, b) => a - b);

test('each epoch holds every row once, whatever the latency and the policy', async () => {
  const manifest = manifestOf(sizesTo(50));
  const runs: unknown[] = [];
  for (const policy of ['sync', 'readahead', 'os2g']) {
    for (const seed of [1, 2]) {
      const fake = await openFake(manifest, {
        batchSamples: 7,
        epochs: 3,
        seed: 5,
        tail: 'partial',
        policy,
        fate: jumbled(seed),
      });
      const seen = await readAll(fake);
      for (let epoch = 0; epoch < 3; epoch++) {
        const rows = seen.filter((batch) => batch.epoch === epoch).flatMap((batch) => batch.rows);
        assert.equal(sorted(rows), sorted([...Array(50).keys()]));
      }
      runs.push(shape(seen));
      assert.is(fake.feed.stats().samples, 150);
      assert.is(fake.time.pending, 0, 'a timer is left');
    }
  }
  for (const run of runs) assert.equal(run, runs[0]);
});

const divisions: [samples: number, ranks: number, batch: number][] = [
  [1, 4, 1],
  [5, 2, 1],
  [5, 2, 2],
  [10, 4, 3],
  [24, 4, 3],
  [64, 8, 2],
];
for (const [samples, ranks, batchSamples] of divisions) {
  for (const tail of ['drop', 'pad', 'partial'] as const) {
    test(`${samples} samples for ${ranks} ranks by ${batchSamples}, ${tail}`, async () => {
      const manifest = manifestOf(sizesTo(samples));
      const read = async (rank: number, worldSize: number, of: number): Promise<Seen[]> =>
        readAll(await openFake(manifest, { batchSamples: of, epochs: 2, seed: 3, tail, rank, worldSize }));
      const whole = await read(0, 1, batchSamples * ranks);
      const shares = await Promise.all(
        Array.from({ length: ranks }, (_, rank) => read(rank, ranks, batchSamples)),
      );
      // The ranks' shares, one after the other, are the global batch.
      const joined = whole.map((batch) => ({
        ...batch,
        rows: shares.flatMap(
          (seen) => seen.find((b) => b.epoch === batch.epoch && b.index === batch.index)?.rows ?? [],
        ),
      }));
      assert.equal(shape(joined), shape(whole));
      const steps = shares.map((seen) => seen.length);
      if (tail !== 'partial')
        assert.ok(
          steps.every((n) => n === steps[0]),
          `steps ${steps}`,
        );
      const pads = shares.flat().reduce((sum, batch) => sum + batch.pads, 0);
      const global = batchSamples * ranks;
      assert.is(pads, tail === 'pad' ? 2 * ((global - (samples % global)) % global) : 0);
      const first = whole.filter((batch) => batch.epoch === 0).flatMap((batch) => batch.rows);
      const once = tail === 'drop' ? Math.floor(samples / global) * global : samples;
      assert.is(new Set(first).size, once);
    });
  }
}

const empties: [name: string, sizes: number[]][] = [
  ['first', [0, 5, 9]],
  ['in the middle', [5, 0, 9]],
  ['last', [5, 9, 0]],
  ['all', [0, 0, 0]],
  ['beside one byte', [0, 1, 0, 1]],
];
for (const [name, sizes] of empties) {
  test(`empty samples: ${name}`, async () => {
    const fake = await openFake(manifestOf(sizes), { batchSamples: 2, tail: 'partial', shuffle: 'none' });
    const seen = await readAll(fake);
    assert.equal(
      seen.flatMap((batch) => batch.rows),
      sizes.map((_, row) => row),
    );
    assert.ok(fake.engine.requests.every((request) => request.length > 0));
    assert.is(
      fake.feed.stats().bytes,
      sizes.reduce((a, b) => a + b),
    );
  });
}

test('a sample above split.bytes arrives in parts, and whole', async () => {
  const manifest = manifestOf([100_000, 10, 65_536]);
  const fake = await openFake(manifest, {
    batchSamples: 3,
    shuffle: 'none',
    set: { 'split.bytes': '4KiB' },
    fate: jumbled(4),
  });
  await readAll(fake);
  assert.ok(fake.engine.requests.length >= 25 + 1 + 16);
  assert.ok(fake.engine.requests.every((request) => request.length <= 4096));
});

const FATES = [
  'server',
  'throttled',
  'reset',
  'stale',
  'timeout_first_byte',
  'timeout_idle',
  'short',
] as const;
const PROPERTY_SEED = 7;

test(`whatever fails and when: every row once, in order, within the budget (seed ${PROPERTY_SEED})`, async () => {
  const run = fc.record({
    sizes: fc.array(fc.integer({ min: 0, max: 9000 }), { minLength: 1, maxLength: 60 }),
    batchSamples: fc.integer({ min: 1, max: 9 }),
    shuffle: fc.constantFrom('none', 'sample', 'block'),
    tail: fc.constantFrom('drop', 'pad', 'partial'),
    policy: fc.constantFrom('sync', 'readahead', 'os2g'),
    memoryBytes: fc.integer({ min: 100_000, max: 300_000 }),
    seed: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    faultShare: fc.double({ min: 0, max: 0.4, noNaN: true }),
    salt: fc.integer({ min: 0, max: 1e6 }),
  });
  const property = fc.asyncProperty(run, async ({ sizes, faultShare, salt, memoryBytes, ...options }) => {
    const draw = (row: number, offset: number, attempt: number): number =>
      (((row * 31 + offset + attempt * 977 + salt) * 2654435761) >>> 0) / 2 ** 32;
    const fake = await openFake(manifestOf(sizes), {
      ...options,
      shuffle: options.shuffle as 'none',
      tail: options.tail as 'pad',
      memoryBytes,
      set: { 'split.bytes': '4KiB' },
      fate: ({ row, offset, attempt }) => {
        const x = draw(row, offset, attempt);
        const fails = attempt < 4 && x < faultShare ? FATES[Math.floor(x * 1e6) % FATES.length] : undefined;
        return { latencyNs: 1 + Math.floor(x * 300 * MS), ...(fails ? { fails } : {}) };
      },
    });
    const seen = await readAll(fake);
    const rows = seen.flatMap((batch) => batch.rows.slice(0, batch.rows.length - batch.pads));
    const whole =
      options.tail === 'drop'
        ? Math.floor(sizes.length / options.batchSamples) * options.batchSamples
        : sizes.length;
    assert.is(rows.length, whole);
    assert.is(new Set(rows).size, whole);
    assert.equal(
      seen.map((batch) => batch.index),
      seen.map((_, i) => i),
    );
    assert.ok(fake.feed.stats().memory_peak_bytes <= memoryBytes);
    assert.is(fake.time.pending, 0);
  });
  await fc.assert(property, { seed: PROPERTY_SEED, numRuns: 60 });
});

test.run();
