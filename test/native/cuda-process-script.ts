import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createCudaLanding } from '../../runtime-node/landing/cuda.js';
import type { LandingBackend } from '../../runtime-node/landing/landing.js';
import { nativeModule } from './module.js';

// The driver of OS2G_CUDA_LIBRARY makes each copy 5 ms late.
const situation = isMainThread ? process.argv[2] : (workerData as string);
const SIZES = { consumers: 1, landingBytes: 4096, stagingBytes: 4096 };

const open = (): LandingBackend => createCudaLanding(nativeModule(), SIZES);

function underWay(): LandingBackend {
  const landing = open();
  for (let id = 0; id < 20; id++) landing.place(id, 1, 0, 0, id, 1);
  landing.arm();
  return landing;
}

async function worker(role: string): Promise<Worker> {
  const made = new Worker(new URL(import.meta.url), { workerData: role });
  made.on('error', (error) => {
    console.log(error);
    process.exitCode = 1;
  });
  await new Promise((resolve) => made.once('message', resolve));
  return made;
}

async function collected(): Promise<void> {
  let gone = false;
  const registry = new FinalizationRegistry(() => {
    gone = true;
  });
  (() => registry.register(open(), undefined))();
  for (let turn = 0; turn < 100 && !gone; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const situations: Record<string, () => Promise<string>> = {
  idle: async () => {
    open();
    return 'idle';
  },
  // Copies keep the process until their ends were taken.
  copies: async () => {
    const landing = underWay();
    let placed = 0;
    landing.onWake = () => {
      landing.drain({ placed: () => placed++, placeFailed: () => {} }, 1000);
      if (placed < 20) landing.arm();
      else console.log('all placed');
    };
    return 'begun';
  },
  exit: async () => {
    underWay();
    console.log('exit');
    process.exit(0);
  },
  dropped: async () => {
    await collected();
    return 'collected';
  },
  terminated: async () => {
    for (let round = 0; round < 3; round++) await (await worker('in-worker')).terminate();
    return 'terminated';
  },
  'in-worker': async () => {
    underWay();
    return 'under way';
  },
};

const said = await situations[situation!]!();
if (isMainThread) console.log(said);
else parentPort!.postMessage(said);
