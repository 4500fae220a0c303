// What is said of batches' sizes before the first request, against the batches that then come.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type BatchLayout, batchSizes, chanceAbove } from '../../runtime-node/feed/batch-sizes.js';
import { type FakeOptions, manifestOf, openFake, readAll, rejects } from './kit.js';

const REGION_BYTES = 64;
const LAYOUT: BatchLayout = {
  ...{ shuffle: 'sample', tail: 'drop', batchSamples: 2, rank: 0, worldSize: 1 },
  ...{ alignBytes: 64, gapBytes: 0 },
};

const bounds: [
  name: string,
  sizes: number[],
  layout: Partial<BatchLayout>,
  largest: number,
  smallest: number,
][] = [
  ['the two longest and the two shortest', [1, 2, 300, 4, 100], {}, 320 + 128, 3],
  ['as many as there are', [1, 2, 3], { batchSamples: 8, tail: 'partial' }, 192, 6],
  ['pads repeat the data set', [1, 100, 3], { batchSamples: 7, tail: 'pad' }, 256 * 2 + 128, 208 + 1],
  ['in order: the batches that there are', [300, 1, 1, 300, 300], { shuffle: 'none' }, 384, 2],
  ['in order, with a tail', [1, 1, 1, 1, 900], { shuffle: 'none', tail: 'partial' }, 960, 2],
  ['in order, padded', [1, 1, 1, 1, 900], { shuffle: 'none', tail: 'pad' }, 1024, 2],
  ['in order, the second rank', [900, 900, 1, 1], { shuffle: 'none', rank: 1, worldSize: 2 }, 128, 2],
  ['without alignment', [1, 2, 300, 4, 100], { alignBytes: 1 }, 400, 3],
];
for (const [name, sizes, layout, largest, smallest] of bounds) {
  test(`bounds: ${name}`, () => {
    const found = batchSizes(manifestOf(sizes), { ...LAYOUT, ...layout });
    assert.equal([found.largestBytes, found.smallestBytes], [largest, smallest]);
  });
}

test('no batch of any order is outside the bounds', async () => {
  const sizes = Array.from({ length: 50 }, (_, row) => 1 + ((row * 7919) % 997));
  const manifest = manifestOf(sizes);
  for (const shuffle of ['none', 'sample', 'block'] as const) {
    for (const tail of ['drop', 'pad', 'partial'] as const) {
      for (const rank of [0, 1]) {
        const layout = { ...LAYOUT, shuffle, tail, batchSamples: 7, rank, worldSize: 2 };
        const { largestBytes, smallestBytes } = batchSizes(manifest, layout);
        const fake = await openFake(manifest, { ...layoutOptions(layout), epochs: 3 });
        const landed = await landedBytes(fake);
        const [most, least] = [Math.max(...landed), Math.min(...landed)];
        const at = `${shuffle} ${tail} rank ${rank}: ${least}..${most}`;
        assert.ok(most - REGION_BYTES < largestBytes, `${at} above ${largestBytes}`);
        if (tail !== 'partial') assert.ok(least >= smallestBytes, `${at} below ${smallestBytes}`);
        if (shuffle === 'none' && tail !== 'partial') assert.is(most, largestBytes, at);
      }
    }
  }
});

function layoutOptions({ shuffle, tail, batchSamples, rank, worldSize }: BatchLayout): FakeOptions {
  return { shuffle, tail, batchSamples, rank, worldSize, set: { 'order.block_samples': 5 } };
}

async function landedBytes({ feed, time }: Awaited<ReturnType<typeof openFake>>): Promise<number[]> {
  const landed: number[] = [];
  const read = async (): Promise<void> => {
    for (let batch = await feed.next(); batch; batch = await feed.next()) landed.push(batch.landing.length);
  };
  await time.run(read());
  return landed;
}

test('the chance of a batch above a limit: a bound that falls with the limit, and 1 where the mean is above it', () => {
  const sizes = batchSizes(manifestOf(Array.from({ length: 1000 }, (_, row) => row * 64)), {
    ...LAYOUT,
    batchSamples: 100,
  });
  const mean = 100 * sizes.meanBytes;
  const chances = [0.9, 1.1, 1.2, 1.5].map((share) => chanceAbove(sizes, 100, 10, mean * share));
  assert.is(chances[0], 1);
  assert.equal(
    [...chances].sort((a, b) => b - a),
    chances,
  );
  assert.ok(chances[3]! < 1e-6, String(chances));
});

const KIB = 1024;
const said: [name: string, sizes: number[], options: FakeOptions, warning: RegExp | null][] = [
  ['all fit', Array(8).fill(KIB), { memoryBytes: 16 * KIB }, null],
  [
    'the longest do not fit together',
    [...Array(6).fill(KIB), 6 * KIB, 6 * KIB],
    { memoryBytes: 8 * KIB },
    /2 samples take up to 12 KiB, landing memory is 7680 B \(0\.9375 of the memory budget of 8 KiB\); a memory budget of 13KiB is safe/,
  ],
  [
    'in order they do not meet',
    [6 * KIB, KIB, KIB, 6 * KIB],
    { memoryBytes: 8 * KIB, shuffle: 'none' },
    null,
  ],
  [
    'in order they meet',
    [KIB, KIB, 6 * KIB, 6 * KIB],
    { memoryBytes: 8 * KIB, shuffle: 'none' },
    /up to 12 KiB/,
  ],
  [
    'the chance is nil',
    [...Array(100_000).fill(64), KIB, KIB, KIB],
    { memoryBytes: 64 * KIB, batchSamples: 256, tail: 'drop' },
    null,
  ],
];
for (const [name, sizes, options, warning] of said) {
  test(`at the start: ${name}`, async () => {
    const lines: string[] = [];
    const take = (_: object, text: string): void => void lines.push(text);
    const logger = { debug() {}, info() {}, warn: take };
    const { feed } = await openFake(manifestOf(sizes), { batchSamples: 2, ...options, logger });
    await feed.close();
    if (warning === null) assert.equal(lines, []);
    else assert.match(lines.join('\n'), warning);
  });
}

test('the budget that is called safe is', async () => {
  const manifest = manifestOf([5000, 6000, 7000, 7000]);
  const safe = { batchSamples: 4, memoryBytes: 27 * KIB };
  const error = await rejects(openFake(manifest, { ...safe, memoryBytes: 10 * KIB }), 'batches_too_large');
  assert.match(String(error.mend), /raise memoryBytes to 27648, or lower batchSamples/);
  assert.is(error.exitCode, 2);
  assert.is((await readAll(await openFake(manifest, safe))).length, 1);
});

test('no batch fits: refused only where a full one is ahead', async () => {
  const manifest = manifestOf(Array(5).fill(3000));
  const options = { batchSamples: 4, memoryBytes: 10 * KIB, tail: 'partial' } as const;
  await rejects(openFake(manifest, options), 'batches_too_large');
  const partial = await openFake(manifestOf([3000, 3000, 3000]), options);
  assert.is((await readAll(partial)).length, 1);
});

test.run();
