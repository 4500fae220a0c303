import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../runtime-node/package-root.js';

let built: string | null = null;

/** `OS2G_FAKE_CUDA`, or what cargo makes of native-gpudirect/fake-cuda; os2g itself never looks for it. */
function library(): string {
  built ??= process.env.OS2G_FAKE_CUDA ?? build();
  return built;
}

function build(): string {
  const cwd = join(packageRoot, 'native-gpudirect');
  const format = '--message-format=json-render-diagnostics';
  const said = execFileSync('cargo', ['build', '--quiet', '--release', '-p', 'os2g-fake-cuda', format], {
    cwd,
    encoding: 'utf8',
  });
  const file = said.split('"').find((part) => part.endsWith('/libcuda.so'));
  if (file === undefined) throw new Error(`cargo names no libcuda.so: ${said}`);
  return file;
}

/** What takes something and what gives it back; the numbers of both that went well must be the same in the end. */
const PAIRS: readonly [taken: string, given: string][] = [
  ['cuDevicePrimaryCtxRetain', 'cuDevicePrimaryCtxRelease_v2'],
  ['cuCtxPushCurrent_v2', 'cuCtxPopCurrent_v2'],
  ['cuMemCreate', 'cuMemRelease'],
  ['cuMemAddressReserve', 'cuMemAddressFree'],
  ['cuMemMap', 'cuMemUnmap'],
  ['cuMemAlloc_v2', 'cuMemFree_v2'],
  ['cuMemHostRegister_v2', 'cuMemHostUnregister'],
  ['cuStreamCreate', 'cuStreamDestroy_v2'],
  ['cuEventCreate', 'cuEventDestroy_v2'],
];

/** An injected error; a call that releases does so all the same, and then answers it. */
export const INJECTED = 999;

export interface FakeSettings {
  /** Numbers of the GPUs, `0,1`. */
  visible?: string;
  /** Bytes of each GPU. */
  memory?: number;
  /** Before each queued copy is made. */
  delay_us?: number;
  /** 0: memory cannot be shared by file descriptor. */
  fd?: number;
  /** `NAME:NTH`: the call of this name that fails, from 1 on; 0: each of them. */
  fail?: string;
}

/** A CUDA driver of its own, which this process (and its children, with `env`) loads from now on. */
export class FakeCuda {
  readonly env: Record<string, string> = {};
  readonly #folder = mkdtempSync(join(tmpdir(), 'os2g-fake-cuda-'));

  constructor({ fail, ...settings }: FakeSettings = {}) {
    // A copy: the loader knows libraries by their file, and each has a state of its own.
    const file = join(this.#folder, 'libcuda.so');
    copyFileSync(library(), file);
    const named = Object.entries(settings).map(([name, value]) => [name.toUpperCase(), String(value)]);
    this.env.OS2G_CUDA_LIBRARY = file;
    for (const [name, value] of named) this.env[`OS2G_FAKE_CUDA_${name}`] = value!;
    if (fail !== undefined) this.env.OS2G_FAKE_CUDA_FAIL = `${fail}:${INJECTED}`;
    this.env.OS2G_FAKE_CUDA_LOG = join(this.#folder, 'log');
    for (const name of Object.keys(process.env))
      if (name.startsWith('OS2G_FAKE_CUDA_')) delete process.env[name];
    Object.assign(process.env, this.env);
  }

  /** Calls so far, `NAME ANSWER` each. */
  log(): string[] {
    const file = this.env.OS2G_FAKE_CUDA_LOG!;
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  }

  called(name: string): number {
    return this.log().filter((line) => line.startsWith(`${name} `)).length;
  }

  /** All that was taken was given back, nothing under a copy, and every copy was from page-locked memory. */
  assertClean(where: string): void {
    const log = this.log();
    const count = (line: string): number => log.filter((said) => said === line).length;
    for (const [taken, given] of PAIRS) {
      const left = count(`${taken} 0`) - count(`${given} 0`) - count(`${given} ${INJECTED}`);
      assert.is(left, 0, `${where}: ${left} of ${taken} are left`);
    }
    for (const bad of ['violation', 'pageable']) assert.is(count(`${bad} 0`), 0, `${where}: ${bad}`);
  }

  remove(): void {
    delete process.env.OS2G_CUDA_LIBRARY;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Runs with a driver of its own, and checks in the end that nothing is left in it. */
export async function withFake<T>(
  settings: FakeSettings,
  use: (fake: FakeCuda) => Promise<T>,
  where = JSON.stringify(settings),
): Promise<T> {
  const fake = new FakeCuda(settings);
  try {
    const result = await use(fake);
    fake.assertClean(where);
    return result;
  } finally {
    fake.remove();
  }
}
