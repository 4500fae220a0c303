import { constants } from 'node:buffer';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { chooseLanding } from '../../runtime-node/landing/choose.js';
import type { PlaceSink } from '../../runtime-node/landing/landing.js';
import { createMemoryLanding } from '../../runtime-node/landing/memory.js';

test('a region for each consumer, and one for staging, all zero and apart', () => {
  const landing = createMemoryLanding({ consumers: 3, landingBytes: 128, stagingBytes: 64 });
  const regions = [0, 1, 2].map((consumer) => landing.landing(consumer));
  for (const region of [...regions, landing.staging()]) assert.ok(region.every((byte) => byte === 0));
  regions[1]?.fill(7);
  assert.ok(regions[0]?.every((byte) => byte === 0) && regions[2]?.every((byte) => byte === 0));
  assert.equal(
    regions.map((region) => region.length),
    [128, 128, 128],
  );
  assert.is(landing.staging().length, 64);
  assert.throws(() => landing.landing(3), RangeError);
});

test('place copies from staging, and says so once', () => {
  const landing = createMemoryLanding({ consumers: 2, landingBytes: 32, stagingBytes: 32 });
  landing.staging().set([1, 2, 3, 4], 8);
  const ends: string[] = [];
  const sink: PlaceSink = {
    placed: (id, attempt) => ends.push(`placed ${id}/${attempt}`),
    placeFailed: (id) => ends.push(`failed ${id}`),
  };
  assert.ok(landing.place(7, 2, 1, 8, 20, 4), 'ended at once');
  assert.equal([landing.drain(sink, 0), landing.drain(sink, 9), landing.drain(sink, 9)], [0, 1, 0]);
  assert.equal(ends, ['placed 7/2']);
  assert.equal([...landing.landing(1).subarray(19, 25)], [0, 1, 2, 3, 4, 0]);
});

test('more than one buffer can hold is refused with the option', () => {
  const sizes = { consumers: 1, landingBytes: constants.MAX_LENGTH + 1, stagingBytes: 0 };
  assert.throws(
    () => createMemoryLanding(sizes),
    (error: { code: string; context: { option: string } }) =>
      error.code === 'memory_too_large' && error.context.option === 'memoryBytes',
  );
});

test('what is had says what it is', () => {
  for (const direct of ['auto', 'off'] as const) {
    const choice = chooseLanding('auto', direct);
    assert.equal([choice.backend, choice.mode, choice.direct], ['memory', direct, false]);
  }
});

test.run();
