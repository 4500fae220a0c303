import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Feed } from '../../runtime-node/feed/feed.js';
import { openFeed } from '../../runtime-node/feed/open.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import type { FeedStats } from '../../runtime-node/feed/stats.js';
import { ENGINE_UNDER_TEST } from '../engine/engine-kit.js';
import { keysOf, withAwsEnv } from '../s3/aws-env.js';
import { type ScriptedStore, type StoreOptions, startStore } from '../store/index.js';

export const BUCKET = 'data';
/** The seed of every store here: faults and keys are the same each time. */
export const SEED = 31;

/** How a feed ended, as its user sees it. */
export interface Outcome {
  /** Every delivered sample, in order of delivery, held against what the store has. */
  delivered: { key: string; row: number; pad: boolean; skipped: boolean }[];
  stats: FeedStats | null;
  /** The typed error that ended it; null: none. */
  error: (Error & { code: string; mend: string; context: Record<string, unknown> }) | null;
}

/** What a situation is made of: a store, and a feed of it. */
export interface Scene {
  readonly store: ScriptedStore;
  feed(options?: Partial<FeedOptions>): Promise<Outcome>;
}

/**
 * One case of the list of situations that broke other feeders, by its number.
 * @param deeper the tests that go into its corners
 */
export function situation(
  number: number,
  what: string,
  deeper: string,
  options: StoreOptions,
  run: (scene: Scene) => Promise<void>,
): void {
  test(`case ${number}: ${what} (deeper: ${deeper})`, async () => {
    const store = await startStore({ seed: SEED, ...options });
    store.createBucket(BUCKET);
    const settings = { ...keysOf(store.credentials), AWS_REGION: store.region };
    try {
      await withAwsEnv(settings, () => run({ store, feed: (over = {}) => outcomeOf(store, over) }));
      await until(() => store.openSockets === 0, 'every socket closed');
    } finally {
      await store.close();
    }
  });
}

/** What the other end of a socket sees comes a little later. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    assert.ok(turns < 20_000, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export function optionsFor(store: ScriptedStore, over: Partial<FeedOptions>): FeedOptions {
  const source = over.manifest === undefined ? { source: `s3://${BUCKET}/` } : { bucket: BUCKET };
  return {
    ...source,
    ...{ batchSamples: 4, tail: 'partial', shuffle: 'none', engine: ENGINE_UNDER_TEST },
    set: { 'retry.base': '1ms' },
    ...over,
    s3: { endpoint: store.endpoint, ...over.s3 },
  };
}

/** Reads a feed to its end, and holds every byte against what the store has. */
export async function outcomeOf(store: ScriptedStore, over: Partial<FeedOptions> = {}): Promise<Outcome> {
  const outcome: Outcome = { delivered: [], stats: null, error: null };
  let feed: Feed | null = null;
  try {
    feed = await openFeed(optionsFor(store, over));
    for await (const batch of feed) {
      for (let i = 0; i < batch.length; i++) {
        const [key, row, skipped] = [batch.key(i), batch.row(i), batch.skipped(i)];
        outcome.delivered.push({ key, row, pad: batch.pad(i), skipped });
        if (skipped) continue;
        const bytes = batch.bytes(i);
        const { manifest } = feed;
        const wanted = store.expectedBytes(BUCKET, key, manifest.offset(row), manifest.length(row));
        assert.ok(Buffer.from(wanted).equals(bytes), `bytes of ${JSON.stringify(key)}`);
      }
    }
    outcome.stats = feed.stats();
  } catch (error) {
    if (!(error instanceof Error) || !('mend' in error)) throw error;
    outcome.error = error as Outcome['error'];
    assert.ok(outcome.error!.mend.length > 10, 'what to do is said');
  } finally {
    await feed?.close();
  }
  return outcome;
}

/** Everything came: these keys, each once, and no error. */
export function assertWhole(outcome: Outcome, keys: readonly string[]): void {
  assert.is(outcome.error, null, outcome.error?.message);
  assert.equal(outcome.delivered.map(({ key }) => key).sort(), [...keys].sort());
}

/** A typed error that names the key, where there is one. */
export function assertFails(outcome: Outcome, code: string, says: RegExp, key?: string): void {
  assert.is(outcome.error?.code, code, outcome.error?.message ?? 'no error');
  assert.match(`${outcome.error?.message} ${outcome.error?.mend}`, says);
  if (key !== undefined) assert.is(outcome.error?.context.key, key);
}
