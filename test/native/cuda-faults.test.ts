import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Os2gError } from '../../runtime-node/errors.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import type { ScriptedStore } from '../store/index.js';
import { FakeCuda, withFake } from './fake-cuda.js';
import { readChecked, withStore } from './gpu-feed.js';
import { nativeModule } from './module.js';

nativeModule();

// Each call of the driver answers an error, at its first call and at each; what must come out. `whole`: every byte is right.
// `refused`: nothing is started. `transfer`: the feed ends with that error. Whatever comes out, the driver is clean.
type Outcome = 'whole' | 'refused' | 'transfer';

const ROWS: readonly [call: string, first: Outcome, each: Outcome][] = [
  // Asked before the data set is.
  ['cuInit', 'refused', 'refused'],
  ['cuDriverGetVersion', 'refused', 'refused'],
  ['cuDeviceGetCount', 'refused', 'refused'],
  ['cuDeviceGet', 'refused', 'refused'],
  ['cuDeviceGetName', 'refused', 'refused'],
  // Landing and staging memory.
  ['cuDeviceGetUuid_v2', 'refused', 'refused'],
  ['cuDeviceGetAttribute', 'refused', 'refused'],
  ['cuDevicePrimaryCtxRetain', 'refused', 'refused'],
  ['cuCtxPushCurrent_v2', 'refused', 'refused'],
  ['cuStreamCreate', 'refused', 'refused'],
  ['cuEventCreate', 'refused', 'refused'],
  ['cuMemHostRegister_v2', 'refused', 'refused'],
  ['cuMemGetAllocationGranularity', 'refused', 'refused'],
  ['cuMemCreate', 'refused', 'refused'],
  ['cuMemAddressReserve', 'refused', 'refused'],
  ['cuMemMap', 'refused', 'refused'],
  ['cuMemSetAccess', 'refused', 'refused'],
  // Copies: the core has them done again.
  ['cuMemcpyHtoDAsync_v2', 'whole', 'transfer'],
  ['cuEventRecord', 'whole', 'transfer'],
  ['cuEventSynchronize', 'whole', 'transfer'],
  // The error of a queued copy stays with its stream.
  ['copy', 'transfer', 'transfer'],
  // Copies back, for who reads the batch.
  ['cuMemcpyDtoH_v2', 'transfer', 'transfer'],
  // What is given back is given back, whatever an earlier copy's error makes these answer.
  ['cuCtxPopCurrent_v2', 'whole', 'whole'],
  ['cuMemUnmap', 'whole', 'whole'],
  ['cuMemRelease', 'whole', 'whole'],
  ['cuMemAddressFree', 'whole', 'whole'],
  ['cuMemHostUnregister', 'whole', 'whole'],
  ['cuStreamDestroy_v2', 'whole', 'whole'],
  ['cuEventDestroy_v2', 'whole', 'whole'],
  ['cuDevicePrimaryCtxRelease_v2', 'whole', 'whole'],
];

async function outcome(store: ScriptedStore, options: Partial<FeedOptions> = {}): Promise<Outcome> {
  try {
    const stats = await readChecked(store, { set: { 'retry.base': '1ms' }, ...options });
    assert.is(stats.samples, 16);
    return 'whole';
  } catch (error) {
    if (!(error instanceof Os2gError)) throw error;
    assert.ok(error.mend, error.message);
    if (error.exitCode === 2) return 'refused';
    assert.is(error.code, 'transfer', error.message);
    return 'transfer';
  }
}

for (const [call, first, each] of ROWS) {
  test(`${call} fails: ${first} after its first call, ${each} where it always does`, () =>
    withStore(16, {}, async (store) => {
      for (const [nth, expected] of [
        [1, first],
        [0, each],
      ] as const) {
        await withFake({ fail: `${call}:${nth}`, delay_us: 100 }, async () => {
          assert.is(await outcome(store), expected, `call ${nth}`);
        });
      }
    }));
}

test('the rows hold every call that a feed makes', () =>
  withStore(16, {}, (store) =>
    withFake({}, async (fake) => {
      await outcome(store);
      const made = new Set(fake.log().map((line) => line.split(' ')[0]!));
      const known = new Set(ROWS.map(([call]) => call));
      assert.equal(
        [...made].filter((call) => !known.has(call)),
        [],
      );
      const never = [...known].filter((call) => call !== 'copy' && !made.has(call));
      assert.equal(never, []);
    }),
  ));

test('the error says what the driver answered, after how many attempts, and what to do', () =>
  withStore(16, {}, (store) =>
    withFake({ fail: 'cuMemcpyHtoDAsync_v2:0' }, async () => {
      const error = await readChecked(store, { set: { 'retry.attempts': 3 } }).catch((e: Os2gError) => e);
      assert.instance(error, Os2gError);
      assert.match(
        (error as Os2gError).message,
        /^moving "train\/0\d\d" into landing memory failed \(after 3 attempts\): the CUDA driver's cuMemcpyHtoDAsync_v2 answered .+ \(999\)$/,
      );
      assert.match((error as Os2gError).mend, /nvidia-smi/);
      assert.match((error as Os2gError).context.key ?? '', /^train\//);
    }),
  ));

test('samples that cannot be moved may be left out, as others that cannot be had', () =>
  withStore(16, {}, (store) =>
    withFake({ fail: 'copy:0', delay_us: 0 }, async () => {
      const set = { 'retry.attempts': 2 };
      const stats = await readChecked(store, { onError: 'skip', maxSkips: 16, set });
      assert.equal([stats.samples, stats.skipped.length], [0, 16]);
      for (const { code, reason } of stats.skipped) {
        assert.is(code, 'transfer');
        assert.match(reason, /the CUDA driver's cu\w+ answered .*999/);
      }
    }),
  ));

test('a driver that is not told where it is, is looked for by its usual name alone', async () => {
  const fake = new FakeCuda();
  try {
    delete process.env.OS2G_CUDA_LIBRARY;
    const found = nativeModule().surveyCuda();
    // A machine may have one; the fake's must not be it.
    if ('what' in found) assert.match(found.what, /libcuda\.so\.1/);
    assert.equal(fake.log(), []);
  } finally {
    fake.remove();
  }
});

test.run();
