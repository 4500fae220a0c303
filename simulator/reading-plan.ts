import type { Core } from '../runtime-node/core.js';
import { Stream } from './random.js';
import type { Scenario } from './scenario/types.js';
import { Zipf } from './zipf.js';

/** Which rows each GPU reads in which step: the core's order, or independent draws; the same for every pipeline. */
export class ReadingPlan {
  readonly epochs: number;
  readonly batchSamples: number;
  readonly worldSize: number;
  /** Steps of an epoch. */
  readonly steps: number;
  readonly isZipf: boolean;
  readonly #samples: number;
  readonly #isPartial: boolean;
  readonly #zipf: Zipf | null;
  readonly #draws: Stream;
  readonly #core: Core | null;

  /** @param core for the order of epochs; started with the scenario's job */
  constructor(scenario: Scenario, core: Core | null) {
    const { training, dataset, nodes } = scenario;
    this.epochs = training.epochs;
    this.batchSamples = training.batch_samples_per_gpu;
    this.worldSize = nodes * training.gpus;
    this.#samples = dataset.samples;
    this.#isPartial = training.tail === 'partial';
    const global = this.batchSamples * this.worldSize;
    this.steps =
      training.tail === 'drop' ? Math.floor(this.#samples / global) : Math.ceil(this.#samples / global);
    this.isZipf = training.access.kind === 'zipf';
    this.#zipf = training.access.kind === 'zipf' ? new Zipf(this.#samples, training.access.exponent) : null;
    this.#draws = new Stream(scenario.seed, 'access');
    this.#core = core;
  }

  /** Samples of a rank's share of a step; 0 is possible in the last step of a partial epoch. */
  shareLength(rank: number, step: number): number {
    const rest = this.#samples - step * this.batchSamples * this.worldSize;
    if (!this.#isPartial || rest >= this.batchSamples * this.worldSize) return this.batchSamples;
    return Math.floor((rest * (rank + 1)) / this.worldSize) - Math.floor((rest * rank) / this.worldSize);
  }

  /** Position in the epoch of the first sample of a rank's share; may run past the end where pads follow. */
  shareStart(rank: number, step: number): number {
    const start = step * this.batchSamples * this.worldSize;
    const rest = this.#samples - start;
    if (!this.#isPartial || rest >= this.batchSamples * this.worldSize)
      return start + rank * this.batchSamples;
    return start + Math.floor((rest * rank) / this.worldSize);
  }

  /** Samples of a share that are pads. */
  pads(rank: number, step: number): number {
    const end = this.shareStart(rank, step) + this.shareLength(rank, step);
    return Math.max(0, Math.min(this.shareLength(rank, step), end - this.#samples));
  }

  /** The row at a position of an epoch; a position past the end is a pad, and repeats from the start. */
  row(epoch: number, position: number): number {
    const within = position < this.#samples ? position : position % this.#samples;
    if (this.#zipf) return this.#zipf.draw(this.#draws, epoch * this.#samples + within);
    return this.#core!.orderRow(epoch, within);
  }
}
