import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isKind, type SamplePlace } from '../kit/index.js';
import { Hand } from './hand.js';

type Sample = [object: number, offset: number, length: number];
/** `object:offset+length` of a FETCH, in the order of sending. */
type Ranges = string[];

interface Case {
  what: string;
  samples: Sample[];
  set?: Record<string, string | number>;
  ranges: Ranges;
  /** Where the samples land, from the start of the batch. */
  targets: number[];
}

const MERGE = { 'merge.gap': '10B', 'merge.bytes': '1000B', 'layout.align': '1B' };

const CASES: Case[] = [
  {
    what: 'objects of their own: a range each, aligned',
    samples: [
      [0, 0, 100],
      [1, 0, 50],
      [2, 0, 1],
    ],
    set: { 'layout.align': '64B' },
    ranges: ['0:0+100', '1:0+50', '2:0+1'],
    targets: [0, 128, 192],
  },
  {
    what: 'alignment 1: no gaps',
    samples: [
      [0, 0, 100],
      [1, 0, 50],
      [2, 0, 1],
    ],
    set: { 'layout.align': '1B' },
    ranges: ['0:0+100', '1:0+50', '2:0+1'],
    targets: [0, 100, 150],
  },
  {
    what: 'neighbours in one object: one range',
    samples: [
      [0, 0, 100],
      [0, 100, 50],
    ],
    set: MERGE,
    ranges: ['0:0+150'],
    targets: [0, 100],
  },
  {
    what: 'in any order of samples: lies as in the object',
    samples: [
      [0, 100, 50],
      [1, 0, 7],
      [0, 0, 100],
    ],
    set: MERGE,
    ranges: ['0:0+150', '1:0+7'],
    targets: [100, 150, 0],
  },
  {
    what: 'a gap up to merge.gap is read with them',
    samples: [
      [0, 0, 100],
      [0, 110, 50],
    ],
    set: MERGE,
    ranges: ['0:0+160'],
    targets: [0, 110],
  },
  {
    what: 'a larger gap is not',
    samples: [
      [0, 0, 100],
      [0, 111, 50],
    ],
    set: MERGE,
    ranges: ['0:0+100', '0:111+50'],
    targets: [0, 100],
  },
  {
    what: 'never longer than merge.bytes',
    samples: [
      [0, 0, 600],
      [0, 600, 400],
      [0, 1000, 1],
    ],
    set: MERGE,
    ranges: ['0:0+1000', '0:1000+1'],
    targets: [0, 600, 1000],
  },
  {
    what: 'merging off',
    samples: [
      [0, 0, 100],
      [0, 100, 50],
    ],
    set: { ...MERGE, 'merge.bytes': '0B' },
    ranges: ['0:0+100', '0:100+50'],
    targets: [0, 100],
  },
  {
    what: 'overlapping and equal ranges stay apart',
    samples: [
      [0, 0, 100],
      [0, 50, 100],
      [0, 50, 100],
    ],
    set: MERGE,
    ranges: ['0:0+100', '0:50+100', '0:50+100'],
    targets: [0, 100, 200],
  },
  {
    what: 'the same offset in two objects',
    samples: [
      [0, 0, 10],
      [1, 10, 10],
    ],
    set: MERGE,
    ranges: ['0:0+10', '1:10+10'],
    targets: [0, 10],
  },
  {
    what: 'empty samples first, in the middle, last: nothing is asked for them',
    samples: [
      [0, 0, 0],
      [1, 0, 10],
      [2, 5, 0],
      [3, 0, 10],
      [3, 10, 0],
    ],
    set: MERGE,
    ranges: ['1:0+10', '3:0+10'],
    targets: [0, 0, 10, 10, 20],
  },
  {
    what: 'nothing but empty samples',
    samples: [
      [0, 0, 0],
      [1, 0, 0],
    ],
    ranges: [],
    targets: [0, 0],
  },
  {
    what: 'a long sample goes in parts, the last one short',
    samples: [[0, 7, 10_000]],
    set: { 'split.bytes': '4KiB' },
    ranges: ['0:7+4096', '0:4103+4096', '0:8199+1808'],
    targets: [0],
  },
  {
    what: 'a merged range is split where it is long, not where samples end',
    samples: [
      [0, 0, 3000],
      [0, 3000, 3000],
    ],
    set: { 'merge.gap': '0B', 'merge.bytes': '1MiB', 'split.bytes': '4KiB', 'layout.align': '1B' },
    ranges: ['0:0+4096', '0:4096+1904'],
    targets: [0, 3000],
  },
  {
    what: 'exactly split.bytes is one part',
    samples: [
      [0, 0, 4096],
      [1, 0, 4097],
    ],
    set: { 'split.bytes': '4KiB', 'layout.align': '1B' },
    ranges: ['0:0+4096', '1:0+4096', '1:4096+1'],
    targets: [0, 4096],
  },
];

for (const { what, samples, set = {}, ranges, targets } of CASES) {
  test(what, async () => {
    const place = (row: number): SamplePlace => {
      const [object, offset, length] = samples[row]!;
      return { object, offset, length };
    };
    const hand = await Hand.start(
      {
        job: { samples: samples.length, batchSamples: samples.length, shuffle: 'none', memoryBytes: 2 ** 17 },
        set,
      },
      place,
    );
    hand.step();
    const asked = hand.open.map((f) => `${place(f.row).object}:${f.offset}+${f.length}`);
    assert.equal(asked, ranges);
    hand.settle();
    const told = hand.seen.filter(isKind('sample'));
    const start = hand.delivered[0]!.offset;
    assert.equal(
      told.map((s) => s.target - start),
      targets,
    );
    assert.equal(
      told.map((s) => [place(s.row).object, s.offset, s.length]),
      samples,
    );
    assert.is(
      hand.delivered[0]!.bytes,
      samples.reduce((sum, s) => sum + s[2], 0),
    );
    // Every byte of every sample is in exactly one range, at its place.
    for (const { row, offset, length, target } of told) {
      for (let i = 0; i < length; i++) {
        const covers = hand.seen
          .filter(isKind('fetch'))
          .filter((f) => f.target <= target + i && target + i < f.target + f.length);
        assert.is(covers.length, 1);
        const [fetch] = covers;
        assert.is(place(fetch!.row).object, place(row).object);
        assert.is(fetch!.offset + (target + i - fetch!.target), offset + i);
      }
    }
  });
}

test('every range begins at a multiple of layout.align, in every batch', async () => {
  for (const align of [1, 64, 512, 4096]) {
    const hand = await Hand.start(
      {
        job: { samples: 30, batchSamples: 3, shuffle: 'none', memoryBytes: 2 ** 17 },
        set: { 'layout.align': `${align}B` },
      },
      (row) => ({ object: row, offset: 0, length: 100 + row }),
    );
    for (let i = 0; i < 12; i++) {
      hand.step();
      hand.settle();
      for (const batch of [...hand.delivered]) hand.consume(batch);
    }
    const targets = hand.seen.filter(isKind('fetch')).filter((f) => !f.staged);
    assert.is(targets.length, 30);
    assert.ok(targets.every((f) => f.target % align === 0));
  }
});

test('batches lie one behind the other in landing memory, and it is used again in turn', async () => {
  const hand = await Hand.start(
    { job: { samples: 40, batchSamples: 4, shuffle: 'none', memoryBytes: 4096 }, preset: 'readahead' },
    (row) => ({ object: row, offset: 0, length: 200 }),
  );
  const taken: [number, number][] = [];
  while (!hand.ended) {
    hand.settle();
    for (const batch of hand.delivered) {
      const end = batch.offset + batch.length;
      assert.is(batch.offset % 64, 0);
      assert.ok(end <= hand.probe.core.landingBytes);
      taken.push([batch.offset, end]);
    }
    for (const [i, [from, to]] of taken.slice(-hand.delivered.length).entries()) {
      for (const [j, [a, b]] of taken.slice(-hand.delivered.length).entries()) {
        assert.ok(i === j || to <= a || b <= from, 'two batches that are held share no byte');
      }
    }
    hand.consume(hand.delivered[0]!);
    hand.step();
  }
  assert.ok(new Set(taken.map(([from]) => from)).size < 10);
});

test.run();
