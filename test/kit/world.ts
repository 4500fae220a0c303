import type * as layout from '../../assembly/layout.js';
import { FAILURE_CLASSES, type FailureName } from '../../runtime-node/engine/failure.js';
import type { Draw } from './draws.js';
import type { SamplePlace } from './probe.js';

/** A request as a virtual store sees it. */
export interface VirtualRequest {
  row: number;
  offset: number;
  length: number;
  attempt: number;
  hedge: boolean;
  nowNs: number;
  /** Requests that the store had been sent before this one. */
  index: number;
}

export interface VirtualFault {
  class: FailureName;
  /** From the request to the failure. */
  afterNs: number;
  retryAfterNs?: number;
}

/** A store, a network and trainers in virtual time. Everything random comes from `draw`. */
export interface World {
  seed: number;
  /** Where a row's sample is; default: object = row, offset 0, `sampleBytes` long. */
  place?: (row: number) => SamplePlace;
  sampleBytes?: number;
  /** From the request to the first byte. */
  firstByteNs: (request: VirtualRequest, draw: Draw) => number;
  /** Rate of one connection; default: the body arrives with its first byte. */
  bytesPerS?: number;
  /** What goes wrong with a request; null: nothing. */
  fault?: (request: VirtualRequest, draw: Draw) => VirtualFault | null;
  /** Requests a second that the store takes; above it, 503 at once. A token bucket 0.1 s deep. */
  requestsPerS?: (nowNs: number) => number;
  /** The same cap, shared with other feeders of `runWorlds`. */
  cap?: RequestCap;
  /** False: no byte is moved or compared, so that samples may have their real sizes in tables of timings. Default true. */
  checkBytes?: boolean;
  /** Compute time of a batch. */
  stepNs: number;
  /** From a CANCEL to the attempt's end, unless it ends by itself before; default 0. */
  cancelNs?: number;
  /** Time of a move from staging to landing memory. */
  placeNs?: number;
  /** What goes wrong with a move. */
  placeFault?: (draw: Draw) => boolean;
  /** New memory budgets, by virtual time. */
  limits?: readonly { atNs: number; bytes: number }[];
  stopAtNs?: number;
  /** Virtual time after which a run counts as hanging. */
  giveUpNs?: number;
  /** Attempts report FIRST_BYTE; default true. */
  reportFirstByte?: boolean;
}

/** A token bucket in virtual time. */
export class RequestCap {
  /** Requests refused so far. */
  refused = 0;
  readonly #rate: (nowNs: number) => number;
  #tokens: number;
  #lastNs = 0;

  constructor(rate: (nowNs: number) => number) {
    this.#rate = rate;
    this.#tokens = rate(0) * 0.1;
  }

  /** True: the request is served. A refused request takes no token. */
  take(nowNs: number): boolean {
    const rate = this.#rate(nowNs);
    this.#tokens = Math.min(rate * 0.1, this.#tokens + ((nowNs - this.#lastNs) * rate) / 1e9);
    this.#lastNs = nowNs;
    if (this.#tokens < 1) {
      this.refused++;
      return false;
    }
    this.#tokens -= 1;
    return true;
  }
}

export function classOf(name: FailureName): number {
  return FAILURE_CLASSES[name];
}

/** Names of the causes of stalls, by their number in the core. */
export const STALL_NAMES = [
  'start',
  'store',
  'throttle',
  'network',
  'client_cpu',
  'host_work',
  'memory',
  'transfer',
  'barrier',
] as const satisfies { length: typeof layout.STALL_CAUSES };
