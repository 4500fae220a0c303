// Runs that are cut off and go on from the cursor that they wrote themselves.
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { seededDraws } from '../kit/draws.js';
import { type AuditedBatch, AuditWatch, assertWhole, readAudit, samplesOf } from './audit.js';
import { storeTruth, testObjects } from './dataset.js';
import type { Os2g } from './os2g.js';
import { type Rig, rigTests } from './rig.js';
import type { Truth } from './truth.js';

const DATA_SEED = 20252;
const KILLS = 10;
const EPOCHS = 2;
const PER_EPOCH = 125;
const TOTAL = EPOCHS * PER_EPOCH;
const batchSamples = Math.ceil(testObjects() / PER_EPOCH);
/** Longer than the shortest time between two writes of a cursor (docs/cursor.md), so that each step is recorded. */
const STEP = ['--step-time', '10ms'];

const seed = Number(process.env.OS2G_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
process.stdout.write(`OS2G_TEST_SEED=${seed}\n`);
const draw = seededDraws(seed);

let truth: Truth;
let run: string[] = [];
let unbroken: AuditedBatch[] = [];
const it = rigTests(async (rig) => {
  const stored = await storeTruth(rig, DATA_SEED);
  truth = stored.truth;
  const order = ['--seed', '5', '--batch-samples', String(batchSamples), '--tail', 'partial'];
  run = ['feed', '--manifest', stored.manifest, '--epochs', String(EPOCHS), ...order];
});

/** A run in pieces: each piece goes on from the cursor that the one before left, and has an audit of its own. */
class BrokenRun {
  readonly pieces: { start: number; lines: AuditedBatch[] }[] = [];
  readonly #cursor: string;

  constructor(
    private readonly rig: Rig,
    private readonly name: string,
    private readonly extra: readonly string[] = [],
  ) {
    this.#cursor = rig.file(`${name}.cursor`);
  }

  /** Batches that the cursor calls consumed. */
  get consumed(): number {
    if (!existsSync(this.#cursor)) return 0;
    const { epoch, batch } = JSON.parse(readFileSync(this.#cursor, 'utf8'));
    return epoch * PER_EPOCH + batch;
  }

  /** Runs one more piece; `during` may end it. */
  async piece(during: (call: Os2g, audit: AuditWatch) => Promise<void> = async () => {}): Promise<{
    code: number | null;
    signal: string | null;
    stdout: string;
  }> {
    const start = this.consumed;
    const audit = new AuditWatch(this.rig.file(`${this.name}-${this.pieces.length}.jsonl`));
    const resume = existsSync(this.#cursor) ? ['--resume', this.#cursor] : [];
    const files = ['--cursor-out', this.#cursor, '--audit', audit.file];
    const call = this.rig.call([...run, ...this.extra, ...files, ...resume]);
    try {
      await during(call, audit);
      const { code, signal, stdout, stderr } = await call.ended;
      const wasKilled = signal === 'SIGKILL' || code === 130 || code === 143;
      assert.ok(code === 0 || wasKilled, `${signal ?? code}\n${stdout}${stderr}`);
      this.pieces.push({ start, lines: readAudit(audit.file) });
      return { code, signal, stdout };
    } finally {
      audit.close();
    }
  }

  /**
   * Each piece is what the unbroken run delivers from its cursor on, and together they leave nothing out. Returns how many
   * batches each piece brought that an earlier one had brought.
   */
  repeats(): number[] {
    let delivered = 0;
    return this.pieces.map(({ start, lines }, i) => {
      assert.ok(
        start <= delivered,
        `piece ${i} begins at ${start}: batches from ${delivered} on are missing`,
      );
      assert.equal(lines, unbroken.slice(start, start + lines.length), `piece ${i}`);
      const repeated = Math.min(delivered - start, lines.length);
      delivered = Math.max(delivered, start + lines.length);
      return repeated;
    });
  }

  /** The audits one after the other, without what repeats. */
  get once(): AuditedBatch[] {
    const byPlace = new Map<string, AuditedBatch>();
    for (const line of this.pieces.flatMap(({ lines }) => lines)) {
      const place = `${line.epoch}/${line.batch}`;
      if (!byPlace.has(place)) byPlace.set(place, line);
    }
    return [...byPlace.values()];
  }
}

/** Kills a run at random batches; the last piece runs to the end. */
async function killed(broken: BrokenRun, kills: number): Promise<number[]> {
  const at = Array.from({ length: kills }, () => Math.floor(draw() * TOTAL * 0.9)).sort((a, b) => a - b);
  for (const batch of at) {
    const start = broken.consumed;
    const { signal } = await broken.piece(async (call, audit) => {
      // One at least, so that each kill hits a run in mid-epoch.
      await call.until(() => audit.lines >= Math.max(1, batch - start));
      call.kill('SIGKILL');
    });
    assert.is(signal, 'SIGKILL', 'the run was still at work');
  }
  assert.is((await broken.piece()).code, 0);
  return at;
}

it('an unbroken run delivers both epochs whole', async (rig) => {
  const whole = new BrokenRun(rig, 'unbroken');
  assert.is((await whole.piece()).code, 0);
  unbroken = whole.once;
  assert.is(unbroken.length, TOTAL);
  for (const epoch of [0, 1]) {
    assertWhole(samplesOf(unbroken.filter((line) => line.epoch === epoch)), truth);
  }
});

it(`kill -9 at ${KILLS} random batches: nothing is missing, at most the batch in its step repeats`, async (rig) => {
  const broken = new BrokenRun(rig, 'killed', STEP);
  const at = await killed(broken, KILLS);
  const repeats = broken.repeats();
  process.stdout.write(`killed at ${at.join(', ')}; repeated ${repeats.join(', ')}\n`);
  assert.equal(broken.once, unbroken);
  for (const repeated of repeats) assert.ok(repeated <= 1, `${repeated} batches were repeated`);
});

it('kill -9 of runs without a step time: nothing is missing', async (rig) => {
  const broken = new BrokenRun(rig, 'hasty');
  for (let kill = 0; kill < 3; kill++) {
    const lines = 1 + Math.floor(draw() * 30);
    await broken.piece(async (call, audit) => {
      await call.until(() => audit.lines >= lines);
      call.kill('SIGKILL');
    });
  }
  assert.is((await broken.piece()).code, 0);
  process.stdout.write(`without a step time, repeated ${broken.repeats().join(', ')}\n`);
  assert.equal(broken.once, unbroken);
});

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  it(`${signal}: exit code ${code}, the cursor is written, the rest follows`, async (rig) => {
    const broken = new BrokenRun(rig, signal, STEP);
    const at = 1 + Math.floor(draw() * TOTAL * 0.8);
    const ended = await broken.piece(async (call, audit) => {
      await call.until(() => audit.lines >= at);
      call.kill(signal);
    });
    assert.is(ended.code, code);
    assert.is(JSON.parse(ended.stdout).error.code, 'aborted');
    const delivered = broken.pieces[0]?.lines.length ?? 0;
    // What was consumed is exactly what was delivered, but for a batch whose step the signal cut off.
    assert.ok([delivered, delivered - 1].includes(broken.consumed), `${broken.consumed} of ${delivered}`);
    assert.is((await broken.piece()).code, 0);
    const [, repeated] = broken.repeats();
    assert.is(repeated, delivered - (broken.pieces[1]?.start ?? 0));
    assert.equal(broken.once, unbroken);
  });
}

test.run();
