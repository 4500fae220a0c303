import { availableParallelism, loadavg } from 'node:os';

const CALIBRATION_TURNS = 20_000_000;

/** What a figure must be read with: how busy the machine was, and how fast it ran a loop that never changes. */
export interface MachineState {
  node: string;
  architecture: string;
  cores: number;
  /** One-minute load average before the first and after the last round. */
  loadBefore: number;
  loadAfter: number;
  /** Nanoseconds for one turn of the calibration loop, one value a round. */
  calibrationNs: number[];
}

/** Follows the machine through a benchmark: call `calibrate` once a round. */
export class MachineWatch {
  readonly #loadBefore = loadavg()[0] ?? 0;
  readonly #calibrationNs: number[] = [];

  constructor() {
    calibrationLoop(CALIBRATION_TURNS); // the first call runs before the compiler has seen it
  }

  calibrate(): void {
    const start = process.hrtime.bigint();
    calibrationLoop(CALIBRATION_TURNS);
    this.#calibrationNs.push(Number(process.hrtime.bigint() - start) / CALIBRATION_TURNS);
  }

  state(): MachineState {
    return {
      node: process.version,
      architecture: process.arch,
      cores: availableParallelism(),
      loadBefore: this.#loadBefore,
      loadAfter: loadavg()[0] ?? 0,
      calibrationNs: this.#calibrationNs,
    };
  }
}

/** Integer work in registers, each turn dependent on the last: neither memory nor other processes' caches play a part. */
function calibrationLoop(turns: number): number {
  let x = 2463534242;
  for (let i = 0; i < turns; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  if (x === 0) throw new Error('a xorshift generator never reaches 0');
  return x;
}
