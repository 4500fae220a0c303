import type { CompletionSink, FetchFailure, GetEngine } from '../../runtime-node/engine/engine.js';
import { FAILURE_CLASSES, type FailureName } from '../../runtime-node/engine/failure.js';
import type { VirtualTime } from './virtual-time.js';

/** What becomes of one attempt: its latency, and how it ends. */
export interface Fate {
  latencyNs: number;
  /** Absent: it succeeds. `hang`: it never ends by itself. */
  fails?: FailureName | 'hang';
  status?: number;
}

export interface FakeRequest {
  row: number;
  offset: number;
  length: number;
  attempt: number;
}

export interface FakeEngineOptions {
  time: VirtualTime;
  key: (row: number) => string;
  /** The byte at a place of the row's object. */
  byteAt: (row: number, at: number) => number;
  fate: (request: FakeRequest) => Fate;
}

type Completion = (sink: CompletionSink) => void;

/** An engine without a network: what happens is a function of the request, and when is virtual time. */
export class FakeEngine implements GetEngine {
  readonly name = 'portable';
  onWake: (() => void) | null = null;
  readonly requests: FakeRequest[] = [];
  /** Most attempts at one time. */
  peak = 0;
  closed = false;
  readonly checksums = { checked: 0, unchecked: 0 };
  readonly #options: FakeEngineOptions;
  readonly #open = new Map<string, () => void>();
  readonly #failures = new Map<number, FetchFailure>();
  #completions: Completion[] = [];
  #isArmed = false;

  constructor(options: FakeEngineOptions) {
    this.#options = options;
  }

  get(
    id: number,
    attempt: number,
    row: number,
    offset: number,
    length: number,
    memory: Uint8Array,
    at = 0,
  ): void {
    const target = memory.subarray(at, at + length);
    const { time, byteAt, fate, key } = this.#options;
    if (this.closed) throw new Error('get after close');
    if (target.length !== length || length < 1)
      throw new Error(`target of ${target.length} bytes for ${length}`);
    const request = { row, offset, length, attempt };
    this.requests.push(request);
    const { latencyNs, fails, status = 0 } = fate(request);
    const name = `${id}/${attempt}`;
    if (fails === 'hang') {
      this.#open.set(name, () => {});
    } else {
      const takeBack = time.after(latencyNs, () => {
        this.#open.delete(name);
        const now = time.nowNs();
        if (fails) {
          this.#failures.set(id, {
            class: FAILURE_CLASSES[fails],
            message: `made to fail: ${fails}`,
            key: key(row),
            status,
          });
          this.#complete((sink) => sink.failed(id, attempt, FAILURE_CLASSES[fails], status, 0, 0, now));
          return;
        }
        for (let i = 0; i < length; i++) target[i] = byteAt(row, offset + i);
        this.#complete((sink) => sink.firstByte(id, attempt, now));
        this.#complete((sink) => sink.fetched(id, attempt, length, now));
      });
      this.#open.set(name, takeBack);
    }
    this.peak = Math.max(this.peak, this.#open.size);
  }

  cancel(id: number, attempt: number): void {
    const takeBack = this.#open.get(`${id}/${attempt}`);
    if (!takeBack) return;
    takeBack();
    this.#open.delete(`${id}/${attempt}`);
    const now = this.#options.time.nowNs();
    this.#complete((sink) => sink.failed(id, attempt, FAILURE_CLASSES.cancelled, 0, 0, 0, now));
  }

  drain(sink: CompletionSink, max: number): number {
    const taken = this.#completions.splice(0, max);
    for (const complete of taken) complete(sink);
    return taken.length;
  }

  arm(): void {
    this.#isArmed = true;
    this.#wake();
  }

  failure(id: number): FetchFailure | undefined {
    return this.#failures.get(id);
  }

  get sockets(): number {
    return this.#open.size;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const takeBack of this.#open.values()) takeBack();
    this.#open.clear();
    this.#completions = [];
  }

  #complete(completion: Completion): void {
    this.#completions.push(completion);
    this.#wake();
  }

  #wake(): void {
    if (!this.#isArmed || this.#completions.length === 0) return;
    this.#isArmed = false;
    this.onWake?.();
  }
}
