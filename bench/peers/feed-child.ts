// A feed in a process of its own, for bench/peers.ts: takes and answers lines as peers.py does.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { type Feed, manifestFromColumns, openFeed } from '../../runtime-node/index.js';
import type { RoundCost, StoreFacts } from './contestant.js';

const POLL_MS = 2;
const MOST_BATCH_SAMPLES = 32;

function open(store: StoreFacts, engine: 'native' | 'portable', memoryBytes: number): Promise<Feed> {
  const { keys, etags, objectBytes, inFlight } = store;
  return openFeed({
    manifest: manifestFromColumns({
      bucket: store.bucket,
      keys,
      etags,
      lengths: keys.map(() => objectBytes),
    }),
    s3: { endpoint: store.endpoint, region: store.region, caBundle: store.caFile ?? undefined },
    batchSamples: Math.min(MOST_BATCH_SAMPLES, Math.ceil(keys.length / 2)),
    epochs: 1_000_000,
    engine,
    landing: engine === 'native' ? 'shm' : 'memory',
    memoryBytes,
    // Exactly as many in flight as the peers, and no second request for a slow one, which no peer sends.
    set: { 'concurrency.mode': 'fixed', 'concurrency.max': inFlight, 'hedge.share': 0 },
  });
}

async function rest(feed: Feed): Promise<void> {
  while (feed.snapshot().inFlight > 0) await sleep(POLL_MS);
}

/** At rest with a full window before and after: what is handed out is read again ahead. */
async function runRound(feed: Feed, store: StoreFacts, objects: number): Promise<RoundCost> {
  const memoryBefore = feed.snapshot().memoryBytes;
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  let samples = 0;
  let bytes = 0;
  while (samples < objects) {
    const batch = await next(feed);
    samples += batch.length;
    bytes += batch.sizeBytes;
    batch.release();
  }
  await rest(feed);
  const wallS = Number(process.hrtime.bigint() - start) / 1e9;
  const { user, system } = process.cpuUsage(cpu);
  if (bytes !== samples * store.objectBytes) throw new Error(`${bytes} bytes of ${samples} samples`);
  // The window may have changed: what it holds more than before was read in this round, too.
  const more = (feed.snapshot().memoryBytes - memoryBefore) / store.objectBytes;
  const checked = await checkBatch(feed, store);
  const { retries, hedges } = feed.stats();
  const note = retries + hedges > 0 ? `${retries} retries, ${hedges} hedges` : undefined;
  return { objects: samples + more, userUs: user, systemUs: system, wallS, checked, note };
}

/** A batch that was read in the round, byte by byte. */
async function checkBatch(feed: Feed, { crc32: sums }: StoreFacts): Promise<number> {
  const batch = await next(feed);
  for (let i = 0; i < batch.length; i++) {
    if (crc32(batch.bytes(i)) !== sums[batch.row(i)]) throw new Error(`${batch.key(i)} is not the object`);
  }
  batch.release();
  await rest(feed);
  return batch.length;
}

async function next(feed: Feed) {
  const batch = await feed.next();
  if (batch === null) throw new Error('the epochs came to an end');
  return batch;
}

const [engine, storeFile, memoryBytes] = process.argv.slice(2);
if ((engine !== 'native' && engine !== 'portable') || storeFile === undefined) {
  throw new Error('give native or portable, the file of the store, and the memory budget');
}
const store = JSON.parse(readFileSync(storeFile, 'utf8')) as StoreFacts;
process.env.AWS_ACCESS_KEY_ID = store.accessKeyId;
process.env.AWS_SECRET_ACCESS_KEY = store.secretAccessKey;
const feed = await open(store, engine, Number(memoryBytes));
await rest(feed);
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await runRound(feed, store, Number(line)))}\n`);
}
await feed.close();
