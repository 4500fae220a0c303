import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CoreBuild } from '../../runtime-node/core.js';
import { probeCore, runWorld, type World } from '../kit/index.js';
import { MS } from './hand.js';

const WORLD: World = {
  seed: 5,
  firstByteNs: (_, draw) => 20 * MS * (0.6 + draw()) * (draw() < 0.03 ? 10 : 1),
  bytesPerS: 50e6,
  fault: (_, draw) => (draw() < 0.05 ? { class: 'reset', afterNs: 3 * MS } : null),
  requestsPerS: () => 2000,
  placeNs: MS,
  stepNs: 5 * MS,
  limits: [{ atNs: 100 * MS, bytes: 150_000 }],
};

test('every build does the same, to the last bit: one run hash', async () => {
  for (const staged of [false, true]) {
    for (const shuffle of ['sample', 'block'] as const) {
      const hashes = new Set<string>();
      for (const build of ['release', 'debug', 'wasi'] satisfies CoreBuild[]) {
        const probe = await probeCore({
          build,
          job: {
            samples: 600,
            batchSamples: 8,
            worldSize: 2,
            consumers: 2,
            shuffle,
            staged,
            memoryBytes: 200_000,
          },
          set: { 'order.block_samples': 50, 'hedge.share': 0.1 },
        });
        const report = runWorld(probe, WORLD);
        assert.ok(report.ended);
        hashes.add(report.runHash);
      }
      assert.is(hashes.size, 1, `${shuffle}, staged ${staged}: ${[...hashes]}`);
    }
  }
});

test.run();
