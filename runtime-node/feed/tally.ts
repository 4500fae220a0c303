import type { Delivery } from './delivery.js';

export interface SkippedSample {
  /** Row of the manifest. */
  index: number;
  key: string;
  /** Stable name of the failure. */
  code: string;
  reason: string;
}

/** What was handed out, and the time that it took. */
export class Tally {
  samples = 0;
  padded = 0;
  batches = 0;
  /** Samples that were left out of what was handed out; pads not counted. */
  holes = 0;
  bytes = 0;
  busyNs = 0;
  readonly skipped: SkippedSample[] = [];
  /** Skips of batches that were not handed out yet. */
  #ahead: { epoch: number; batch: number; sample: SkippedSample }[] = [];
  readonly #startNs = process.hrtime.bigint();
  readonly #startCpu = process.cpuUsage();
  /** On the feed's clock: the first `next()`, and the end. */
  #askedNs: number | null = null;
  #doneNs: number | null = null;
  #endNs: bigint | null = null;
  #endCpu: NodeJS.CpuUsage | null = null;

  skip(epoch: number, batch: number, sample: SkippedSample): void {
    this.#ahead.push({ epoch, batch, sample });
  }

  handedOut(delivery: Delivery): void {
    const { samples, pads, epoch, batch } = delivery;
    let holes = 0;
    for (let i = 0; i < samples; i++) if (delivery.isSkipped(i) && !delivery.isPad(i)) holes++;
    this.holes += holes;
    this.samples += samples - pads - holes;
    this.padded += pads;
    this.batches++;
    this.bytes += delivery.sampleBytes;
    if (this.#ahead.length === 0) return;
    const isOfThis = (skip: { epoch: number; batch: number }): boolean =>
      skip.epoch === epoch && skip.batch === batch;
    for (const skip of this.#ahead) if (isOfThis(skip)) this.skipped.push(skip.sample);
    this.#ahead = this.#ahead.filter((skip) => !isOfThis(skip));
  }

  get wallNs(): number {
    return Number((this.#endNs ?? process.hrtime.bigint()) - this.#startNs);
  }

  /** Since the first batch was asked for; 0: none was. */
  trainingNs(nowNs: number): number {
    return this.#askedNs === null ? 0 : (this.#doneNs ?? nowNs) - this.#askedNs;
  }

  /** A batch is asked for. */
  asked(nowNs: number): void {
    this.#askedNs ??= nowNs;
  }

  /** CPU time of the process, user and system. */
  get cpuNs(): number {
    const { user, system } = this.#endCpu ?? process.cpuUsage(this.#startCpu);
    return (user + system) * 1e3;
  }

  /** Stops the clocks, once. */
  end(nowNs: number): void {
    this.#doneNs ??= nowNs;
    this.#endNs ??= process.hrtime.bigint();
    this.#endCpu ??= process.cpuUsage(this.#startCpu);
  }
}
