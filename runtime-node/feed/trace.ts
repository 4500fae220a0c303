import { closeSync, openSync, writeSync } from 'node:fs';
import * as layout from '../../assembly/layout.js';
import type { Core } from '../core.js';
import { Os2gError } from '../errors.js';
import { fileProblem, writeMend } from '../file-problem.js';
import { beginningOf } from '../output-files.js';
import * as format from './trace-format.js';

const CHUNK_BYTES = 1 << 20;
const STEP_BYTES = layout.RECORD_BYTES * (layout.EVENT_RING_RECORDS + 1);
/** Between two writes, on the feed's clock: what a kill takes from the end of a trace. */
const FLUSH_NS = 1e9;
const HASH_WORD = layout.HEADER_OFFSET / 4 + layout.HEAD_HASH_LO;

/** Whether a file begins as a trace does. */
export function looksLikeTrace(path: string): boolean {
  const begin = beginningOf(path, format.TRACE_MAGIC.length).toString('latin1');
  return format.TRACE_MAGIC.startsWith(begin);
}

/**
 * Records what a core is given, as it is given: each step with its time and its event records. The first step is written at
 * once, then a second's steps or 1 MiB together, and the rest at the end: after `kill -9` the last of them are missing and the rest
 * replays.
 */
export class TraceFile {
  readonly #path: string;
  readonly #core: Core;
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  readonly #view = new DataView(this.#chunk.buffer, this.#chunk.byteOffset, CHUNK_BYTES);
  readonly #memory: Uint8Array;
  #used = 0;
  #steps = 0;
  #events = 0;
  #flushedNs = Number.NEGATIVE_INFINITY;
  #fd: number | null = null;

  /**
   * Begins a trace. The core must have been given `config` and no step yet.
   * @throws Os2gError `trace_write`
   */
  constructor(path: string, core: Core, config: Float64Array) {
    this.#path = path;
    this.#core = core;
    this.#memory = new Uint8Array(core.u32.buffer);
    this.#fd = this.#guard(() => openSync(path, 'w', 0o644));
    this.#append(format.encodeHeader({ coreSha256: core.sha256, abi: layout.ABI_VERSION, config }));
    this.#flush();
    core.onStep = (nowNs, first, count) => this.#step(nowNs, first, count);
  }

  #step(nowNs: number, first: number, count: number): void {
    if (this.#used + STEP_BYTES > CHUNK_BYTES) this.#flush();
    this.#record(layout.TRACE_STEP, count);
    this.#view.setFloat64(this.#used - layout.RECORD_BYTES + layout.D_TIME_NS * 8, nowNs, true);
    for (let taken = 0; taken < count; ) {
      const from = this.#core.eventWord(first + taken) * 4;
      const untilWrap =
        (layout.EVENT_RING_OFFSET + layout.EVENT_RING_RECORDS * layout.RECORD_BYTES - from) /
        layout.RECORD_BYTES;
      const run = Math.min(count - taken, untilWrap);
      this.#append(this.#memory.subarray(from, from + run * layout.RECORD_BYTES));
      taken += run;
    }
    this.#steps++;
    this.#events += count;
    if (nowNs - this.#flushedNs < FLUSH_NS) return;
    this.#flush();
    this.#flushedNs = nowNs;
  }

  /** Ends the trace with the run hash; further steps are not recorded. */
  close(): void {
    const fd = this.#fd;
    if (fd === null) return;
    this.#core.onStep = null;
    try {
      if (this.#used + layout.RECORD_BYTES > CHUNK_BYTES) this.#flush();
      this.#record(layout.TRACE_END, 0);
      const at = this.#used - layout.RECORD_BYTES;
      this.#view.setFloat64(at + format.TRACE_D_STEPS * 8, this.#steps, true);
      this.#view.setFloat64(at + format.TRACE_D_EVENTS * 8, this.#events, true);
      this.#flush();
    } finally {
      this.#fd = null;
      closeSync(fd);
    }
  }

  /** A record that is not an event: with the run hash as it is now. */
  #record(kind: number, count: number): void {
    const at = this.#used;
    this.#chunk.fill(0, at, at + layout.RECORD_BYTES);
    this.#view.setUint32(at, kind, true);
    this.#view.setUint32(at + layout.TRACE_W_COUNT * 4, count, true);
    this.#view.setUint32(at + layout.TRACE_W_HASH_LO * 4, this.#core.u32[HASH_WORD]!, true);
    this.#view.setUint32(at + layout.TRACE_W_HASH_HI * 4, this.#core.u32[HASH_WORD + 1]!, true);
    this.#used += layout.RECORD_BYTES;
  }

  #append(bytes: Uint8Array): void {
    this.#chunk.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  #flush(): void {
    const fd = this.#fd;
    for (let done = 0; fd !== null && done < this.#used; ) {
      done += this.#guard(() => writeSync(fd, this.#chunk, done, this.#used - done));
    }
    this.#used = 0;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw new Os2gError(
        'trace_write',
        `the trace cannot be written to ${this.#path}: ${fileProblem(cause)}`,
        writeMend(cause),
        { option: 'trace', file: this.#path, cause },
      );
    }
  }
}
