import type { NodeSample } from '../observer.js';
import type { Feeder } from '../trainer.js';

/** Counters of a pipeline's client over a whole run. */
export interface ClientTotals {
  requests: number;
  headRequests: number;
  retries: number;
  hedges: number;
  throttles: number;
  /** Reads that failed after all their attempts and were begun again. */
  givenUp: number;
  bytesFetched: number;
  memoryPeakBytes: number;
  /** Waits that the client itself charged, by STALL_*. */
  stallNs: Float64Array;
  coreEvents: number;
  /** Of each node. */
  hashes: { lo: number; hi: number }[];
}

/** Why a run ended before its last batch. */
export interface RunFailure {
  code: number;
  failureClass: number;
  row: number;
  atNs: number;
  neededBytes: number;
  limitBytes: number;
}

/** What the run needs of a client, whichever it is. */
export interface Client extends Feeder {
  readonly failure: RunFailure | null;
  start(): void;
  /** An event of the client's own kinds. */
  happened(kind: number, argument: number): void;
  /** Nothing more is due at this instant: what was put off to its end is done now. */
  settle(): void;
  /** The run ends here, before its last batch: charges the waits that are still open. */
  stop(): void;
  /** Writes what a node looks like now. */
  look(node: number, into: NodeSample): void;
  totals(): ClientTotals;
}
