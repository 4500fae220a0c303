// One feed as a process that reads in rounds: each line of the standard input is an order, each line of the standard output
// its answer (the orders stand in native-gpudirect/engine/examples/get-bench/serve.rs). Argument: a JSON file, a FeedJob.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, type Feed, manifestFromColumns, openFeed } from '../../runtime-node/index.js';
import type { PeerJob, Round, Verified } from './client.js';

export interface FeedJob extends PeerJob {
  engine: 'portable' | 'native';
  landing_bytes: number;
  batch_samples: number;
  etag: string;
}

/** Seldom: a look costs as much CPU as some GETs, and large objects take long. */
const POLL_MS = 20;

/** All of the `os2g` policy, with the concurrency that the other clients have. */
function open(job: FeedJob): Promise<Feed> {
  const { keys, in_flight: inFlight } = job;
  return openFeed({
    manifest: manifestFromColumns({
      bucket: job.bucket,
      keys,
      lengths: keys.map(() => job.object_bytes),
      etags: keys.map(() => job.etag),
    }),
    s3: { endpoint: job.endpoint, region: job.region, caBundle: job.ca_file ?? undefined },
    batchSamples: job.batch_samples,
    epochs: 1_000_000,
    engine: job.engine,
    landing: job.engine === 'native' ? 'shm' : 'memory',
    memoryBytes: job.landing_bytes,
    set: { 'concurrency.max': inFlight, 'concurrency.initial': inFlight },
  });
}

/** Between rounds the feed is at rest with its window full: what a round consumes is read again ahead. */
class FeedRounds {
  readonly #feed: Feed;
  readonly #job: FeedJob;

  constructor(feed: Feed, job: FeedJob) {
    this.#feed = feed;
    this.#job = job;
  }

  async rest(): Promise<void> {
    while (this.#feed.snapshot().inFlight > 0) await sleep(POLL_MS);
  }

  async round(gets: number): Promise<Round> {
    const before = this.#fetched();
    const hedgesBefore = this.#feed.stats().hedges;
    const cpu = process.cpuUsage();
    const start = process.hrtime.bigint();
    for (let samples = 0; samples < gets; ) {
      const batch = await this.#next();
      samples += batch.length;
      batch.release();
    }
    await this.rest();
    const { user, system } = process.cpuUsage(cpu);
    const wallUs = Number(process.hrtime.bigint() - start) / 1e3;
    const done = this.#fetched() - before;
    const bytes = done * this.#job.object_bytes;
    const hedges = this.#feed.stats().hedges - hedgesBefore;
    return { gets: done, bytes, cpuUs: user + system, systemUs: system, wallUs, hedges };
  }

  async verify(): Promise<Verified> {
    const left = new Set(this.#job.keys);
    let verified = 0;
    for (; left.size > 0; ) {
      const batch = await this.#next();
      for (let i = 0; i < batch.length; i++, verified++) this.#compare(batch, i, left);
      batch.release();
    }
    await this.rest();
    return { verified, bytes: verified * this.#job.object_bytes };
  }

  #compare(batch: Batch, i: number, left: Set<string>): void {
    const key = batch.key(i);
    const truth = readFileSync(join(this.#job.root, this.#job.bucket, key));
    if (!truth.equals(batch.bytes(i))) throw new Error(`${key}: other bytes than in the file`);
    left.delete(key);
  }

  async #next(): Promise<Batch> {
    const batch = await this.#feed.next();
    if (batch === null) throw new Error('the epochs came to an end');
    return batch;
  }

  /** Objects read so far while the feed is at rest: hedges are no objects, parts of one are one. */
  #fetched(): number {
    const { samples } = this.#feed.stats();
    return samples + this.#feed.snapshot().readyBatches * this.#job.batch_samples;
  }
}

const job = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as FeedJob;
const feed = await open(job);
const rounds = new FeedRounds(feed, job);
await rounds.rest();
const answer = (document: object): void => {
  process.stdout.write(`${JSON.stringify(document)}\n`);
};
answer({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const [order, count] = line.split(' ');
  answer(order === 'round' ? await rounds.round(Number(count)) : await rounds.verify());
}
await feed.close();
