import * as layout from '../../assembly/layout.js';
import type { Core } from '../../runtime-node/core.js';
import type { Cores } from '../stations/cores.js';

const STORE = layout.COUNTER_STALL_NS + layout.STALL_STORE;
const NETWORK = layout.COUNTER_STALL_NS + layout.STALL_NETWORK;

/**
 * What the core cannot see: that a request or a body waits for the client's own CPU. While GPUs wait and every core of the client's
 * side is taken, time that the core charges to the store or the network is the CPU's. As in the core, the cause that holds at
 * the end of a step holds until the next one.
 */
export class CpuStalls {
  readonly #cores: readonly Cores[];
  readonly #isWaiting: Uint8Array; // by node and GPU
  readonly #gpus: number;
  readonly #waiting: Uint32Array; // by node
  readonly #isSaturated: Uint8Array;
  readonly #storeNs: Float64Array;
  readonly #networkNs: Float64Array;
  #fromStoreNs = 0;
  #fromNetworkNs = 0;

  /** @param cores by node, of the side where the client runs */
  constructor(cores: readonly Cores[], gpus: number) {
    this.#cores = cores;
    this.#gpus = gpus;
    this.#isWaiting = new Uint8Array(cores.length * gpus);
    this.#waiting = new Uint32Array(cores.length);
    this.#isSaturated = new Uint8Array(cores.length);
    this.#storeNs = new Float64Array(cores.length);
    this.#networkNs = new Float64Array(cores.length);
  }

  waits(node: number, gpu: number): void {
    const at = node * this.#gpus + gpu;
    if (this.#isWaiting[at] === 1) return;
    this.#isWaiting[at] = 1;
    this.#waiting[node]!++;
  }

  delivered(node: number, gpu: number): void {
    const at = node * this.#gpus + gpu;
    if (this.#isWaiting[at] === 0) return;
    this.#isWaiting[at] = 0;
    this.#waiting[node]!--;
  }

  /** After a step: what the core charged since the last one is moved, or stays. */
  stepped(node: number, core: Core): void {
    const storeNs = core.counters[STORE]!;
    const networkNs = core.counters[NETWORK]!;
    if (this.#isSaturated[node] === 1) {
      this.#fromStoreNs += storeNs - this.#storeNs[node]!;
      this.#fromNetworkNs += networkNs - this.#networkNs[node]!;
    }
    this.#storeNs[node] = storeNs;
    this.#networkNs[node] = networkNs;
  }

  /** At the end of an instant. */
  settled(node: number, nowNs: number): void {
    this.#isSaturated[node] = this.#waiting[node]! > 0 && this.#cores[node]!.areTaken(nowNs) ? 1 : 0;
  }

  /** Moves in what the core charged, summed over nodes. */
  applyTo(stallNs: Float64Array): void {
    stallNs[layout.STALL_STORE]! -= this.#fromStoreNs;
    stallNs[layout.STALL_NETWORK]! -= this.#fromNetworkNs;
    stallNs[layout.STALL_CLIENT_CPU]! += this.#fromStoreNs + this.#fromNetworkNs;
  }
}
