import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Cursor, parseCursor } from '../../runtime-node/feed/cursor.js';
import { CursorFile, readCursor } from '../../runtime-node/feed/cursor-file.js';
import { byteAt, inFolder, MS, manifestOf, openFake, readAll, rejects, type Seen, sizesTo } from './kit.js';

const manifest = manifestOf(sizesTo(23));
const shape = (seen: Seen[]): unknown =>
  seen.map(({ epoch, index, rows, pads }) => ({ epoch, index, rows, pads }));

for (const shuffle of ['none', 'sample', 'block'] as const) {
  for (const tail of ['drop', 'pad', 'partial'] as const) {
    test(`resumed after every batch, ${shuffle} and ${tail}: as unbroken`, async () => {
      const run = {
        batchSamples: 4,
        epochs: 3,
        seed: 11n,
        shuffle,
        tail,
        set: { 'order.block_samples': 3, 'order.group_blocks': 2 },
      };
      const whole = await readAll(await openFake(manifest, run));
      for (let k = 0; k <= whole.length; k++) {
        const before = await openFake(manifest, run);
        const head = await readAll(before, k);
        const resume = JSON.parse(JSON.stringify(before.feed.cursor)) as Cursor;
        const after = await openFake(manifest, { ...run, resume });
        const seen = await readAll(after);
        assert.equal(shape([...head, ...seen]), shape(whole), `after ${k}`);
        if (k > 0) assert.equal(head[k - 1]?.cursor, resume);
      }
    });
  }
}

test('what is not given is taken from the cursor', async () => {
  const run = { batchSamples: 4, epochs: 2, seed: 2n ** 64n - 1n, shuffle: 'none', tail: 'partial' } as const;
  const before = await openFake(manifest, run);
  const head = await readAll(before, 3);
  const seen = await readAll(await openFake(manifest, { epochs: 2, resume: before.feed.cursor }));
  assert.equal(shape([...head, ...seen]), shape(await readAll(await openFake(manifest, run))));
});

const worlds: [ranks: number, batchSamples: number][] = [
  [1, 12],
  [3, 4],
  [4, 3],
];
for (const [ranks, batchSamples] of worlds) {
  test(`saved with 2 ranks, resumed with ${ranks}`, async () => {
    const run = { epochs: 2, seed: 9, tail: 'pad' } as const;
    const whole = await readAll(await openFake(manifest, { ...run, batchSamples: 12 }));
    const saved = await openFake(manifest, { ...run, batchSamples: 6, worldSize: 2, rank: 1 });
    await readAll(saved, 1);
    const { cursor } = saved.feed;
    const shares: Seen[][] = [];
    for (let rank = 0; rank < ranks; rank++) {
      shares.push(
        await readAll(
          await openFake(manifest, { ...run, batchSamples, worldSize: ranks, rank, resume: cursor }),
        ),
      );
    }
    const joined = whole
      .slice(1)
      .map((batch, i) => ({ ...batch, rows: shares.flatMap((seen) => seen[i]?.rows ?? []) }));
    assert.equal(
      joined.map((batch) => batch.rows),
      whole.slice(1).map((batch) => batch.rows),
    );
  });
}

test('what does not fit is refused by name', async () => {
  const run = { batchSamples: 4, epochs: 2, seed: 1 } as const;
  const saved = await openFake(manifest, run);
  await readAll(saved, 2);
  const resume = saved.feed.cursor;
  const other = manifestOf(sizesTo(23).reverse());
  const rows: [options: object, field: RegExp][] = [
    [{ seed: 2 }, /seed is 1 in the cursor, 2 here/],
    [{ shuffle: 'none' }, /order\.shuffle is sample in the cursor, none here/],
    [{ tail: 'pad' }, /order\.tail is drop in the cursor, pad here/],
    [{ batchSamples: 5 }, /global_batch_samples is 4 in the cursor, 5 here/],
    [{ worldSize: 3, batchSamples: 4 }, /global_batch_samples is 4 in the cursor, 12 here/],
    [{ worldSize: 3, batchSamples: undefined }, /global_batch_samples 4 cannot be shared by 3/],
    [{ set: { 'order.block_samples': 5 } }, /order\.block_samples is 1024 in the cursor, 5 here/],
    [{ set: { 'order.group_blocks': 5 } }, /order\.group_blocks is 16 in the cursor, 5 here/],
    [{ resume: { ...resume, epoch: 3 } }, /epoch is 3/],
    [{ epochs: 1, resume: { ...resume, epoch: 1, batch: 1 } }, /epoch is 1 \(batch 1\).*epochs is 1/],
    [{ resume: { ...resume, batch: 5 } }, /batch is 5/],
  ];
  for (const [options, field] of rows) {
    const error = await rejects(openFake(manifest, { ...run, resume, ...options }), 'cursor_mismatch');
    assert.match(error.message, field);
    assert.is(error.exitCode, 2);
  }
  const error = await rejects(openFake(other, { ...run, resume }), 'cursor_mismatch');
  assert.match(error.message, /dataset_hash/);
});

test('a cursor that was tampered with is refused, whatever was done to it', async () => {
  const saved = await openFake(manifest, { batchSamples: 4 });
  await readAll(saved, 1);
  const good = saved.feed.cursor;
  assert.ok(JSON.stringify(good).length < 1024);
  assert.equal(parseCursor(JSON.stringify(good)), good);
  const paths = [
    ...Object.keys(good),
    'order.shuffle',
    'order.tail',
    'order.block_samples',
    'order.group_blocks',
  ];
  const bad = fc.constantFrom(Number.NaN, -1, 1.5, '', null, [], {}, true, '1e3', 'x', undefined);
  fc.assert(
    fc.property(fc.constantFrom(...paths), bad, (path, value) => {
      // Cursors of the first version do not have it.
      fc.pre(path !== 'epochs' || value !== undefined);
      const copy = structuredClone(good) as unknown as Record<string, Record<string, unknown>>;
      const [outer = '', inner] = path.split('.');
      if (inner) copy[outer] = { ...copy[outer], [inner]: value };
      else copy[outer] = value as never;
      assert.throws(
        () => parseCursor(copy),
        (error: { code: string }) => error.code === 'bad_cursor',
      );
    }),
    { seed: 20, numRuns: 300 },
  );
  for (const text of ['', '{', 'null', '[]', '{"schema":"os2g.cursor/2"}']) {
    assert.throws(
      () => parseCursor(text),
      (error: { code: string }) => error.code === 'bad_cursor',
      text,
    );
  }
});

test('the file follows what is released, and is whole at every moment', () =>
  inFolder(async (folder) => {
    const cursorOut = join(folder, 'cursor.json');
    const { feed, time } = await openFake(manifest, { batchSamples: 4, tail: 'partial', cursorOut });
    assert.is(readCursor(cursorOut).batch, 0);
    await time.run(
      (async () => {
        const first = await feed.next();
        assert.is(readCursor(cursorOut).batch, 0, 'handed out is not consumed');
        first?.release();
        await feed.next();
        await feed.next();
        await feed.close();
      })(),
    );
    assert.equal(readCursor(cursorOut), feed.cursor);
    assert.is(feed.cursor.batch, 2, 'the third was not released');
    assert.equal(readdirSync(dirname(cursorOut)), [basename(cursorOut)]);
    const seen = await readAll(
      await openFake(manifest, { batchSamples: 4, tail: 'partial', resume: cursorOut }),
    );
    assert.is(seen[0]?.index, 2);
  }));

test('a cursor file that cannot be written: an error at the start, and one of the feed later', () =>
  inFolder(async (folder) => {
    const nowhere = join(folder, 'no', 'cursor.json');
    await rejects(openFake(manifest, { batchSamples: 4, cursorOut: nowhere }), 'bad_output');
    assert.not(existsSync(nowhere));
    const path = join(folder, 'cursor.json');
    const errors: string[] = [];
    const cursor = (await openFake(manifest, { batchSamples: 4 })).feed.cursor;
    const file = new CursorFile(path, cursor, (error) => errors.push(error.code));
    writeFileSync(path, readFileSync(path));
    file.close();
    assert.equal(errors, []);
    assert.throws(
      () => new CursorFile(folder, cursor, () => {}),
      (error: { code: string }) => error.code === 'cursor_write',
    );
    assert.equal(
      readdirSync(dirname(folder)).filter((name) => name.startsWith(`.${basename(folder)}.`)),
      [],
      'nothing is left beside it',
    );
  }));

test('a cursor file that can no longer be written ends the feed', () =>
  inFolder(async (folder) => {
    const inner = mkdtempSync(join(folder, 'cursor-'));
    const cursorOut = join(inner, 'cursor.json');
    const { feed, time, engine } = await openFake(manifest, { batchSamples: 1, epochs: 100, cursorOut });
    rmSync(inner, { recursive: true });
    const all = async (): Promise<void> => {
      for (let batch = await feed.next(); batch; batch = await feed.next()) {
        batch.release();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    let done = false;
    const failed = rejects(all(), 'cursor_write').finally(() => {
      done = true;
    });
    while (!done) await time.pass(MS);
    const error = await failed;
    assert.is((error.context as { file: string }).file, cursorOut);
    assert.ok(engine.closed);
    await rejects(feed.close(), 'cursor_write');
  }));

test('a cursor at the end resumes to the end', async () => {
  const saved = await openFake(manifest, { batchSamples: 4, epochs: 2 });
  await readAll(saved);
  assert.equal([saved.feed.cursor.epoch, saved.feed.cursor.batch], [2, 0]);
  assert.equal(
    await readAll(await openFake(manifest, { batchSamples: 4, epochs: 2, resume: saved.feed.cursor })),
    [],
  );
  const more = await readAll(
    await openFake(manifest, { batchSamples: 4, epochs: 3, resume: saved.feed.cursor }),
  );
  assert.ok(more.length === 5 && more.every((batch) => batch.epoch === 2));
  assert.is(byteAt(0, 0), 0);
});

test.run();
