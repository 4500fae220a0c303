import * as layout from '../../assembly/layout.js';
import type { Core } from '../../runtime-node/core.js';
import type { Cores } from '../stations/cores.js';

const STORE = layout.COUNTER_STALL_NS + layout.STALL_STORE;
const NETWORK = layout.COUNTER_STALL_NS + layout.STALL_NETWORK;

/**
 * What the core cannot see: that a request or a body waits for the client's own CPU. Of the time that the core charges to the
 * store or the network, as much as every core of the client's side was taken is the CPU's.
 */
export class CpuStalls {
  readonly #cores: readonly Cores[];
  // By node, at its last step.
  readonly #steppedNs: Float64Array;
  readonly #takenNs: Float64Array;
  readonly #storeNs: Float64Array;
  readonly #networkNs: Float64Array;
  #fromStoreNs = 0;
  #fromNetworkNs = 0;

  /** @param cores by node, of the side where the client runs */
  constructor(cores: readonly Cores[]) {
    this.#cores = cores;
    this.#steppedNs = new Float64Array(cores.length);
    this.#takenNs = new Float64Array(cores.length);
    this.#storeNs = new Float64Array(cores.length);
    this.#networkNs = new Float64Array(cores.length);
  }

  /** After a step, which charged the time since the last one. */
  stepped(node: number, core: Core, nowNs: number): void {
    const spanNs = nowNs - this.#steppedNs[node]!;
    if (spanNs === 0) return;
    this.#steppedNs[node] = nowNs;
    const storeNs = core.counters[STORE]!;
    const networkNs = core.counters[NETWORK]!;
    const takenNs = this.#cores[node]!.takenAt(nowNs);
    const shortNs = takenNs - this.#takenNs[node]!;
    // Between two steps each GPU waits for one thing, so what is charged is the span times the GPUs that wait for it.
    this.#fromStoreNs += Math.round((storeNs - this.#storeNs[node]!) / spanNs) * shortNs;
    this.#fromNetworkNs += Math.round((networkNs - this.#networkNs[node]!) / spanNs) * shortNs;
    this.#takenNs[node] = takenNs;
    this.#storeNs[node] = storeNs;
    this.#networkNs[node] = networkNs;
  }

  /** Moves in what the core charged, summed over nodes. */
  applyTo(stallNs: Float64Array): void {
    stallNs[layout.STALL_STORE]! -= this.#fromStoreNs;
    stallNs[layout.STALL_NETWORK]! -= this.#fromNetworkNs;
    stallNs[layout.STALL_CLIENT_CPU]! += this.#fromStoreNs + this.#fromNetworkNs;
  }
}
