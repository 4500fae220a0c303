import type { CompletionSink } from './engine.js';
import type { FailureClass } from './failure.js';

const FIRST_BYTE = 0;
const FETCHED = 1;
const FAILED = 2;
const U32S = 4; // kind | class << 8, id, attempt, status
const F64S = 3; // time, bytes, retry-after

/**
 * Completions on their way to the core, as numbers in typed arrays: a ring that allocates only when it must grow
 * (its size follows the number of attempts whose end was not drained yet).
 */
export class CompletionRing {
  private u32 = new Uint32Array(0);
  private f64 = new Float64Array(0);
  private mask = -1;
  private head = 0;
  private tail = 0;

  /** @param capacity records to start with, a power of two */
  constructor(capacity: number) {
    this.resize(capacity);
  }

  get waiting(): number {
    return this.tail - this.head;
  }

  clear(): void {
    this.head = this.tail;
  }

  pushFirstByte(id: number, attempt: number, timeNs: number): void {
    this.push(FIRST_BYTE, id, attempt, 0, timeNs, 0, 0);
  }

  pushFetched(id: number, attempt: number, bytes: number, timeNs: number): void {
    this.push(FETCHED, id, attempt, 0, timeNs, bytes, 0);
  }

  pushFailed(
    id: number,
    attempt: number,
    failureClass: FailureClass,
    status: number,
    retryAfterNs: number,
    bytes: number,
    timeNs: number,
  ): void {
    this.push(FAILED | (failureClass << 8), id, attempt, status, timeNs, bytes, retryAfterNs);
  }

  /** Moves up to `max` records into the sink, oldest first. */
  drain(sink: CompletionSink, max: number): number {
    const count = Math.min(max, this.waiting);
    for (let n = 0; n < count; n++) {
      const at = this.head++ & this.mask;
      const u = at * U32S;
      const f = at * F64S;
      const kind = this.u32[u]!;
      const id = this.u32[u + 1]!;
      const attempt = this.u32[u + 2]!;
      const timeNs = this.f64[f]!;
      const bytes = this.f64[f + 1]!;
      if (kind === FIRST_BYTE) sink.firstByte(id, attempt, timeNs);
      else if (kind === FETCHED) sink.fetched(id, attempt, bytes, timeNs);
      else {
        const failureClass = (kind >>> 8) as FailureClass;
        sink.failed(id, attempt, failureClass, this.u32[u + 3]!, this.f64[f + 2]!, bytes, timeNs);
      }
    }
    return count;
  }

  private push(
    kind: number,
    id: number,
    attempt: number,
    status: number,
    timeNs: number,
    bytes: number,
    retryAfterNs: number,
  ): void {
    if (this.waiting > this.mask) this.resize((this.mask + 1) * 2);
    const at = this.tail++ & this.mask;
    const u = at * U32S;
    const f = at * F64S;
    this.u32[u] = kind;
    this.u32[u + 1] = id;
    this.u32[u + 2] = attempt;
    this.u32[u + 3] = status;
    this.f64[f] = timeNs;
    this.f64[f + 1] = bytes;
    this.f64[f + 2] = retryAfterNs;
  }

  private resize(capacity: number): void {
    const { u32, f64, mask, head } = this;
    const count = this.waiting;
    this.u32 = new Uint32Array(capacity * U32S);
    this.f64 = new Float64Array(capacity * F64S);
    this.mask = capacity - 1;
    for (let n = 0; n < count; n++) {
      const at = (head + n) & mask;
      this.u32.set(u32.subarray(at * U32S, (at + 1) * U32S), n * U32S);
      this.f64.set(f64.subarray(at * F64S, (at + 1) * F64S), n * F64S);
    }
    this.head = 0;
    this.tail = count;
  }
}
