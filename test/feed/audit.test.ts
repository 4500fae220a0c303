import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AuditFile } from '../../runtime-node/feed/audit.js';
import { manifestFromColumns } from '../../runtime-node/manifest/columns.js';
import { byteAt, inFolder, MS, manifestOf, openFake, readAll, rejects, sizesTo } from './kit.js';

const manifest = manifestOf(sizesTo(10));
const run = { batchSamples: 3, shuffle: 'sample', tail: 'pad', seed: 4 } as const;
const sha256 = (row: number, length: number): string =>
  createHash('sha256')
    .update(Uint8Array.from({ length }, (_, at) => byteAt(row, at)))
    .digest('hex');
const lines = (path: string): { epoch: number; batch: number; samples: Record<string, unknown>[] }[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test('one line a batch, in delivery order, with the hash of what landed', () =>
  inFolder(async (folder) => {
    const audit = join(folder, 'audit.jsonl');
    const seen = await readAll(await openFake(manifest, { ...run, audit }));
    const written = lines(audit);
    assert.is(written.length, 4);
    for (const [i, { epoch, batch, samples }] of written.entries()) {
      assert.equal([epoch, batch], [seen[i]?.epoch, seen[i]?.index]);
      assert.equal(
        samples.map(({ index }) => index),
        seen[i]?.rows,
      );
      for (const sample of samples) {
        const row = sample.index as number;
        const expected = {
          index: row,
          key: manifest.key(row),
          offset: 0,
          length: row + 1,
          sha256: sha256(row, row + 1),
          pad: sample.pad,
        };
        assert.equal(sample, expected);
      }
    }
    assert.is(written.flatMap(({ samples }) => samples).filter(({ pad }) => pad === true).length, 2);
  }));

test('the line stands before the batch is handed out', () =>
  inFolder(async (folder) => {
    const audit = join(folder, 'audit.jsonl');
    const { feed, time } = await openFake(manifest, { ...run, audit });
    for (let batch = 1; batch <= 3; batch++) {
      await time.run(feed.next());
      assert.is(lines(audit).length, batch);
    }
    await feed.close();
    assert.is(lines(audit).length, 3, 'what was not handed out is not audited');
  }));

test('resumed: the same file goes on, a file of its own begins; a torn line is cut', () =>
  inFolder(async (folder) => {
    const whole = join(folder, 'whole.jsonl');
    await readAll(await openFake(manifest, { ...run, epochs: 2, audit: whole }));
    const audit = join(folder, 'audit.jsonl');
    writeFileSync(audit, '{"epoch":7,"batch":7,"samples":[]}\n');
    const head = await openFake(manifest, { ...run, epochs: 2, audit });
    await readAll(head, 3);
    const own = join(folder, 'own.jsonl');
    const copy = join(folder, 'copy.jsonl');
    writeFileSync(copy, readFileSync(audit));
    appendFileSync(audit, `{"epoch":0,"batch":3,"samples":[${'x'.repeat(100_000)}`);
    for (const path of [audit, own]) {
      await readAll(await openFake(manifest, { ...run, epochs: 2, audit: path, resume: head.feed.cursor }));
    }
    assert.is(readFileSync(audit, 'utf8'), readFileSync(whole, 'utf8'));
    assert.is(readFileSync(copy, 'utf8') + readFileSync(own, 'utf8'), readFileSync(whole, 'utf8'));
    writeFileSync(audit, '{"epoch":0,"ba');
    await readAll(await openFake(manifest, { ...run, epochs: 2, audit, resume: head.feed.cursor }));
    assert.is(readFileSync(audit, 'utf8'), readFileSync(own, 'utf8'));
  }));

test('holes have no hash; fields are those of the manifest', () =>
  inFolder(async (folder) => {
    const audit = join(folder, 'audit.jsonl');
    const fields = [{ name: 'jpg', offset: 0, length: 2 }];
    const tar = manifestFromColumns({
      keys: ['a.tar', 'a.tar'],
      offsets: [512, 2048],
      lengths: [2, 3],
      objectSizes: [4096, 4096],
      fields: [fields, null],
    });
    const fate = ({ offset }: { offset: number }): { latencyNs: number; fails?: 'not_found' } =>
      offset >= 2048 ? { latencyNs: MS, fails: 'not_found' } : { latencyNs: MS };
    const fake = await openFake(tar, {
      batchSamples: 2,
      shuffle: 'none',
      onError: 'skip',
      maxSkips: 1,
      audit,
      fate,
      policy: 'sync',
    });
    await readAll(fake).catch(() => {});
    const [line] = lines(audit);
    assert.equal(line?.samples[0]?.fields, fields);
    assert.equal(line?.samples[1], {
      index: 1,
      key: 'a.tar',
      offset: 2048,
      length: 3,
      pad: false,
      skipped: true,
    });
  }));

test('an audit that cannot be written ends the feed', () =>
  inFolder(async (folder) => {
    await rejects(openFake(manifest, { ...run, audit: join(folder, 'no', 'audit') }), 'bad_output');
    if (!existsSync('/dev/full')) return;
    const full = new AuditFile('/dev/full', manifest, false);
    const { feed, time, engine } = await openFake(manifest, { ...run, audit: join(folder, 'audit') });
    const { write } = AuditFile.prototype;
    AuditFile.prototype.write = (...args) => write.apply(full, args);
    try {
      const error = await time.run(rejects(feed.next(), 'audit_write'));
      assert.match(error.message, /disk is full|ENOSPC/);
      await rejects(feed.next(), 'audit_write');
      assert.ok(engine.closed);
      assert.is(feed.cursor.batch, 0);
    } finally {
      AuditFile.prototype.write = write;
      full.close();
    }
  }));

test.run();
