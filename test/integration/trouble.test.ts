// A data set that changes under a run, a store that stands still, and a budget that is small.
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AuditWatch, assertWhole, readAudit, samplesOf } from './audit.js';
import type { Os2g } from './os2g.js';
import { type JsonObject, type Rig, rigTests } from './rig.js';
import { seededBytes, Truth } from './truth.js';

const small = new Truth({ seed: 20253, objects: 600, prefix: 'small/' });
const LARGE_BYTES = 1_000_000;
const large = new Truth({ seed: 20254, objects: 200, prefix: 'large/', sizeBytes: () => LARGE_BYTES });
const QUIET_MS = 2_000;

const it = rigTests(async ({ store }) => {
  await store.writer.putAll(store.bucket, small.objects());
  await store.writer.putAll(store.bucket, large.objects());
});

/** Four objects and their manifest; what is to happen to one of them happens after that. */
async function indexed(
  rig: Rig,
  prefix: string,
): Promise<{ keys: string[]; etags: string[]; manifest: string }> {
  const keys = Array.from({ length: 4 }, (_, i) => `${prefix}${i}.jpg`);
  const etags: string[] = [];
  for (const [i, key] of keys.entries()) {
    etags.push(await rig.store.writer.put(rig.store.bucket, key, seededBytes(1, i, 5_000)));
  }
  const manifest = rig.file(`${prefix.slice(0, -1)}.arrow`);
  await rig.result(['index', rig.url(prefix), '-o', manifest]);
  return { keys, etags, manifest };
}

const feed = (manifest: string): string[] => ['feed', '--manifest', manifest, '--batch-samples', '2'];

for (const [what, sizeBytes] of [
  ['of the same length', 5_000],
  ['shorter', 300],
  ['longer', 90_000],
] as const) {
  it(`an object that was replaced by one ${what}: the error names key and both ETags`, async (rig) => {
    const { keys, etags, manifest } = await indexed(rig, `replaced-${sizeBytes}/`);
    const key = keys[2] as string;
    const etag = await rig.store.writer.put(rig.store.bucket, key, seededBytes(2, 2, sizeBytes));
    const audit = rig.file('replaced.jsonl');
    const { exit, error } = await rig.failure([...feed(manifest), '--audit', audit]);
    assert.equal({ exit, code: error.code, key: error.key }, { exit: 1, code: 'changed', key });
    for (const name of [etags[2], etag])
      assert.ok(String(error.message).includes(String(name)), String(error.message));
    assert.not.ok(
      samplesOf(readAudit(audit)).some((sample) => sample.key === key),
      'not a byte of it',
    );
  });
}

it('an object that is gone: not_found names it; --on-error skip leaves a hole and tells', async (rig) => {
  const { keys, manifest } = await indexed(rig, 'deleted/');
  const [key, another] = keys.slice(1) as [string, string];
  await rig.store.writer.delete(rig.store.bucket, key);
  const { exit, error } = await rig.failure(feed(manifest));
  assert.equal({ exit, code: error.code, key: error.key }, { exit: 1, code: 'not_found', key });

  const audit = rig.file('deleted.jsonl');
  const skip = [...feed(manifest), '--on-error', 'skip', '--max-skips', '1'];
  const result = await rig.result([...skip, '--audit', audit]);
  assert.equal({ samples: result.samples, batches: result.batches }, { samples: 3, batches: 2 });
  const skipped = result.skipped as JsonObject[];
  assert.equal(
    skipped.map(({ key, code, index }) => ({ key, code, index })),
    [{ key, code: 'not_found', index: 1 }],
  );
  const read = samplesOf(readAudit(audit)).filter(({ sha256 }) => sha256 !== undefined);
  assert.equal(
    read.map((sample) => sample.key).sort(),
    keys.filter((other) => other !== key),
  );

  await rig.store.writer.delete(rig.store.bucket, another);
  const tooMany = await rig.failure(skip);
  assert.equal({ exit: tooMany.exit, code: tooMany.error.code }, { exit: 1, code: 'too_many_skips' });
});

/** Resolves when nothing has been delivered for a while. */
async function untilStuck(call: Os2g, audit: AuditWatch): Promise<void> {
  let lines = -1;
  while (!call.hasEnded && lines !== audit.lines) {
    lines = audit.lines;
    await sleep(QUIET_MS);
  }
}

for (const [what, limits] of [
  ['and the limits are long', []],
  ['and requests time out', ['--set', 'limits.first_byte=400ms', '--set', 'limits.idle=400ms']],
] as const) {
  it(`the store stands still for seconds in mid-epoch, ${what}: the epoch completes`, async (rig) => {
    const audit = new AuditWatch(rig.file(`paused-${limits.length}.jsonl`));
    // A small window, so that the run still wants something of the store when it stops.
    const window = ['--memory', '4MiB', '--batch-samples', '8', '--step-time', '2ms'];
    const call = rig.call(['feed', rig.url('small/'), '--audit', audit.file, ...window, ...limits]);
    try {
      await call.until(() => audit.lines >= 5);
      rig.store.pause();
      await untilStuck(call, audit);
      const stuckAt = audit.lines;
      rig.store.resume();
      const { code, stdout, stderr } = await call.ended;
      assert.is(code, 0, stdout + stderr);
      assert.ok(stuckAt < small.keys.length / 8, 'it was stopped in mid-epoch');
      const result = JSON.parse(stdout) as JsonObject;
      if (limits.length > 0) assert.ok((result.retries as number) > 0, 'requests were sent again');
    } finally {
      audit.close();
    }
    assertWhole(samplesOf(readAudit(audit.file)), small);
  });
}

it('a budget of 64 MiB holds with 200 objects of 1 MB and a slow trainer', async (rig) => {
  const audit = rig.file('large.jsonl');
  const budget = ['--memory', '64MiB', '--batch-samples', '8', '--step-time', '20ms'];
  const result = await rig.result(['feed', rig.url('large/'), '--audit', audit, ...budget]);
  assert.is(result.memory_budget_bytes, 64 * 2 ** 20);
  const peak = result.memory_peak_bytes as number;
  assert.ok(peak <= 64 * 2 ** 20, `the peak is ${peak} bytes`);
  assert.ok(peak >= 8 * LARGE_BYTES, 'a batch of eight was in it');
  assertWhole(samplesOf(readAudit(audit)), large);
});

test.run();
