import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import type { Batch } from '../../runtime-node/feed/batch.js';
import type { Cursor } from '../../runtime-node/feed/cursor.js';
import type { Feed } from '../../runtime-node/feed/feed.js';
import { openFeed } from '../../runtime-node/feed/open.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import type { Manifest } from '../../runtime-node/manifest/manifest.js';
import { FakeEngine, type FakeEngineOptions, type Fate } from './fake-engine.js';
import { VirtualTime } from './virtual-time.js';

export const MS = 1e6;

/** The byte at a place of an object; every object differs. */
export function byteAt(row: number, at: number): number {
  return (row * 131 + at * 7 + (at >> 8)) & 255;
}

/** One sample an object, of the given sizes. */
export function manifestOf(sizes: readonly number[]): Manifest {
  return manifestFromColumns({
    keys: sizes.map((_, row) => `data/${String(row).padStart(5, '0')}`),
    lengths: sizes,
  });
}

/** Sizes 1, 2, 3, ... */
export function sizesTo(rows: number): number[] {
  return Array.from({ length: rows }, (_, row) => row + 1);
}

export interface FakeFeed {
  feed: Feed;
  time: VirtualTime;
  engine: FakeEngine;
}

export type FakeOptions = Partial<FeedOptions> & { fate?: FakeEngineOptions['fate']; time?: VirtualTime };

/** A feed over a fake engine in virtual time. Default fate: 10 ms and success. */
export async function openFake(
  manifest: Manifest,
  { fate, time = new VirtualTime(), ...options }: FakeOptions,
): Promise<FakeFeed> {
  const engine = new FakeEngine({
    time,
    key: (row) => manifest.key(row),
    byteAt: (row, at) => byteAt(row, at),
    fate: fate ?? ((): Fate => ({ latencyNs: 10 * MS })),
  });
  const feed = await openFeed({
    manifest,
    clock: time,
    memoryBytes: 1 << 20,
    ...options,
    internal: { ...options.internal, engine: () => engine, timers: time },
  });
  return { feed, time, engine };
}

/** What was seen of a batch. */
export interface Seen {
  epoch: number;
  index: number;
  rows: number[];
  pads: number;
  skipped: number[];
  cursor: Cursor;
}

/** Checks every byte of a batch. */
export function see(batch: Batch): Seen {
  const rows: number[] = [];
  const skipped: number[] = [];
  let pads = 0;
  for (let i = 0; i < batch.length; i++) {
    const row = batch.row(i);
    rows.push(row);
    if (batch.pad(i)) pads++;
    if (batch.skipped(i)) skipped.push(row);
    else
      assert.ok(
        batch.bytes(i).every((byte, at) => byte === byteAt(row, at)),
        `bytes of row ${row}`,
      );
  }
  return { epoch: batch.epoch, index: batch.index, rows, pads, skipped, cursor: batch.cursor };
}

/** Reads up to `most` batches to the end, checking bytes; closes the feed. */
export async function readAll({ feed, time }: FakeFeed, most = Number.POSITIVE_INFINITY): Promise<Seen[]> {
  const seen: Seen[] = [];
  const read = async (): Promise<void> => {
    while (seen.length < most) {
      const batch = await feed.next();
      if (!batch) break;
      seen.push(see(batch));
      batch.release();
    }
    await feed.close();
  };
  await time.run(read());
  return seen;
}

/** Rejects with an Os2gError of this code; gives it. */
export async function rejects(
  promise: Promise<unknown>,
  code: string,
): Promise<Record<string, unknown> & Error> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason as Record<string, unknown> & Error,
  );
  assert.ok(error, `no error, ${code} expected`);
  assert.is(error.code, code, error.stack);
  return error;
}

/** A folder that is gone when `use` is done. */
export async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'os2g-feed-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
