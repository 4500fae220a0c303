import { failureName } from '../../runtime-node/engine/failure.js';
import type { RequestRecord, RunRecord, StepRecord } from '../report/recorder.js';
import { STALL_NAMES } from '../run.js';

/**
 * One event of Chrome's trace event format, which https://ui.perfetto.dev reads ("Trace Event Format", JSON array of events:
 * `ph` is the kind, `ts` and `dur` are microseconds, `pid` and `tid` name the track).
 */
export interface TraceEvent {
  /** M: names of tracks; X: a span; C: counters; b, e: begin and end of a span that may overlap others, matched by `cat` and `id`. */
  ph: 'M' | 'X' | 'C' | 'b' | 'e';
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  cat?: string;
  id?: string;
  args?: Record<string, string | number>;
}

const GPU_TRACK = 1;
const REQUEST_TRACK = 2;
const MIB = 1048576;
const microseconds = (ns: number): number => ns / 1000;

/** The timeline of several pipelines, each of their nodes a process, as the text of a JSON file. */
export function timelineText(scenario: string, records: readonly RunRecord[]): string {
  const events = timelineEvents(records).map((event) => JSON.stringify(event));
  const otherData = JSON.stringify({ scenario, clock: 'virtual time of the simulation' });
  return `{"displayTimeUnit":"ms","otherData":${otherData},"traceEvents":[\n${events.join(',\n')}\n]}\n`;
}

/** All events of the timeline, those of a track in order of their time. */
export function timelineEvents(records: readonly RunRecord[]): TraceEvent[] {
  let pid = 0;
  return records.flatMap((record) => {
    const shown = new Set([
      0,
      ...record.steps.map(({ node }) => node),
      ...record.requests.map(({ node }) => node),
    ]);
    return [...shown].sort((a, b) => a - b).flatMap((node) => nodeEvents(record, node, ++pid));
  });
}

function nodeEvents(record: RunRecord, node: number, pid: number): TraceEvent[] {
  const steps = record.steps.filter((step) => step.node === node);
  const requests = record.requests.filter((request) => request.node === node);
  const name = record.nodes > 1 ? `${record.pipeline}, node ${node}` : record.pipeline;
  return [
    meta('process_name', pid, 0, { name }),
    meta('process_sort_index', pid, 0, { sort_index: pid }),
    meta('thread_name', pid, GPU_TRACK, { name: record.gpus > 1 ? `${record.gpus} GPUs` : 'GPU' }),
    ...gpuEvents(steps, pid),
    ...(node === 0 ? counterEvents(record, pid) : []),
    ...requestEvents(requests, pid),
  ];
}

function meta(name: string, pid: number, tid: number, args: Record<string, string | number>): TraceEvent {
  return { ph: 'M', name, pid, tid, ts: 0, args };
}

function gpuEvents(steps: readonly StepRecord[], pid: number): TraceEvent[] {
  let beforeNs = 0;
  return steps.flatMap((step) => {
    const waits = waitEvents(step, beforeNs, pid);
    beforeNs = step.endNs;
    return [
      ...waits,
      span('compute', pid, step.startNs, step.endNs, { epoch: step.epoch, batch: step.batch }),
    ];
  });
}

/** The causes of one wait one after the other, in the order of their names: how they took turns within it is not kept. */
function waitEvents({ stallNs, startNs, batch }: StepRecord, beforeNs: number, pid: number): TraceEvent[] {
  const gapNs = startNs - beforeNs;
  if (gapNs <= 0) return [];
  if (!stallNs) return [span('wait', pid, beforeNs, startNs, { batch })];
  const chargedNs = stallNs.reduce((a, b) => a + b, 0);
  let atNs = beforeNs;
  return STALL_NAMES.flatMap((cause, i) => {
    // A wait that only some GPUs had is drawn with its mean, within the gap.
    const ns = chargedNs > gapNs ? Math.floor((stallNs[i]! / chargedNs) * gapNs) : Math.floor(stallNs[i]!);
    if (ns < 1) return [];
    const startedNs = atNs;
    atNs += ns;
    return [span(`wait: ${cause}`, pid, startedNs, atNs, { batch })];
  });
}

function span(
  name: string,
  pid: number,
  startNs: number,
  endNs: number,
  args: Record<string, string | number>,
): TraceEvent {
  const dur = microseconds(endNs - startNs);
  return { ph: 'X', name, pid, tid: GPU_TRACK, ts: microseconds(startNs), dur, args };
}

/** Counters hold for all nodes together. */
function counterEvents({ series, nodes }: RunRecord, pid: number): TraceEvent[] {
  const where = nodes > 1 ? ' (all nodes)' : '';
  const counters: [string, string, (i: number) => number][] = [
    ['requests in flight', 'requests', (i) => series.inFlight[i]!],
    ['memory', 'MiB', (i) => series.memoryBytes[i]! / MIB],
  ];
  if (series.windowBytes.some((bytes) => bytes > 0)) {
    counters.push(['window', 'MiB', (i) => series.windowBytes[i]! / MIB]);
    counters.push(['concurrency limit', 'requests', (i) => series.concurrencyLimit[i]!]);
  }
  return counters.flatMap(([name, unit, valueAt]) =>
    series.timeNs.map((timeNs, i): TraceEvent => {
      const args = { [unit]: valueAt(i) };
      return { ph: 'C', name: `${name}${where}`, pid, tid: 0, ts: microseconds(timeNs), args };
    }),
  );
}

/** Each request with its two parts inside: until the first byte, and the body. */
function requestEvents(requests: readonly RequestRecord[], pid: number): TraceEvent[] {
  const events = requests.flatMap((request, i) => {
    const { sentNs, firstByteNs, endNs, bytes, failureClass } = request;
    const edge = (ph: 'b' | 'e', name: string, ns: number, args?: TraceEvent['args']): TraceEvent => ({
      ph,
      name,
      cat: 'request',
      id: `${pid}.${i}`,
      pid,
      tid: REQUEST_TRACK,
      ts: microseconds(ns),
      ...(args ? { args } : {}),
    });
    const outcome = failureClass === 0 ? 'body' : failureName(failureClass);
    return [
      edge('b', 'request', sentNs, { bytes, outcome }),
      edge('b', 'first byte', sentNs),
      edge('e', 'first byte', firstByteNs),
      ...(endNs > firstByteNs ? [edge('b', 'body', firstByteNs), edge('e', 'body', endNs)] : []),
      edge('e', 'request', endNs),
    ];
  });
  // Sorting is stable: of one request, what was pushed first stays first.
  return events.sort((a, b) => a.ts - b.ts);
}
