import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CONFIG_SLOTS, RECORD_BYTES, TRACE_HEADER_BYTES } from '../../assembly/layout.js';
import { Core, corePath } from '../../runtime-node/core.js';
import { readTrace, replayTrace } from '../../runtime-node/feed/replay.js';
import { TraceFile } from '../../runtime-node/feed/trace.js';
import { inFolder, MS, manifestOf, openFake, readAll, rejects, see, sizesTo } from './kit.js';

const replay = async (path: string): Promise<ReturnType<typeof replayTrace>> =>
  replayTrace(await Core.load(), readTrace(path));

async function record(trace: string, rows: number, options: object = {}): Promise<string> {
  const fate = ({
    row,
    attempt,
  }: {
    row: number;
    attempt: number;
  }): { latencyNs: number; fails?: 'server' } => ({
    latencyNs: ((row * 31) % 17) * MS + 1,
    ...(row % 5 === 0 && attempt === 1 ? { fails: 'server' } : {}),
  });
  const fake = await openFake(manifestOf(sizesTo(rows)), {
    batchSamples: 5,
    epochs: 2,
    trace,
    fate,
    ...options,
  });
  await readAll(fake);
  return fake.feed.stats().run_hash;
}

const runs: [name: string, rows: number, options: object][] = [
  ['os2g', 60, {}],
  ['readahead', 60, { policy: 'readahead' }],
  ['sync', 20, { policy: 'sync' }],
  [
    'more places in a batch than the event ring holds',
    6000,
    { batchSamples: 6000, epochs: 1, memoryBytes: 2 ** 26 },
  ],
  [
    'more samples in a batch than the action ring holds',
    9000,
    { batchSamples: 9000, epochs: 1, memoryBytes: 2 ** 29 },
  ],
];
for (const [name, rows, options] of runs) {
  test(`a trace replays to the same hash: ${name}`, () =>
    inFolder(async (folder) => {
      const trace = join(folder, 'trace');
      const runHash = await record(trace, rows, options);
      const result = await replay(trace);
      assert.equal([result.run_hash, result.recorded_run_hash, result.match], [runHash, runHash, true]);
      assert.is(result.first_difference, null);
      assert.not(result.truncated);
      assert.ok(result.events > rows && result.steps > 0);
      const bytes = readFileSync(trace).length;
      assert.is(bytes, TRACE_HEADER_BYTES + (result.events + result.steps + 1) * RECORD_BYTES);
    }));
}

test('every build of the core that there is comes to the same hash', () =>
  inFolder(async (folder) => {
    const trace = join(folder, 'trace');
    const runHash = await record(trace, 60);
    for (const build of ['release', 'debug', 'wasi'] as const) {
      if (!existsSync(corePath(build))) continue;
      assert.is(replayTrace(await Core.load(build), readTrace(trace)).run_hash, runHash, build);
    }
  }));

test('a trace that was cut off anywhere replays to its last whole step, and says so', () =>
  inFolder(async (folder) => {
    const trace = join(folder, 'trace');
    await record(trace, 40);
    const whole = await replay(trace);
    const bytes = readFileSync(trace);
    const first = readTrace(trace).steps();
    const firstStepEnd = TRACE_HEADER_BYTES + (1 + (first.next().value?.count ?? 0)) * RECORD_BYTES;
    first.return(undefined);
    for (let cut = bytes.length - 1; cut >= TRACE_HEADER_BYTES; cut -= 977) {
      const path = join(folder, 'cut');
      writeFileSync(path, bytes.subarray(0, cut));
      if (cut < firstStepEnd) {
        assert.match((await rejects(replay(path), 'bad_trace')).message, /nothing to compare/);
        continue;
      }
      const result = await replay(path);
      assert.equal(
        [result.truncated, result.recorded_run_hash, result.match],
        [true, null, true],
        `at ${cut}`,
      );
      assert.ok(result.steps <= whole.steps && result.events <= whole.events);
    }
  }));

test('a changed event is found at its step', () =>
  inFolder(async (folder) => {
    const trace = join(folder, 'trace');
    await record(trace, 40);
    const bytes = readFileSync(trace);
    const step = readTrace(trace).steps();
    let at = TRACE_HEADER_BYTES;
    for (let i = 0; i < 6; i++) at += (1 + (step.next().value?.count ?? 0)) * RECORD_BYTES;
    step.return(undefined);
    const changed = at + RECORD_BYTES + 16;
    bytes[changed] = (bytes[changed] ?? 0) ^ 1;
    writeFileSync(trace, bytes);
    const result = await replay(trace);
    assert.is(result.match, false);
    assert.ok((result.first_difference ?? 0) >= 6, `at step ${result.first_difference}`);
  }));

test('what is no trace is refused with what is wrong', () =>
  inFolder(async (folder) => {
    const trace = join(folder, 'trace');
    await record(trace, 10);
    const good = readFileSync(trace);
    const bad = (name: string, change: (bytes: Buffer) => Buffer): string => {
      const path = join(folder, name);
      writeFileSync(path, change(Buffer.from(good)));
      return path;
    };
    const cases: [path: string, message: RegExp][] = [
      [join(folder, 'none'), /cannot be read/],
      [bad('empty', () => Buffer.alloc(0)), /ends inside the header/],
      [bad('magic', (b) => b.fill(65, 0, 1)), /begin with OS2GTRC1/],
      [bad('record', (b) => b.fill(1, 12, 13)), /records have 1 bytes/],
      [bad('abi', (b) => b.fill(9, 16, 17)), /interface 9/],
      [bad('header', (b) => b.subarray(0, TRACE_HEADER_BYTES)), /no whole step.*nothing to compare/],
      [
        bad('end', (b) => Buffer.concat([b.subarray(0, TRACE_HEADER_BYTES), b.subarray(-RECORD_BYTES)])),
        /no whole step/,
      ],
      [bad('step', (b) => b.fill(77, TRACE_HEADER_BYTES, TRACE_HEADER_BYTES + 1)), /kind 77/],
    ];
    for (const [path, message] of cases) {
      const error = await rejects(replay(path), 'bad_trace');
      assert.match(error.message, message);
      assert.is(error.exitCode, 2);
    }
  }));

test('a trace that cannot be written: an error at the start', () =>
  inFolder(async (folder) => {
    const manifest = manifestOf(sizesTo(10));
    await rejects(openFake(manifest, { batchSamples: 2, trace: join(folder, 'no', 'trace') }), 'bad_output');
    if (!existsSync('/dev/full')) return;
    const core = await Core.load();
    assert.throws(
      () => new TraceFile('/dev/full', core, new Float64Array(CONFIG_SLOTS)),
      (error: { code: string }) => error.code === 'trace_write',
    );
  }));

test('the first step is in the file as soon as the feed is open, and later ones within a second', () =>
  inFolder(async (folder) => {
    const trace = join(folder, 'trace');
    const { feed, time } = await openFake(manifestOf(sizesTo(10)), {
      batchSamples: 2,
      trace,
      policy: 'sync',
      fate: () => ({ latencyNs: 300 * MS }),
    });
    assert.is((await replay(trace)).steps, 1);
    for (let i = 0; i < 3; i++) {
      const batch = await time.run(feed.next());
      if (batch) see(batch);
    }
    const open = await replay(trace);
    assert.ok(open.steps > 3 && open.truncated && open.match, `${open.steps} steps`);
    await feed.close();
    assert.not((await replay(trace)).truncated);
  }));

test.run();
