import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { accessTo, Driver, until } from '../engine/engine-kit.js';

const SIZE = 200_000;
const OBJECTS = [
  { key: 'k', size: SIZE, etag: '"e1"' },
  { key: 'slow', size: SIZE, etag: '"e1"' },
];
const [situation, port] = isMainThread
  ? [process.argv[2], Number(process.argv[3])]
  : (workerData as [string, number]);

const driverOf = (): Driver => new Driver(accessTo(port!), OBJECTS);

/** Begins GETs whose bodies keep coming. */
async function inTransfer(): Promise<Driver> {
  const driver = driverOf();
  for (let id = 0; id < 8; id++) driver.engine.get(id, 1, 1, 0, SIZE, new Uint8Array(SIZE));
  await until(() => driver.firstBytes === 8);
  return driver;
}

async function collected(): Promise<void> {
  let gone = false;
  const registry = new FinalizationRegistry(() => {
    gone = true;
  });
  await (async () => {
    const driver = driverOf();
    await driver.get(0, 0, SIZE);
    registry.register(driver, undefined);
  })();
  for (let turn = 0; turn < 100 && !gone; turn++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function worker(role: string): Promise<Worker> {
  const made = new Worker(new URL(import.meta.url), { workerData: [role, port] });
  made.on('error', (error) => {
    console.log(error);
    process.exitCode = 1;
  });
  await new Promise((resolve) => made.once('message', resolve));
  return made;
}

const situations: Record<string, () => Promise<string>> = {
  idle: async () => {
    driverOf();
    return 'idle';
  },
  fetched: async () => (await driverOf().get(0, 0, SIZE)).what,
  'never-closed-in-transfer': async () => {
    await inTransfer();
    console.log('exit');
    process.exit(0);
  },
  'closed-in-transfer': async () => {
    await (await inTransfer()).engine.close();
    return 'closed';
  },
  dropped: async () => {
    await collected();
    return 'collected';
  },
  'worker-terminated': async () => {
    for (let round = 0; round < 5; round++) await (await worker('in-worker')).terminate();
    return 'terminated';
  },
  'worker-ends': async () => {
    const made = await worker('whole-worker');
    await new Promise((resolve) => made.once('exit', resolve));
    return 'ended';
  },
  'in-worker': async () => {
    await inTransfer();
    return 'under way';
  },
  'whole-worker': async () => {
    const driver = driverOf();
    await driver.get(0, 0, SIZE);
    return 'whole';
  },
};

const said = await situations[situation!]!();
if (isMainThread) console.log(said);
else parentPort!.postMessage(said);
