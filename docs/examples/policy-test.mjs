// A test of a policy in virtual time, without network or clock: node docs/examples/policy-test.mjs
import { isKind, probeCore, runWorld } from 'os2g/testing';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** A store that answers after 10 ms, and 1 of 200 times after half a second; a GPU that takes 20 ms for a batch. */
const world = {
  seed: 7,
  sampleBytes: 1000,
  firstByteNs: (_request, draw) => (draw() < 0.005 ? 500e6 : 10e6),
  stepNs: 20e6,
};
const job = { samples: 4096, batchSamples: 64, seed: 1, memoryBytes: 400_000 };

test('hedged requests take most of the slow tail away', async () => {
  const stalledNs = {};
  for (const share of [0, 0.05]) {
    const probe = await probeCore({ job, preset: 'os2g', set: { 'hedge.share': share } });
    const report = runWorld(probe, world);
    assert.is(report.batches.length, 64);
    stalledNs[share] = report.stalledNs;
  }
  assert.ok(stalledNs[0.05] < stalledNs[0] / 10, JSON.stringify(stalledNs));
});

test('step by step: sync asks for one sample at a time', async () => {
  const probe = await probeCore({ job: { samples: 4, batchSamples: 2 }, preset: 'sync' });
  const place = (row) => ({ object: row, offset: 0, length: 1000 });
  const fetches = probe.stepResolving(0, place).filter(isKind('fetch'));
  assert.is(fetches.length, 1);
  const [{ id, attempt, length }] = fetches;
  probe.core.events.fetched(5e6, id, attempt, length);
  assert.is(probe.stepResolving(5e6, place).filter(isKind('fetch')).length, 1);
});

test.run();
