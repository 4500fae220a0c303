import type { NodeSample, Observer } from '../observer.js';
import type { PipelineName } from '../scenario/types.js';
import { Histogram } from './histogram.js';

/** What a run looked like over time; all nodes together. */
export interface Series {
  /** Virtual time of each point. */
  timeNs: number[];
  /** Compute of all GPUs up to the point. */
  busyNs: number[];
  windowBytes: number[];
  inFlight: number[];
  memoryBytes: number[];
  concurrencyLimit: number[];
}

/** One step of a node's GPUs and the wait before it. */
export interface StepRecord {
  node: number;
  epoch: number;
  batch: number;
  startNs: number;
  endNs: number;
  /** The wait before the step by STALL_*, mean of the GPUs; null in a run of several nodes, where causes are not told apart. */
  stallNs: Float64Array | null;
}

export interface RequestRecord {
  node: number;
  sentNs: number;
  firstByteNs: number;
  endNs: number;
  bytes: number;
  /** CLASS_*; 0: the body came. */
  failureClass: number;
}

/** What an observer kept of one pipeline's run. */
export interface RunRecord {
  pipeline: PipelineName;
  nodes: number;
  gpus: number;
  endNs: number;
  series: Series;
  /** From the sent request to the first byte, and to the last one; of requests that got their body. */
  firstByte: Histogram;
  whole: Histogram;
  failedRequests: number;
  steps: StepRecord[];
  requests: RequestRecord[];
}

export interface RecorderOptions {
  /** About how long the run will be; the first distance between two points follows from it. */
  expectedNs: number;
  /** Steps to keep; the rest of the run is in the series only. */
  maxSteps: number;
  /** Requests to keep, the first ones of the run. */
  maxRequests: number;
  /** Nodes whose steps and requests are kept. */
  maxNodes: number;
}

const MAX_POINTS = 1024;
const LEAST_DISTANCE_NS = 1000;

/**
 * Keeps a bounded picture of a run of any length: where the points become too many, every second one goes and the distance
 * doubles. What it keeps depends on the run alone.
 */
export class Recorder implements Observer {
  sampleEveryNs: number;
  readonly record: RunRecord;
  readonly #options: RecorderOptions;
  readonly #sum: NodeSample = { busyNs: 0, windowBytes: 0, inFlight: 0, memoryBytes: 0, concurrencyLimit: 0 };
  #stalledNs: () => Float64Array = () => new Float64Array();
  #stalledBefore: Float64Array = new Float64Array();

  constructor(pipeline: PipelineName, options: RecorderOptions) {
    this.#options = options;
    this.sampleEveryNs = Math.max(LEAST_DISTANCE_NS, Math.ceil(options.expectedNs / MAX_POINTS));
    this.record = {
      pipeline,
      nodes: 1,
      gpus: 1,
      endNs: 0,
      series: {
        timeNs: [],
        busyNs: [],
        windowBytes: [],
        inFlight: [],
        memoryBytes: [],
        concurrencyLimit: [],
      },
      firstByte: new Histogram(),
      whole: new Histogram(),
      failedRequests: 0,
      steps: [],
      requests: [],
    };
  }

  begin(_pipeline: PipelineName, nodes: number, gpus: number, stalledNs: () => Float64Array): void {
    this.record.nodes = nodes;
    this.record.gpus = gpus;
    this.#stalledNs = stalledNs;
    this.#stalledBefore = stalledNs();
  }

  sample(nowNs: number, node: number, state: Readonly<NodeSample>): void {
    const sum = this.#sum;
    const isFirst = node === 0;
    sum.busyNs = state.busyNs + (isFirst ? 0 : sum.busyNs);
    sum.windowBytes = state.windowBytes + (isFirst ? 0 : sum.windowBytes);
    sum.inFlight = state.inFlight + (isFirst ? 0 : sum.inFlight);
    sum.memoryBytes = state.memoryBytes + (isFirst ? 0 : sum.memoryBytes);
    sum.concurrencyLimit = state.concurrencyLimit + (isFirst ? 0 : sum.concurrencyLimit);
    if (node < this.record.nodes - 1) return;
    const { series } = this.record;
    series.timeNs.push(nowNs);
    series.busyNs.push(sum.busyNs);
    series.windowBytes.push(sum.windowBytes);
    series.inFlight.push(sum.inFlight);
    series.memoryBytes.push(sum.memoryBytes);
    series.concurrencyLimit.push(sum.concurrencyLimit);
    if (series.timeNs.length > MAX_POINTS) this.#thin();
  }

  #thin(): void {
    const { series } = this.record;
    for (const name of Object.keys(series) as (keyof Series)[])
      series[name] = series[name].filter((_, i) => i % 2 === 0);
    this.sampleEveryNs *= 2;
  }

  step(node: number, epoch: number, batch: number, startNs: number, endNs: number): void {
    const { steps, nodes, gpus } = this.record;
    if (node >= this.#options.maxNodes || steps.length >= this.#options.maxSteps) return;
    let stallNs: Float64Array | null = null;
    if (nodes === 1) {
      const stalled = this.#stalledNs();
      stallNs = stalled.map((ns, cause) => (ns - this.#stalledBefore[cause]!) / gpus);
      this.#stalledBefore = stalled;
    }
    steps.push({ node, epoch, batch, startNs, endNs, stallNs });
  }

  request(
    node: number,
    sentNs: number,
    firstByteNs: number,
    endNs: number,
    bytes: number,
    failureClass: number,
  ): void {
    const { record } = this;
    if (failureClass === 0) {
      record.firstByte.add(firstByteNs - sentNs);
      record.whole.add(endNs - sentNs);
    } else {
      record.failedRequests++;
    }
    if (node >= this.#options.maxNodes || record.requests.length >= this.#options.maxRequests) return;
    record.requests.push({ node, sentNs, firstByteNs, endNs, bytes, failureClass });
  }

  end(nowNs: number): void {
    this.record.endNs = nowNs;
  }
}

/** Share of the GPUs' time in which they computed, between each point of a record and the one before. */
export function busyShares({ series, nodes, gpus }: RunRecord): number[] {
  return series.timeNs.map((timeNs, i) => {
    if (i === 0) return 0;
    const spanNs = (timeNs - series.timeNs[i - 1]!) * nodes * gpus;
    return (series.busyNs[i]! - series.busyNs[i - 1]!) / spanNs;
  });
}
