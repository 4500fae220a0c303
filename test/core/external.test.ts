import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { isKind, seededDraws } from '../kit/index.js';
import { fetchedRows, Hand, MS } from './hand.js';

const SEED = Number(process.env.OS2G_TEST_SEED ?? 20261129);
console.log(`seed ${SEED} (OS2G_TEST_SEED)`);

const told = (hand: Hand): string[] =>
  hand.seen.filter(isKind('deliver')).map((d) => `${d.consumer}:${d.epoch}/${d.batch}`);

const EXTERNAL = { samples: 100, batchSamples: 3, shuffle: 'external' as const };

test('external order: positions as they come, repeats too; batches close when full or told to', async () => {
  const hand = await Hand.start({ job: EXTERNAL });
  const ask = (row: number, flags = 0): void => hand.events.requested(hand.nowNs, 0, flags, row);
  for (const row of [7, 7, 99, 3]) ask(row);
  assert.equal(fetchedRows(hand.step()), [7, 7, 99]);
  hand.settle();
  assert.equal(told(hand), ['0:0/0'], 'the second batch is open');
  ask(5, layout.REQUESTED_CLOSES_BATCH);
  hand.step();
  hand.settle();
  ask(1);
  ask(0, layout.REQUESTED_ENDS);
  hand.step();
  hand.settle();
  assert.equal(
    hand.seen.filter(isKind('sample')).map((s) => [s.batch, s.row]),
    [
      [0, 7],
      [0, 7],
      [0, 99],
      [1, 3],
      [1, 5],
      [2, 1],
    ],
  );
  assert.ok(hand.ended);
  ask(2);
  hand.step();
  assert.is(hand.probe.core.error, layout.ERROR_EVENT, 'nothing follows the end');
});

test('external order: an end without a position, and rows that are none', async () => {
  const empty = await Hand.start({ job: EXTERNAL });
  empty.events.requested(0, 0, layout.REQUESTED_ENDS, 0);
  assert.equal(empty.step(), [{ kind: 'end', consumer: 0, batches: 0 }]);
  for (const row of [100, -1, Number.NaN, 2 ** 53]) {
    const hand = await Hand.start({ job: EXTERNAL });
    hand.events.requested(0, 0, 0, row);
    hand.step();
    assert.is(hand.probe.core.error, layout.ERROR_EVENT, `${row}`);
  }
});

test('external order: the look-ahead is bounded, and a delivery makes room', async () => {
  const hand = await Hand.start({ job: EXTERNAL, set: { 'external.lookahead': 6 } });
  const ask = (): void => hand.events.requested(hand.nowNs, 0, 0, 1);
  for (let i = 0; i < 6; i++) ask();
  hand.step();
  hand.settle();
  assert.is(hand.delivered.length, 2);
  for (let i = 0; i < 6; i++) ask();
  hand.step();
  assert.is(hand.probe.core.error, 0);
  ask();
  hand.step();
  assert.is(hand.probe.core.error, layout.ERROR_CAPACITY);
});

test('external order: random positions, closings, failures and ends of requests: as they were asked for', async () => {
  for (let run = 0; run < 30; run++) {
    const draw = seededDraws(SEED + run);
    const pick = (n: number): number => Math.floor(draw() * n);
    const batchSamples = 1 + pick(5);
    const lookahead = batchSamples + pick(40);
    const hand = await Hand.start({
      job: {
        samples: 50,
        batchSamples,
        shuffle: 'external',
        seed: run,
        staged: run % 2 === 0,
        memoryBytes: 2 ** 17,
      },
      set: { 'external.lookahead': lookahead, 'retry.base': '1ms', 'retry.attempts': 1000 },
    });
    const wanted: number[][] = [[]];
    let outstanding = 0;
    for (let asked = 0; asked < 200; ) {
      while (outstanding < lookahead && asked < 200 && draw() < 0.7) {
        const row = pick(50);
        const batch = wanted.at(-1)!;
        batch.push(row);
        const closes = draw() < 0.2;
        hand.events.requested(hand.nowNs, 0, closes ? layout.REQUESTED_CLOSES_BATCH : 0, row);
        if (closes || batch.length === batchSamples) wanted.push([]);
        outstanding++;
        asked++;
      }
      outstanding -= hand.step(hand.nowNs + MS).filter(isKind('sample')).length;
      for (const fetch of hand.open)
        if (draw() < 0.5) draw() < 0.2 ? hand.fail(fetch, 'reset') : hand.finish(fetch);
      for (const move of hand.moves) if (draw() < 0.5) hand.moved(move);
      for (const batch of [...hand.delivered]) if (draw() < 0.5) hand.consume(batch);
    }
    hand.events.requested(hand.nowNs, 0, layout.REQUESTED_ENDS, 0);
    while (!hand.ended) {
      for (const batch of [...hand.delivered]) hand.consume(batch);
      hand.run(hand.nowNs + 100 * MS);
      hand.settle();
    }
    const got: number[][] = [];
    for (const sample of hand.seen.filter(isKind('sample'))) {
      const batch = got[sample.batch] ?? [];
      batch.push(sample.row);
      got[sample.batch] = batch;
    }
    assert.equal(
      got,
      wanted.filter((b) => b.length > 0),
      `run ${run}`,
    );
    assert.is(hand.probe.core.error, 0);
  }
});

test.run();
