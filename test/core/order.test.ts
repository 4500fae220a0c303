import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Core } from '../../runtime-node/core.js';
import { type JobSpec, jobConfig } from '../../runtime-node/policy/job.js';
import { resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { seededDraws } from '../kit/index.js';
import { deviations, fisherYates, isBad, type Permutation, uniformityZ } from './permutations.js';

const SEED = Number(process.env.OS2G_TEST_SEED ?? 20261129);
console.log(`seed ${SEED} (OS2G_TEST_SEED)`);

const core = await Core.load();

/** The one core of this file, started anew with an order. */
function start(job: Partial<JobSpec> & { samples: number }, set: Record<string, number> = {}): void {
  core.init(jobConfig({ batchSamples: 1024, ...job }, resolvePolicy({ set })));
}

function permutation(n: number, epoch = 0): Float64Array {
  const p = new Float64Array(n);
  for (let i = 0; i < n; i++) p[i] = core.orderRow(epoch, i);
  return p;
}

const stamps = new Uint32Array(8192);
let stamp = 0;

function isPermutation(p: Permutation): boolean {
  stamp++;
  for (let i = 0; i < p.length; i++) {
    const row = p[i]!;
    if (!Number.isInteger(row) || row < 0 || row >= p.length || stamps[row] === stamp) return false;
    stamps[row] = stamp;
  }
  return true;
}

test('a permutation is a permutation for every N up to 4,096', () => {
  for (let n = 1; n <= 4096; n++) {
    start({ samples: n, seed: SEED + n });
    assert.ok(isPermutation(permutation(n, n % 5)), `${n}`);
  }
});

test('distinct positions give distinct rows inside the range, for random N up to 2^40', () => {
  const draw = seededDraws(SEED);
  for (let i = 0; i < 60; i++) {
    const n = Math.floor(2 ** (12 + 28 * draw())) + 1;
    start({ samples: n, seed: i });
    const positions = new Set([0, 1, n - 2, n - 1]);
    while (positions.size < 1000) positions.add(Math.floor(draw() * n));
    const rows = new Set([...positions].map((p) => core.orderRow(i, p)));
    assert.is(rows.size, positions.size, `${n}`);
    assert.ok(
      [...rows].every((r) => Number.isInteger(r) && r >= 0 && r < n),
      `${n}`,
    );
    assert.ok(Number.isNaN(core.orderRow(i, n)));
  }
});

test('no shuffle: the row is the position; an external order has none', () => {
  start({ samples: 100, shuffle: 'none' });
  assert.equal(
    [0, 1, 99].map((p) => core.orderRow(3, p)),
    [0, 1, 99],
  );
  start({ samples: 100, shuffle: 'external' });
  assert.ok(Number.isNaN(core.orderRow(0, 0)));
});

test('positions that are none: NaN', () => {
  start({ samples: 100 });
  for (const p of [-1, 100, 1e300, Number.NaN, Number.POSITIVE_INFINITY])
    assert.ok(Number.isNaN(core.orderRow(0, p)), `${p}`);
  for (const e of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32])
    assert.ok(Number.isNaN(core.orderRow(e, 0)), `epoch ${e}`);
});

// ---- blocks -------------------------------------------------------------------------------------

/** Which blocks each group of the order draws from, checked as they are found. */
function groupsOf(p: Float64Array, block: number, groupBlocks: number): Set<number>[] {
  const n = p.length;
  const blocks = Math.ceil(n / block);
  const missing = blocks * block - n;
  const groups: Set<number>[] = [];
  let at = 0;
  for (let slot = 0; slot < blocks; slot += groupBlocks) {
    const inGroup = Math.min(groupBlocks, blocks - slot);
    const short = new Set(p.slice(at, at + inGroup * block - missing).map((row) => Math.floor(row / block)));
    const length = inGroup * block - (short.has(blocks - 1) ? missing : 0);
    const group = new Set(p.slice(at, at + length).map((row) => Math.floor(row / block)));
    assert.is(group.size, inGroup, `N ${n}, block ${block}, group ${groups.length} of ${groupBlocks}`);
    groups.push(group);
    at += length;
  }
  assert.is(at, n);
  return groups;
}

test('block order: each row once, and a group mixes its own blocks only, for all small N x block x group', () => {
  for (let n = 1; n <= 40; n++) {
    for (let block = 1; block <= 9; block++) {
      for (let group = 1; group <= 5; group++) {
        start(
          { samples: n, shuffle: 'block', seed: n },
          { 'order.block_samples': block, 'order.group_blocks': group },
        );
        for (const epoch of [0, 1]) {
          const p = permutation(n, epoch);
          assert.ok(isPermutation(p), `N ${n}, block ${block}, group ${group}, epoch ${epoch}`);
          groupsOf(p, block, group);
        }
      }
    }
  }
});

test('block order: the short last block stands at every place, and every sample of a group anywhere in it', () => {
  const [n, block, group] = [38, 4, 3];
  start({ samples: n, shuffle: 'block' }, { 'order.block_samples': block, 'order.group_blocks': group });
  const short = Math.floor((n - 1) / block);
  const places = new Set<number>();
  const firsts = new Set<number>();
  for (let epoch = 0; epoch < 300; epoch++) {
    const groups = groupsOf(permutation(n, epoch), block, group);
    places.add(groups.findIndex((g) => g.has(short)));
    firsts.add(core.orderRow(epoch, 0));
  }
  assert.is(places.size, Math.ceil(Math.ceil(n / block) / group));
  assert.is(firsts.size, n);
});

test('block order of 2^40 rows: distinct rows inside the range, in O(1)', () => {
  const n = 2 ** 40 + 12_345;
  start({ samples: n, shuffle: 'block' }, { 'order.block_samples': 1000, 'order.group_blocks': 16 });
  const draw = seededDraws(SEED);
  const positions = new Set(Array.from({ length: 2000 }, () => Math.floor(draw() * n)));
  for (let p = 0; p < 2000; p++) positions.add(n - 1 - p);
  const rows = new Set([...positions].map((p) => core.orderRow(0, p)));
  assert.is(rows.size, positions.size);
  assert.ok([...rows].every((r) => r >= 0 && r < n));
});

test('the largest blocks and groups divide nothing by zero', () => {
  start(
    { samples: 1000, shuffle: 'block' },
    { 'order.block_samples': 2 ** 32 - 1, 'order.group_blocks': 2 ** 20 },
  );
  assert.ok(isPermutation(permutation(1000)));
});

// ---- seeds and epochs ---------------------------------------------------------------------------

test('every epoch and every seed has an order of its own', () => {
  const seen = new Map<string, string>();
  const seeds = [0, 1, 2, 2 ** 32, 2 ** 32 + 1, 2n ** 64n - 1n];
  for (const shuffle of ['sample', 'block'] as const) {
    for (const seed of seeds) {
      start({ samples: 200, seed, shuffle }, { 'order.block_samples': 16 });
      for (const epoch of [0, 1, 2, 1000, 2 ** 31 - 1]) {
        const name = `${shuffle}/${seed}/${epoch}`;
        const text = permutation(200, epoch).join();
        assert.is(seen.get(text), undefined, name);
        seen.set(text, name);
      }
    }
  }
  start({ samples: 200, seed: 1 });
  assert.is(seen.get(permutation(200, 2).join()), 'sample/1/2', 'the same again');
});

// ---- quality ------------------------------------------------------------------------------------

const SIZES = [64, 100, 1000, 4096, 10_007];
const SHUFFLES_OF_A_SIZE = 60;

for (const n of SIZES) {
  test(`quality for N = ${n}: as a Fisher-Yates shuffle`, () => {
    const permutations: Float64Array[] = [];
    for (let seed = 0; permutations.length < SHUFFLES_OF_A_SIZE; seed++) {
      start({ samples: n, seed });
      for (const epoch of [0, 1]) permutations.push(permutation(n, epoch));
    }
    const bad = deviations(permutations, SEED).filter(isBad);
    assert.equal(bad, []);
  });
}

test('the bounds hold for another Fisher-Yates shuffle, and bad mixers do not pass', () => {
  const n = 1000;
  const good = seededDraws(SEED + 1);
  const many = (make: (i: number) => Permutation): Permutation[] =>
    Array.from({ length: SHUFFLES_OF_A_SIZE }, (_, i) => make(i));
  const failures = (permutations: Permutation[]): string[] =>
    deviations(permutations, SEED)
      .filter(isBad)
      .map((d) => d.statistic);
  assert.equal(failures(many(() => fisherYates(n, good))), []);

  const draw = seededDraws(SEED + 2);
  const list = (image: (i: number) => number): Permutation =>
    Float64Array.from({ length: n }, (_, i) => image(i));
  const mixers: Record<string, (i: number) => Permutation> = {
    rotation: () => {
      const by = Math.floor(draw() * n);
      return list((i) => (i + by) % n);
    },
    'linear congruence': () => {
      const factor = [3, 7, 377, 621][Math.floor(draw() * 4)]!;
      const by = Math.floor(draw() * n);
      return list((i) => (i * factor + by) % n);
    },
    'blocks without mixing': () => {
      const blocks = fisherYates(n / 20, draw);
      return list((i) => blocks[Math.floor(i / 20)]! * 20 + (i % 20));
    },
    'a buffer of 50': () => {
      const buffer: number[] = [];
      const out: number[] = [];
      for (let i = 0; i < n; i++) {
        buffer.push(i);
        if (buffer.length > 50) out.push(buffer.splice(Math.floor(draw() * 50), 1)[0]!);
      }
      return [...out, ...buffer];
    },
    'one swap for each': () => {
      const p = Float64Array.from({ length: n }, (_, i) => i);
      for (let i = 0; i < n; i += 2) {
        const j = Math.floor(draw() * n);
        [p[i], p[j]] = [p[j]!, p[i]!];
      }
      return p;
    },
  };
  for (const [name, mixer] of Object.entries(mixers)) assert.ok(failures(many(mixer)).length > 0, name);
});

test('every permutation of a few samples is as likely as any other, over epochs', () => {
  for (const [n, permutations] of [
    [2, 2],
    [3, 6],
    [4, 24],
    [5, 120],
    [6, 720],
  ] as const) {
    start({ samples: n, seed: SEED });
    const counts = new Map<string, number>();
    for (let epoch = 0; epoch < permutations * 200; epoch++) {
      const name = permutation(n, epoch).join();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    assert.is(counts.size, permutations, `N ${n}`);
    const z = uniformityZ([...counts.values()]);
    assert.ok(z < 4.5, `N ${n}: z ${z.toFixed(1)}`);
  }
});

test('every row is as likely at every position, over epochs', () => {
  for (const n of [7, 10, 33]) {
    start({ samples: n, seed: SEED + 3 });
    const cells = new Array<number>(n * n).fill(0);
    for (let epoch = 0; epoch < 200 * n; epoch++) {
      for (let i = 0; i < n; i++) cells[i * n + core.orderRow(epoch, i)]! += 1;
    }
    const z = uniformityZ(cells);
    assert.ok(z < 4.5, `N ${n}: z ${z.toFixed(1)}`);
  }
});

test.run();
