import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import { loadNative } from '../../runtime-node/native/load.js';
import { rejects } from '../feed/kit.js';
import { type FakeSettings, withFake } from './fake-cuda.js';
import { openGpuFeed, withStore } from './gpu-feed.js';
import { nativeModule } from './module.js';

nativeModule();

interface Refusal {
  what: string;
  fake?: FakeSettings;
  /** File of the driver, instead of the fake's. */
  library?: string;
  options?: Partial<FeedOptions>;
  code: string;
  option: string;
  message: RegExp;
  mend: RegExp;
}

const landing = { code: 'landing_unavailable', option: 'landing' };
const REFUSALS: Refusal[] = [
  {
    what: 'no driver',
    library: '/nowhere/libcuda.so.1',
    ...landing,
    message: /cuda cannot be had: the CUDA driver did not load: \/nowhere\/libcuda\.so\.1: .*No such file/,
    mend: /install the NVIDIA driver/,
  },
  {
    what: 'a library that is no driver',
    library: (loadNative() as { file: string }).file,
    ...landing,
    message: /os2g-native.*has no function cuInit/,
    mend: /release 470/,
  },
  {
    what: 'no GPU',
    fake: { visible: '' },
    ...landing,
    message: /cuInit answered CUDA_ERROR_NO_DEVICE \(100\)/,
    mend: /CUDA_VISIBLE_DEVICES/,
  },
  {
    what: 'a GPU with too little memory',
    fake: { memory: 4 * 2 ** 20 },
    code: 'memory_too_large',
    option: 'memoryBytes',
    message:
      /6 MiB on GPU 0, with 2 MiB of page-locked memory.*cuMemCreate answered CUDA_ERROR_OUT_OF_MEMORY/,
    mend: /lower memoryBytes/,
  },
  {
    what: 'the portable engine',
    options: { engine: 'portable' },
    ...landing,
    message: /cuda needs the native engine/,
    mend: /engine: 'native'/,
  },
  {
    what: 'the direct path',
    options: { direct: 'on' },
    code: 'direct_unavailable',
    option: 'direct',
    message: /memory of GPU 0 \(Fake GPU 0\): the host’s CPU receives every byte/,
    mend: /direct: 'auto'/,
  },
  {
    what: 'ucx',
    options: { landing: 'ucx' },
    ...landing,
    message: /ucx puts batches into the memory of a trainer’s process.*`os2g serve`.*not there yet/,
    mend: /landing: 'shm'/,
  },
];

for (const { what, fake = {}, library, options, code, option, message, mend } of REFUSALS) {
  test(`refused: ${what}; nothing is read, nothing is left`, () =>
    withStore(10, {}, (store) =>
      withFake(fake, async () => {
        if (library !== undefined) process.env.OS2G_CUDA_LIBRARY = library;
        const error = await rejects(openGpuFeed(store, options), code);
        assert.is((error.context as { option: string }).option, option);
        assert.is(error.exitCode, 2);
        assert.match(error.message, message);
        assert.match(error.mend as string, mend);
        assert.not.match(error.message, /\.: |\.\.|\. /, 'one sentence');
        assert.is(store.counters.gets, 0, 'an object was read');
      }),
    ));
}

test.run();
