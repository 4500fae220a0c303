import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as layout from '../../assembly/layout.js';
import { probeCore, runWorld, type World } from '../kit/index.js';

const MS = 1e6;
const S = 1e9;
/** All waits of one part with the default settings, at most: 0.1 + 0.2 + ... + 6.4 + 8 + 8 s. */
const WAITS_OF_ONE_PART_NS = 28.7 * S;

const gone = (fromNs: number, toNs = Number.POSITIVE_INFINITY): World => ({
  seed: 5,
  sampleBytes: 2000,
  firstByteNs: () => 10 * MS,
  fault: ({ nowNs }) => (nowNs >= fromNs && nowNs < toNs ? { class: 'connect', afterNs: 1 * MS } : null),
  stepNs: 5 * MS,
});

for (const samples of [1, 1000, 20_000]) {
  test(`a store that is gone from the start ends the run within the waits of one part: ${samples} samples`, async () => {
    const probe = await probeCore({ job: { samples, batchSamples: Math.min(samples, 250) } });
    const report = runWorld(probe, gone(0));
    assert.is(report.failed?.code, layout.ERROR_FETCH);
    assert.is(report.failed?.class, layout.CLASS_CONNECT);
    assert.ok(report.endNs <= WAITS_OF_ONE_PART_NS + 1 * S, `${report.endNs / S} s`);
  });
}

test('a store that goes away in mid-epoch ends the run likewise, with every batch before it delivered', async () => {
  const probe = await probeCore({ job: { samples: 20_000, batchSamples: 250 } });
  const report = runWorld(probe, gone(0.2 * S));
  assert.is(report.failed?.class, layout.CLASS_CONNECT);
  assert.ok(report.endNs <= 0.2 * S + WAITS_OF_ONE_PART_NS + 2 * S, `${report.endNs / S} s`);
  assert.ok(report.batches.length > 0);
});

for (const outageS of [1, 5, 10]) {
  test(`after ${outageS} s of outage the epoch goes on within two seconds`, async () => {
    const probe = await probeCore({ job: { samples: 20_000, batchSamples: 250 } });
    const report = runWorld(probe, gone(0.2 * S, (0.2 + outageS) * S));
    assert.is(report.failed, null);
    assert.ok(report.ended);
    const next = report.batches.find((b) => b.atNs >= (0.2 + outageS) * S);
    assert.ok(next !== undefined && next.atNs <= (2.2 + outageS) * S, `${(next?.atNs ?? 0) / S} s`);
  });
}

test.run();
