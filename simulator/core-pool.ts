import { Core, type CoreBuild } from '../runtime-node/core.js';

/**
 * Instances of one build of the core, loaded once and started anew for each run: loading is asynchronous, running is not, so a
 * search over policies loads once and runs thousands of times.
 */
export class CorePool {
  readonly sha256: string;
  readonly #build: CoreBuild | Uint8Array | undefined;
  readonly #cores: Core[];

  private constructor(build: CoreBuild | Uint8Array | undefined, first: Core) {
    this.#build = build;
    this.#cores = [first];
    this.sha256 = first.sha256;
  }

  /** @param build as for `Core.load` */
  static async load(build?: CoreBuild | Uint8Array): Promise<CorePool> {
    return new CorePool(build, await Core.load(build));
  }

  /** Loads instances until there are `count`. */
  async ensure(count: number): Promise<this> {
    while (this.#cores.length < count) this.#cores.push(await Core.load(this.#build));
    return this;
  }

  /** The first `count` instances; they serve one run at a time. */
  take(count: number): Core[] {
    if (count > this.#cores.length)
      throw new RangeError(`${count} cores wanted, ${this.#cores.length} loaded`);
    return this.#cores.slice(0, count);
  }
}
