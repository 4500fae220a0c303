import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCudaLanding } from '../../runtime-node/landing/cuda.js';
import type { LandingBackend, PlaceSink } from '../../runtime-node/landing/landing.js';
import { rejects } from '../feed/kit.js';
import { type FakeSettings, withFake } from './fake-cuda.js';
import { nativeModule } from './module.js';

const native = nativeModule();
const SIZES = { consumers: 2, landingBytes: 65_536, stagingBytes: 65_536 };

/** Ends of moves in the order in which they came, and the turns of the event loop in which a wake-up came. */
class Moves implements PlaceSink {
  readonly ends: string[] = [];
  wakes = 0;
  readonly #landing: LandingBackend;

  constructor(landing: LandingBackend) {
    this.#landing = landing;
  }

  placed(id: number, attempt: number): void {
    this.ends.push(`${id}/${attempt}`);
  }

  placeFailed(id: number, attempt: number): void {
    this.ends.push(`failed ${id}/${attempt}`);
  }

  /** Sleeps until woken, until so many have ended. */
  async until(count: number): Promise<void> {
    while (this.ends.length < count) {
      const woken = new Promise<void>((resolve) => {
        this.#landing.onWake = () => {
          this.wakes++;
          resolve();
        };
      });
      this.#landing.arm();
      await woken;
      this.#landing.drain(this, 1000);
    }
  }
}

/** Landing memory over a driver of its own. */
function withLanding(
  settings: FakeSettings,
  use: (landing: LandingBackend, moves: Moves) => Promise<void>,
): Promise<void> {
  return withFake(settings, async () => {
    const landing = createCudaLanding(native, SIZES);
    try {
      await use(landing, new Moves(landing));
    } finally {
      await landing.close();
    }
  });
}

test('bytes go from staging to their place with the consumer that they are of, and come back', () =>
  withLanding({}, async (landing, moves) => {
    assert.equal([landing.name, landing.inPlace, landing.direct], ['cuda', false, false]);
    assert.is(landing.staging().length, 65_536);
    assert.is(landing.staging(), landing.staging(), 'one view for all requests');
    assert.throws(() => landing.landing(0), /no address/);
    landing.staging().set([1, 2, 3, 4], 100);
    landing.staging().set([5, 6], 65_534);
    assert.not.ok(landing.place(7, 1, 0, 100, 65_532, 4));
    assert.not.ok(landing.place(8, 3, 1, 65_534, 0, 2));
    await moves.until(2);
    assert.equal(moves.ends, ['7/1', '8/3']);
    assert.equal([...landing.bytes(0, 65_532, 4)], [1, 2, 3, 4]);
    assert.equal([...landing.bytes(1, 0, 2)], [5, 6]);
    assert.equal([...landing.bytes(1, 65_536, 0)], []);
  }));

test('what lies outside its memory is not moved, and is told why; others go on', () =>
  withLanding({}, async (landing, moves) => {
    const outside: [consumer: number, from: number, to: number, length: number, why: RegExp][] = [
      [0, 0, 65_533, 4, /4 bytes at offset 65533 do not fit into the landing memory/],
      [0, 65_533, 0, 4, /do not fit into the staging memory/],
      [2, 0, 0, 4, /no landing memory for consumer 2/],
    ];
    for (const [i, [consumer, from, to, length]] of outside.entries())
      landing.place(i, 1, consumer, from, to, length);
    landing.place(9, 1, 1, 0, 0, 4);
    await moves.until(4);
    assert.equal([...moves.ends].sort(), ['9/1', 'failed 0/1', 'failed 1/1', 'failed 2/1']);
    for (const [i, [, , , , why]] of outside.entries()) assert.match(landing.failure(i)?.message ?? '', why);
    assert.is(landing.failure(9), undefined);
    landing.place(0, 2, 0, 0, 0, 4);
    assert.is(landing.drain(moves, 0), 0);
    assert.is(landing.failure(0), undefined, 'forgotten when it is moved again');
    await moves.until(5);
    assert.throws(() => landing.bytes(0, 65_533, 4), /do not fit/);
  }));

test('one wake-up for many: asked for once, made once', () =>
  withLanding({ delay_us: 100 }, async (landing, moves) => {
    let wakes = 0;
    landing.onWake = () => {
      wakes++;
    };
    for (let id = 0; id < 300; id++) landing.place(id, 1, 0, id, id, 1);
    landing.arm();
    // Without another arm, however many end.
    while (moves.ends.length < 300) {
      await new Promise((resolve) => setImmediate(resolve));
      if (wakes > 0) landing.drain(moves, 1000);
    }
    await new Promise((resolve) => setImmediate(resolve));
    assert.is(wakes, 1);
    assert.equal(
      moves.ends,
      Array.from({ length: 300 }, (_, id) => `${id}/1`),
    );
  }));

test('closed with moves under way: no end and no wake-up follows; what comes later is refused', () =>
  withFake({ delay_us: 20_000 }, async () => {
    const landing = createCudaLanding(native, SIZES);
    const moves = new Moves(landing);
    landing.onWake = () => {
      moves.wakes++;
    };
    for (let id = 0; id < 5; id++) landing.place(id, 1, 0, 0, id, 1);
    landing.arm();
    const closed = landing.close();
    assert.is(landing.drain(moves, 10), 0);
    landing.arm();
    assert.throws(() => landing.place(6, 1, 0, 0, 0, 1), /closed/);
    await closed;
    await landing.close();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal([moves.ends, moves.wakes], [[], 0]);
    await rejects((async () => landing.bytes(0, 0, 1))(), 'transfer');
    assert.is(landing.staging().length, 65_536, 'a view that is held stays readable');
  }));

test('sizes that cannot be are refused', () =>
  withFake({}, async () => {
    for (const [landingBytes, stagingBytes] of [
      [0, 4096],
      [4096, 0],
      [2 ** 60, 4096],
      [4096, 2 ** 60],
      [-1, 4096],
      [4096, 1.5],
    ] as const) {
      assert.throws(
        () => createCudaLanding(native, { consumers: 1, landingBytes, stagingBytes }),
        undefined,
        `${landingBytes}, ${stagingBytes}`,
      );
    }
  }));

test.run();
