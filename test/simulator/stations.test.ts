import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { codeOf, KIND_BODIES } from '../../simulator/engine/codes.js';
import { EventQueue } from '../../simulator/engine/event-queue.js';
import { SLOT_DEAD, Slots } from '../../simulator/engine/slots.js';
import { Bodies, type BodyRates } from '../../simulator/stations/bodies.js';
import { Cores } from '../../simulator/stations/cores.js';
import { Links } from '../../simulator/stations/links.js';
import { MemoryBus } from '../../simulator/stations/memory-bus.js';
import { TokenBucket } from '../../simulator/stations/token-bucket.js';

test('1,000 events at one instant come in the order in which they were pushed, from heap and lane', () => {
  const queue = new EventQueue();
  for (let i = 0; i < 1000; i++) {
    if (i % 3 === 0) queue.pushOrdered(5, i);
    else queue.push(5, i);
  }
  for (let i = 0; i < 1000; i++) assert.is(queue.next(), i);
  assert.is(queue.next(), -1);
  assert.is(queue.nowNs, 5);
});

test('the queue sorts by (time, order of pushing), whatever is pushed when', () => {
  const pushes = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 20 }), fc.boolean(), fc.integer({ min: 0, max: 2 })),
    { maxLength: 3000 },
  );
  fc.assert(
    fc.property(pushes, (list) => {
      const queue = new EventQueue();
      const waiting: { at: number; code: number }[] = [];
      const popOne = (): void => {
        const code = queue.next();
        if (code < 0) return;
        const first = waiting.reduce((a, b) => (b.at < a.at ? b : a));
        assert.equal([first.code, first.at], [code, queue.nowNs]);
        waiting.splice(waiting.indexOf(first), 1);
      };
      list.forEach(([after, ordered, pops], code) => {
        const at = queue.nowNs + after;
        waiting.push({ at, code });
        if (ordered) queue.pushOrdered(at, code);
        else queue.push(at, code);
        for (let i = 0; i < pops; i++) popOne();
      });
      while (waiting.length > 0) {
        assert.is(queue.nextNs, Math.min(...waiting.map((w) => w.at)));
        popOne();
      }
      assert.is(queue.length, 0);
    }),
    { numRuns: 100 },
  );
});

test('a slot is used again only when the last event that names it has come', () => {
  const slots = new Slots();
  const first = slots.take(0, 0, 1, 1, 10);
  slots.name(first);
  slots.name(first);
  slots.release(first);
  assert.is.not(slots.take(0, 0, 2, 1, 10), first);
  assert.is(slots.unname(first), false);
  assert.is(slots.state[first], SLOT_DEAD);
  assert.is(slots.unname(first), false);
  assert.is(slots.take(0, 0, 3, 1, 10), first);
});

test('cores: first come, first served, on the core that is free first', () => {
  const cores = new Cores(2);
  assert.equal([cores.submit(0, 10), cores.submit(0, 4), cores.submit(0, 4)], [10, 4, 8]);
  assert.equal(
    [0, 7, 9].map((nowNs) => cores.busyAt(nowNs)),
    [0, 14, 17],
  );
  assert.is(cores.submit(20, 1), 21);
  assert.is(cores.busyAt(30), 19);
});

test('cores: how long all of them were taken is the time with no free one, whatever comes when', () => {
  const jobs = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 30 })), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(jobs, fc.integer({ min: 1, max: 4 }), (list, count) => {
      const cores = new Cores(count);
      const spans: [number, number][] = [];
      let nowNs = 0;
      for (const [afterNs, durationNs] of list) {
        nowNs += afterNs;
        const endNs = cores.submit(nowNs, durationNs);
        spans.push([endNs - durationNs, endNs]);
        let takenNs = 0;
        for (let ns = 0; ns < nowNs + 50; ns++) {
          if (ns >= nowNs) assert.is(cores.takenAt(ns), takenNs);
          if (spans.filter(([from, to]) => from <= ns && ns < to).length === count) takenNs++;
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('links: one transfer after the other, each link for itself', () => {
  const links = new Links(2, 2);
  assert.equal(
    [links.transfer(0, 0, 10), links.transfer(1, 0, 10), links.transfer(1, 1, 10), links.transfer(50, 0, 3)],
    [5, 10, 6, 52],
  );
});

test('copies: one at a time, each takes a core for bytes over bandwidth, and waits for a core', () => {
  const queue = new EventQueue();
  const cores = new Cores(2);
  const bus = new MemoryBus(queue, cores, 1, 99);
  const ends: [number, number][] = [];
  for (let i = 0; i < 100; i++) bus.copy(10, i);
  for (let code = queue.next(); code >= 0; code = queue.next()) ends.push([queue.nowNs, bus.finish()]);
  assert.equal(
    ends,
    Array.from({ length: 100 }, (_, i) => [10 * (i + 1), i]),
  );
  assert.equal([cores.busyAt(queue.nowNs), bus.copiedBytes], [1000, 1000]);
});

test('the bucket: full at the start, 0.1 s deep, refusals are free, a factor changes its rate and depth', () => {
  const bucket = new TokenBucket(100);
  const burst = Array.from({ length: 12 }, () => bucket.take(0));
  assert.is(burst.filter(Boolean).length, 10);
  assert.is(bucket.nextNs(0), 10e6);
  assert.is(bucket.take(10e6), true);
  assert.is(bucket.take(10e6), false);
  bucket.setFactor(10e6, 0.1);
  assert.is(bucket.nextNs(10e6), 110e6);
  bucket.setFactor(10e9, 1);
  assert.is(Array.from({ length: 12 }, () => bucket.take(20e9)).filter(Boolean).length, 10);
  assert.is(new TokenBucket(Number.POSITIVE_INFINITY).take(0), true);
});

/** Progressive filling, step by step: what `Bodies` must equal. */
function maxMin(moving: number[], { connection, link, store }: BodyRates): number[] {
  const rates = moving.map(() => 0);
  const open = new Set(moving.map((_, node) => node).filter((node) => moving[node]! > 0));
  let left = store;
  while (open.size > 0) {
    const bodies = [...open].reduce((sum, node) => sum + moving[node]!, 0);
    const level = left / bodies;
    const least = [...open].reduce((a, b) => (need(b) < need(a) ? b : a));
    if (need(least) >= level) {
      for (const node of open) rates[node] = level;
      return rates;
    }
    rates[least] = need(least);
    left -= need(least) * moving[least]!;
    open.delete(least);
  }
  return rates;

  function need(node: number): number {
    return Math.min(connection, link / moving[node]!);
  }
}

const rate = fc.integer({ min: 1, max: 50 });
const rates = fc.record({
  connection: rate,
  link: fc.integer({ min: 1, max: 200 }),
  store: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 400 })),
});
const bodies = fc.array(
  fc.record({
    node: fc.integer({ min: 0, max: 3 }),
    atNs: fc.integer({ min: 0, max: 300 }),
    bytes: fc.integer({ min: 1, max: 5000 }),
  }),
  { minLength: 1, maxLength: 30 },
);

test('bodies move max-min fair: as progressive filling, event by event', () => {
  fc.assert(
    fc.property(rates, bodies, fc.integer({ min: 1, max: 4 }), (limits, list, nodes) => {
      const starts = list
        .map((body) => ({ ...body, node: body.node % nodes }))
        .sort((a, b) => a.atNs - b.atNs);
      const got = endsOf(starts, limits, nodes);
      const expected = fluidEnds(starts, limits, nodes);
      expected.forEach((at, i) => {
        assert.ok(Math.abs(got[i]! - at) <= 2 + list.length, `body ${i} ended at ${got[i]}, expected ${at}`);
      });
    }),
    { numRuns: 300 },
  );
});

type Start = { node: number; atNs: number; bytes: number };

function endsOf(starts: Start[], limits: BodyRates, nodes: number): number[] {
  const queue = new EventQueue();
  const station = new Bodies(queue, nodes, limits, codeOf(KIND_BODIES, 0));
  const ends = starts.map(() => Number.NaN);
  starts.forEach((start, slot) => {
    queue.push(start.atNs, slot);
  });
  const takeFrom = (node: number): void => {
    for (
      let slot = station.takeWhole(node, () => false);
      slot >= 0;
      slot = station.takeWhole(node, () => false)
    )
      ends[slot] = queue.nowNs;
    station.rearm(node);
  };
  for (let code = queue.next(); code >= 0; code = queue.next()) {
    if (code < starts.length) station.begin(starts[code]!.node, code, starts[code]!.bytes);
    else if (station.fired(code - codeOf(KIND_BODIES, 0))) {
      for (let node = 0; node < nodes; node++) if (station.isDue(node)) takeFrom(node);
      if (station.sharesStore) station.rearm(0);
    }
  }
  return ends;
}

/** The fluid model with real times: rates hold until the next start or end. */
function fluidEnds(starts: Start[], limits: BodyRates, nodes: number): number[] {
  const left = starts.map((start) => start.bytes);
  const ends = starts.map(() => Number.NaN);
  let now = 0;
  while (ends.some(Number.isNaN)) {
    const moving = Array.from(
      { length: nodes },
      (_, node) => starts.filter((s, i) => s.node === node && s.atNs <= now && left[i]! > 0).length,
    );
    const speed = maxMin(moving, limits);
    const isMoving = (i: number): boolean => starts[i]!.atNs <= now && left[i]! > 0;
    let next = Number.POSITIVE_INFINITY;
    starts.forEach((s, i) => {
      if (s.atNs > now) next = Math.min(next, s.atNs);
      else if (isMoving(i)) next = Math.min(next, now + left[i]! / speed[s.node]!);
    });
    starts.forEach((s, i) => {
      if (!isMoving(i)) return;
      left[i] = left[i]! - (next - now) * speed[s.node]!;
      if (left[i]! > 1e-9) return;
      left[i] = 0;
      ends[i] = next;
    });
    now = next;
  }
  return ends;
}

test.run();
