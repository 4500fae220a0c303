import { closeSync, openSync, readSync } from 'node:fs';
import * as layout from '../../assembly/layout.js';
import type { Core } from '../core.js';
import { ConfigError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { readable } from '../input-file.js';
import { option, words } from '../wording.js';
import * as format from './trace-format.js';

const CHUNK_RECORDS = 16384;

/** One step of a trace: `count` event records from word `firstWord` of `words`, valid until the next one is read. */
export interface TraceStep {
  nowNs: number;
  count: number;
  words: Uint32Array;
  firstWord: number;
  /** The run hash before the step, as it was recorded. */
  hashBefore: string;
}

/** How a trace ended; known when all its steps were read. */
export interface TraceEnd {
  /** Null where the trace was cut off (the run was killed). */
  recordedRunHash: string | null;
  /** True where the trace was not closed, or ends inside a step. */
  truncated: boolean;
}

/** A trace file, read step by step: memory does not grow with its length. */
export class Trace {
  readonly header: format.TraceHeader;
  readonly path: string;
  end: TraceEnd | null = null;
  readonly #fd: number;

  /** @throws ConfigError `bad_trace` */
  constructor(path: string) {
    this.path = path;
    try {
      this.#fd = openSync(readable(path), 'r');
    } catch (cause) {
      throw badTrace(path, `it cannot be read: ${fileProblem(cause)}`);
    }
    const bytes = Buffer.alloc(layout.TRACE_HEADER_BYTES);
    const header = format.decodeHeader(bytes.subarray(0, readFully(this.#fd, bytes, 0)));
    if (typeof header === 'string') {
      closeSync(this.#fd);
      throw badTrace(path, header);
    }
    this.header = header;
  }

  /** All whole steps, once; closes the file. @throws ConfigError `bad_trace` where a record cannot be. */
  *steps(): Generator<TraceStep> {
    const bytes = Buffer.alloc(CHUNK_RECORDS * layout.RECORD_BYTES);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
    const doubles = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length >> 3);
    let next = 0; // record
    let held = 0; // bytes
    const hashAt = (word: number): string =>
      format.hashText(words[word + layout.TRACE_W_HASH_LO]!, words[word + layout.TRACE_W_HASH_HI]!);
    const have = (records: number): boolean => {
      if ((next + records) * layout.RECORD_BYTES <= held) return true;
      bytes.copyWithin(0, next * layout.RECORD_BYTES, held);
      held -= next * layout.RECORD_BYTES;
      next = 0;
      held += readFully(this.#fd, bytes, held);
      return records * layout.RECORD_BYTES <= held;
    };
    try {
      for (;;) {
        if (!have(1)) break;
        let word = next * layout.RECORD_WORDS;
        const kind = words[word]!;
        if (kind === layout.TRACE_END) {
          this.end = { recordedRunHash: hashAt(word), truncated: false };
          return;
        }
        const count = words[word + layout.TRACE_W_COUNT]!;
        if (kind !== layout.TRACE_STEP || count > layout.EVENT_RING_RECORDS) {
          throw badTrace(
            this.path,
            `a record of kind ${kind} with count ${count} stands where a step should begin`,
          );
        }
        if (!have(1 + count)) break;
        word = next * layout.RECORD_WORDS;
        yield {
          nowNs: doubles[(word >> 1) + layout.D_TIME_NS]!,
          count,
          words,
          firstWord: word + layout.RECORD_WORDS,
          hashBefore: hashAt(word),
        };
        next += 1 + count;
      }
      this.end = { recordedRunHash: null, truncated: true };
    } finally {
      closeSync(this.#fd);
    }
  }
}

/** Opens a trace and checks its header. @throws ConfigError `bad_trace` */
export function readTrace(path: string): Trace {
  return new Trace(path);
}

export interface ReplayResult {
  run_hash: string;
  /** Null where the trace was cut off. */
  recorded_run_hash: string | null;
  /**
   * The core did what it did when the trace was recorded: compared before every step, and at the end where the trace has one. A trace
   * without a whole step, with which there is nothing to compare, is refused.
   */
  match: boolean;
  events: number;
  steps: number;
  truncated: boolean;
  /** The first step before which the hashes differ; null where none does. */
  first_difference: number | null;
}

/** Runs a trace through a freshly loaded core. @throws ConfigError `bad_trace`, also where the core refuses its configuration */
export function replayTrace(core: Core, trace: Trace): ReplayResult {
  initCore(core, trace);
  let events = 0;
  let steps = 0;
  let firstDifference: number | null = null;
  for (const step of trace.steps()) {
    if (firstDifference === null && core.runHash !== step.hashBefore) firstDifference = steps;
    for (let i = 0; i < step.count; i++)
      core.events.raw(step.words, step.firstWord + i * layout.RECORD_WORDS);
    core.step(step.nowNs);
    while (core.action() >= 0);
    events += step.count;
    steps++;
  }
  if (steps === 0) throw withoutSteps(trace);
  const { recordedRunHash, truncated } = trace.end ?? { recordedRunHash: null, truncated: true };
  const match = firstDifference === null && (recordedRunHash === null || recordedRunHash === core.runHash);
  return {
    run_hash: core.runHash,
    recorded_run_hash: recordedRunHash,
    match,
    events,
    steps,
    truncated,
    first_difference: firstDifference,
  };
}

/**
 * Reads a trace to its end, for hosts that cannot say what is wrong with one.
 * @throws ConfigError `bad_trace`, as `replayTrace` would
 */
export function checkTrace(core: Core, trace: Trace): void {
  initCore(core, trace);
  let steps = 0;
  for (const _step of trace.steps()) steps++;
  if (steps === 0) throw withoutSteps(trace);
}

function initCore(core: Core, { header, path }: Trace): void {
  try {
    core.init(header.config);
  } catch (cause) {
    if (!(cause instanceof ConfigError || cause instanceof WebAssembly.RuntimeError)) throw cause;
    throw badTrace(path, `its configuration is damaged: ${cause.message}`);
  }
}

/** A trace with which a replay has nothing to compare. */
function withoutSteps({ path }: Trace): ConfigError {
  return new ConfigError(
    'bad_trace',
    `the trace ${path} cannot be replayed: it holds no whole step, so there is nothing to compare`,
    'record it again: a feed writes the first step as soon as it is open',
    { option: 'trace', file: path },
  );
}

function readFully(fd: number, into: Buffer, from: number): number {
  let read = 0;
  while (from + read < into.length) {
    const got = readSync(fd, into, from + read, into.length - from - read, null);
    if (got === 0) break;
    read += got;
  }
  return read;
}

function badTrace(file: string, what: string): ConfigError {
  return new ConfigError(
    'bad_trace',
    `the trace ${file} cannot be replayed: ${what}`,
    words`name a file that ${option('trace')} of this version wrote`,
    {
      option: 'trace',
      file,
    },
  );
}
