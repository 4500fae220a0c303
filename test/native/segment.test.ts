import { readFileSync, readlinkSync, writeSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PlaceSink } from '../../runtime-node/landing/landing.js';
import { createShmLanding } from '../../runtime-node/landing/shm.js';
import { nativeModule } from './module.js';

const native = nativeModule();

test('a segment: zeroed, of its size, the same memory for all who hold its descriptor', () => {
  const segment = new native.SharedSegment(100_000);
  const memory = segment.memory();
  assert.is(memory.length, 100_000);
  assert.ok(memory.every((byte) => byte === 0));
  assert.match(readlinkSync(`/proc/self/fd/${segment.fd()}`), /memfd:os2g/);
  memory.set([1, 2, 3], 50_000);
  const seen = readFileSync(`/proc/self/fd/${segment.fd()}`);
  assert.equal([...seen.subarray(49_999, 50_004)], [0, 1, 2, 3, 0]);
  writeSync(segment.fd(), Buffer.from([9]), 0, 1, 7);
  assert.is(memory[7], 9, 'what another writes is seen');
  assert.is(segment.memory()[7], 9, 'a second view is on the same memory');
  assert.ok(['normal', 'transparent', 'huge'].includes(segment.pages()));
});

test('sizes that cannot be are refused', () => {
  for (const size of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 62]) {
    assert.throws(() => new native.SharedSegment(size), undefined, String(size));
  }
});

test('landing regions are apart, staging too; place copies and says so once', () => {
  const landing = createShmLanding(native, { consumers: 2, landingBytes: 4096, stagingBytes: 4096 });
  assert.equal([landing.name, landing.inPlace, landing.direct], ['shm', true, false]);
  landing.landing(0).fill(1);
  assert.ok(landing.landing(1).every((byte) => byte === 0));
  landing.staging().set([5, 6, 7], 10);
  const ends: string[] = [];
  const sink: PlaceSink = {
    placed: (id, attempt) => ends.push(`placed ${id}/${attempt}`),
    placeFailed: (id) => ends.push(`failed ${id}`),
  };
  assert.ok(landing.place(7, 2, 1, 10, 100, 3), 'ended at once');
  assert.equal([landing.drain(sink, 0), landing.drain(sink, 9), landing.drain(sink, 9)], [0, 1, 0]);
  assert.equal(ends, ['placed 7/2']);
  assert.equal([...landing.landing(1).subarray(99, 104)], [0, 5, 6, 7, 0]);
  assert.throws(() => landing.landing(2), RangeError);
});

test('more memory than there is: refused with the option', () => {
  assert.throws(
    () => createShmLanding(native, { consumers: 1, landingBytes: 2 ** 52, stagingBytes: 0 }),
    (error: { code: string; context: { option: string } }) =>
      error.code === 'memory_too_large' && error.context.option === 'memoryBytes',
  );
});

test.run();
