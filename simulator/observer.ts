import type { PipelineName } from './scenario/types.js';

/** Told of every attempt that ends; times in virtual nanoseconds. */
export interface RequestObserver {
  /**
   * @param firstByteNs equal to `endNs` where none came
   * @param failureClass CLASS_* of the core's layout; 0: the body came
   */
  request(
    node: number,
    sentNs: number,
    firstByteNs: number,
    endNs: number,
    bytes: number,
    failureClass: number,
  ): void;
}

/** What a node looks like at one instant. */
export interface NodeSample {
  /** Compute of all GPUs of the node so far, ns. */
  busyNs: number;
  /** Window of the policy, bytes; 0 for clients without one. */
  windowBytes: number;
  /** Requests under way. */
  inFlight: number;
  memoryBytes: number;
  /** Requests that the policy would have under way at most; 0 for clients without such a limit. */
  concurrencyLimit: number;
}

/**
 * Looks on while a pipeline runs; it never changes what happens. Every method may be left out, and what is left out costs
 * nothing. The objects handed over are reused: copy what is kept.
 */
export interface Observer extends Partial<RequestObserver> {
  /** Virtual time between two calls of `sample`, ns; default: none. */
  readonly sampleEveryNs?: number;
  /** @param stalledNs waits charged up to now, by STALL_*, of all GPUs together; may be asked at any time of the run */
  begin?(pipeline: PipelineName, nodes: number, gpus: number, stalledNs: () => Float64Array): void;
  sample?(nowNs: number, node: number, state: Readonly<NodeSample>): void;
  /** All GPUs of a node computed one step. */
  step?(node: number, epoch: number, batch: number, startNs: number, endNs: number): void;
  /** A GPU's batch came; `waitedNs` is how long its GPU had been idle for it. */
  delivered?(node: number, gpu: number, epoch: number, batch: number, nowNs: number, waitedNs: number): void;
  end?(nowNs: number): void;
}
