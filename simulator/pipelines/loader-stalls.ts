import * as layout from '../../assembly/layout.js';

/** Charges each GPU's wait for its next batch to what the worker that makes this batch does meanwhile. */
export class LoaderStalls {
  readonly stallNs = new Float64Array(layout.STALL_CAUSES);
  /** By GPU of all nodes: the worker that is waited for, or -1. */
  readonly #worker: Int32Array;
  readonly #sinceNs: Float64Array;
  /** 1 once a batch came: before that all waiting is the start's. */
  readonly #hasBegun: Uint8Array;
  /** What each worker does, STALL_*. */
  readonly #cause: Uint8Array;
  readonly #workersPerGpu: number;

  constructor(gpus: number, workersPerGpu: number) {
    this.#worker = new Int32Array(gpus).fill(-1);
    this.#sinceNs = new Float64Array(gpus);
    this.#hasBegun = new Uint8Array(gpus);
    this.#cause = new Uint8Array(gpus * workersPerGpu).fill(layout.STALL_CLIENT_CPU);
    this.#workersPerGpu = workersPerGpu;
  }

  /** A worker goes on to something else. */
  set(nowNs: number, worker: number, cause: number): void {
    if (this.#cause[worker] === cause) return;
    const gpu = Math.floor(worker / this.#workersPerGpu);
    if (this.#worker[gpu] === worker) this.#charge(nowNs, gpu);
    this.#cause[worker] = cause;
  }

  /** A GPU is idle until `worker` has made its batch. */
  begin(nowNs: number, gpu: number, worker: number): void {
    this.#worker[gpu] = worker;
    this.#sinceNs[gpu] = nowNs;
  }

  /** The batch that a GPU may have waited for is there. */
  end(nowNs: number, gpu: number): void {
    if (this.#worker[gpu]! >= 0) this.#charge(nowNs, gpu);
    this.#worker[gpu] = -1;
    this.#hasBegun[gpu] = 1;
  }

  /** Charges what is still open. */
  stop(nowNs: number): void {
    this.#worker.forEach((worker, gpu) => {
      if (worker >= 0) this.#charge(nowNs, gpu);
    });
  }

  #charge(nowNs: number, gpu: number): void {
    const cause = this.#hasBegun[gpu] === 1 ? this.#cause[this.#worker[gpu]!]! : layout.STALL_START;
    this.stallNs[cause]! += nowNs - this.#sinceNs[gpu]!;
    this.#sinceNs[gpu] = nowNs;
  }
}
