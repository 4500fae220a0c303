import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Cursor } from '../../runtime-node/feed/cursor.js';
import { type FakeOptions, inFolder, MS, manifestOf, openFake, readAll, rejects, sizesTo } from './kit.js';

const ROWS = 24;
const BATCH = 4;
const manifest = manifestOf(sizesTo(ROWS));

/** A feed of six batches in order, over a store that has lost some rows. */
function openLossy(lost: readonly number[], options: FakeOptions): ReturnType<typeof openFake> {
  return openFake(manifest, {
    ...{ batchSamples: BATCH, shuffle: 'none', onError: 'skip' },
    fate: ({ row }) => ({
      latencyNs: MS,
      ...(lost.includes(row) ? { fails: 'not_found', status: 404 } : {}),
    }),
    ...options,
  });
}

test('the limit: 0, exactly as many, one more; a hole in the first, a middle and the last batch', async () => {
  const rows: [lost: number[], maxSkips: number, outcome: 'whole' | 'too_many_skips'][] = [
    [[], 0, 'whole'],
    [[9], 0, 'too_many_skips'],
    [[9], 1, 'whole'],
    [[0, 9, 23], 3, 'whole'],
    [[0, 9, 22, 23], 3, 'too_many_skips'],
    [[20, 21, 22, 23], 4, 'whole'],
    [[20, 21, 22, 23], 3, 'too_many_skips'],
    [[...Array(ROWS).keys()], ROWS, 'whole'],
  ];
  for (const [lost, maxSkips, outcome] of rows) {
    const fake = await openLossy(lost, { maxSkips });
    const what = `${lost} of ${maxSkips}`;
    if (outcome !== 'whole') {
      const error = await rejects(readAll(fake), outcome);
      assert.match(error.message, new RegExp(`more than ${maxSkips} sample`), what);
      await fake.feed.close();
      continue;
    }
    const seen = await readAll(fake);
    assert.equal(
      seen.flatMap(({ skipped }) => skipped),
      lost,
      what,
    );
    assert.is(seen.length, ROWS / BATCH);
    const { samples, skipped, cursor } = fake.feed.stats();
    assert.equal([samples, skipped.map(({ index }) => index)], [ROWS - lost.length, lost], what);
    assert.is(cursor.skipped, lost.length === 0 ? undefined : lost.length, what);
  }
});

test('a run that resumes has what is left of the limit, wherever it stopped', async () => {
  const lost = [1, 5, 9, 23];
  for (let stop = 1; stop < ROWS / BATCH; stop++) {
    const first = await openLossy(lost, { maxSkips: lost.length });
    const { cursor } = (await readAll(first, stop)).at(-1)!;
    const before = lost.filter((row) => row < stop * BATCH).length;
    assert.is(cursor.skipped ?? 0, before, `after batch ${stop}`);
    assert.ok(Buffer.byteLength(JSON.stringify(cursor)) < 1000);
    const rest = await openLossy(lost, { maxSkips: lost.length, resume: cursor });
    const seen = await readAll(rest);
    assert.equal(
      seen.flatMap(({ skipped }) => skipped),
      lost.slice(before),
    );
    assert.is(rest.feed.stats().cursor.skipped, lost.length);
    // One more than the whole run may have.
    const over = await openLossy([...lost, 22], { maxSkips: lost.length, resume: cursor });
    const error = await rejects(readAll(over), 'too_many_skips');
    assert.match(error.message, /maxSkips is 4, for all epochs of the run together/);
    await over.feed.close();
  }
});

test('a limit below what was left out already is refused, and does not matter where nothing is left out', async () => {
  const first = await openLossy([1, 2], { maxSkips: 2 });
  const cursor: Cursor = (await readAll(first, 2)).at(-1)!.cursor;
  const error = await rejects(openLossy([], { maxSkips: 1, resume: cursor }), 'cursor_mismatch');
  assert.match(error.message, /skipped is 2 in the cursor, and maxSkips is 1/);
  const strict = await openLossy([], { onError: 'fail', resume: cursor });
  assert.is((await readAll(strict)).length, 4);
});

test('a hole is in the audit, by name, and in no batch twice over epochs that are counted together', () =>
  inFolder(async (folder) => {
    const audit = join(folder, 'audit.jsonl');
    const fake = await openLossy([9], { maxSkips: 2, epochs: 2, audit });
    await readAll(fake);
    const lines = readFileSync(audit, 'utf8').trim().split('\n');
    const holes = lines
      .flatMap(
        (line) =>
          JSON.parse(line).samples as { index: number; key: string; skipped?: boolean; sha256?: string }[],
      )
      .filter(({ skipped }) => skipped);
    assert.equal(
      holes.map(({ index, key, sha256 }) => [index, key, sha256]),
      [
        [9, manifest.key(9), undefined],
        [9, manifest.key(9), undefined],
      ],
    );
    const over = await openLossy([9], { maxSkips: 1, epochs: 2 });
    await rejects(readAll(over), 'too_many_skips');
    await over.feed.close();
  }));

test.run();
