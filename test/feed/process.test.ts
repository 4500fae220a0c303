import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readCursor } from '../../runtime-node/feed/cursor-file.js';
import { readTrace, replayTrace } from '../../runtime-node/feed/replay.js';
import { Core, type FeedStats } from '../../runtime-node/index.js';
import { type ScriptedStore, startStore } from '../store/index.js';
import type { ChildTask } from './child.js';
import { inFolder } from './kit.js';

const MiB = 2 ** 20;
const SEED = 31;
console.log(`seed ${SEED}`);

interface ChildEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

function start(task: ChildTask): { child: ChildProcess; end: Promise<ChildEnd> } {
  const script = fileURLToPath(new URL('./child.js', import.meta.url));
  const child = spawn(process.execPath, ['--no-warnings', script, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (data) => (stdout += data));
  child.stderr?.on('data', (data) => (stderr += data));
  const end = new Promise<ChildEnd>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, end };
}

async function withStore(
  sizes: number[],
  use: (store: ScriptedStore, options: ChildTask['options']) => Promise<void>,
): Promise<void> {
  const store = await startStore({ anonymous: true, seed: SEED });
  try {
    store.createBucket('data');
    for (const [i, sizeBytes] of sizes.entries()) store.put('data', `train/${i}`, { sizeBytes, seed: i });
    const s3 = { endpoint: store.endpoint, region: 'us-east-1', anonymous: true };
    await use(store, { source: 's3://data/train/', s3, batchSamples: 4, seed: 3 });
  } finally {
    await store.close();
  }
}

test('large objects and a slow trainer: memory within the budget and a constant', () =>
  withStore(Array(40).fill(16 * MiB), async (_store, options) => {
    const memoryBytes = 64 * MiB;
    const { end } = start({ options: { ...options, batchSamples: 1, memoryBytes }, stepMs: 5 });
    const { code, stdout, stderr } = await end;
    assert.is(code, 0, stderr);
    const stats = JSON.parse(stdout) as FeedStats & { rss_before: number };
    assert.is(stats.samples, 40);
    assert.ok(stats.memory_peak_bytes <= memoryBytes);
    const grown = stats.rss_peak_bytes - stats.rss_before;
    assert.ok(grown <= memoryBytes + 160 * MiB, `grew by ${Math.round(grown / MiB)} MiB`);
  }));

test('an object above the budget is refused before a byte is read', () =>
  withStore([10, 80 * MiB, 10], async (store, options) => {
    const { end } = start({ options: { ...options, memoryBytes: 64 * MiB }, stepMs: 0 });
    const { code, stderr } = await end;
    assert.is.not(code, 0);
    assert.match(stderr, /the longest sample has 80 MiB/);
    assert.is(store.counters.gets, 0);
  }));

interface Line {
  epoch: number;
  batch: number;
}

/** Lines in order; a batch that was handed out, but not consumed, may stand twice. */
function withoutRepeats(text: string): string[] {
  const byBatch = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const { epoch, batch } = JSON.parse(line) as Line;
    const name = `${epoch}/${batch}`;
    const before = byBatch.get(name);
    if (before !== undefined) assert.is(line, before, `batch ${name} differs when it is seen again`);
    byBatch.set(name, line);
  }
  return [...byBatch.values()];
}

for (const oneFile of [true, false]) {
  test(`killed three times, resumed from its own cursor, audit in ${oneFile ? 'one file' : 'a file each'}: as unbroken`, () =>
    withStore(
      Array.from({ length: 100 }, (_, i) => 1 + i * 37),
      (store, given) =>
        inFolder(async (folder) => {
          // Far more batches than are handed out before each kill, also where this process is slow to see them.
          const options = { ...given, epochs: 8, tail: 'partial' as const };
          const whole = join(folder, 'whole.jsonl');
          assert.is((await start({ options: { ...options, audit: whole }, stepMs: 0 }).end).code, 0);
          const cursorOut = join(folder, 'cursor.json');
          const trace = join(folder, 'trace');
          const audits: string[] = [];
          for (let round = 0; round < 4; round++) {
            const audit = join(folder, oneFile ? 'audit.jsonl' : `audit-${round}.jsonl`);
            if (!audits.includes(audit)) audits.push(audit);
            const resume = existsSync(cursorOut) ? cursorOut : undefined;
            const { child, end } = start({
              options: { ...options, audit, cursorOut, resume, trace },
              stepMs: 2,
            });
            const isLast = round === 3;
            if (!isLast) {
              await until(() => linesOf(audit) >= (oneFile ? (round + 1) * 9 : 9), 'batches were handed out');
              child.kill('SIGKILL');
            }
            const { code, signal, stderr } = await end;
            assert.equal([code, signal], isLast ? [0, null] : [null, 'SIGKILL'], stderr);
            // Whole lines for every batch that the cursor calls consumed.
            const cursor = readCursor(cursorOut);
            const lines = withoutRepeats(audits.map((path) => readFileSync(path, 'utf8')).join(''));
            assert.ok(lines.length >= cursor.epoch * 25 + cursor.batch, `${lines.length} lines`);
            const replay = replayTrace(await Core.load(), readTrace(trace));
            assert.equal([replay.match, replay.truncated], [true, !isLast]);
          }
          const pieces = audits.map((path) => readFileSync(path, 'utf8')).join('');
          assert.equal(withoutRepeats(pieces), readFileSync(whole, 'utf8').split('\n').slice(0, -1));
          assert.is(store.counters.refused, 0);
        }),
    ));
}

function linesOf(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    assert.ok(turns < 20_000, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test.run();
