import { setTimeout as sleep } from 'node:timers/promises';
import { type Feed, manifestFromColumns, openFeed } from '../../runtime-node/index.js';
import { type ClientOptions, CREDENTIALS, type GetClient } from './client.js';
import { BUCKET, ETAG, keyOf, OBJECTS, REGION } from './object-set.js';

const BATCH_SAMPLES = 32;
const POLL_MS = 2;

/**
 * A feed of the `os2g` policy. Between rounds it is at rest with its window full, so that a round reads as many objects as it
 * hands out: what is consumed is read again ahead.
 */
export class FeedClient implements GetClient {
  readonly #feed: Feed;

  private constructor(feed: Feed) {
    this.#feed = feed;
  }

  static async open(
    { port, objectBytes, concurrency, landingBytes }: ClientOptions,
    engine: 'portable' | 'native',
  ): Promise<FeedClient> {
    process.env.AWS_ACCESS_KEY_ID = CREDENTIALS.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = CREDENTIALS.secretAccessKey;
    const rows = Array.from({ length: OBJECTS }, (_, row) => row);
    const feed = await openFeed({
      manifest: manifestFromColumns({
        bucket: BUCKET,
        keys: rows.map(keyOf),
        lengths: rows.map(() => objectBytes),
        etags: rows.map(() => ETAG),
      }),
      s3: { endpoint: `http://127.0.0.1:${port}`, region: REGION },
      batchSamples: BATCH_SAMPLES,
      epochs: 1_000_000,
      engine,
      landing: engine === 'native' ? 'shm' : 'memory',
      memoryBytes: landingBytes,
      set: { 'concurrency.max': concurrency, 'concurrency.initial': concurrency },
    });
    const client = new FeedClient(feed);
    await client.#rest();
    return client;
  }

  async round(requests: number): Promise<number> {
    const before = this.#feed.stats().requests;
    for (let samples = 0; samples < requests; samples += BATCH_SAMPLES) {
      const batch = await this.#feed.next();
      if (batch === null) throw new Error('the epochs came to an end');
      batch.release();
    }
    await this.#rest();
    return this.#feed.stats().requests - before;
  }

  close(): Promise<void> {
    return this.#feed.close();
  }

  async #rest(): Promise<void> {
    while (this.#feed.snapshot().inFlight > 0) await sleep(POLL_MS);
  }
}
