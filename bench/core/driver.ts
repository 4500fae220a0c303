import * as layout from '../../assembly/layout.js';
import type { Core } from '../../runtime-node/core.js';
import { RequestQueue } from './request-queue.js';

export const SAMPLE_BYTES = 110_000;
/** Virtual time from a request to its end. */
const LATENCY_NS = 20e6;
/** Open work is bounded by the window; queues have room to spare. */
const QUEUE_CAPACITY = 1 << 18;
const MOST_ATTEMPTS = 65_536; // of one request

/**
 * Keeps a core in the middle of a long epoch, as the feed's pump does but without a store: events by the methods of the
 * ring, a step, every action read as numbers. Each action leads to the event that answers it. Virtual time, so no clock is read.
 */
export class CoreDriver {
  readonly #core: Core;
  readonly #sent: RequestQueue;
  readonly #moving: RequestQueue;
  readonly #movingMost: number;
  readonly #tickNs: number;
  readonly #resolveSlots = new Uint32Array(QUEUE_CAPACITY);
  readonly #resolveRows = new Float64Array(QUEUE_CAPACITY);
  #resolveHead = 0;
  #resolveTail = 0;
  readonly #deliveredEpochs = new Uint32Array(QUEUE_CAPACITY);
  readonly #deliveredBatches = new Uint32Array(QUEUE_CAPACITY);
  #deliveredHead = 0;
  #deliveredTail = 0;
  #isWaiting = false;
  /** Attempts to end as cancelled; hedges are few, so mostly empty. */
  readonly #cancelled = new Set<number>();
  /** Transfers of hedges, done at once: id and attempt in turn; few. */
  readonly #placed: number[] = [];
  #nowNs = 0;
  /** Folds what was read, so that no read is idle. */
  #seen = 0;
  events = 0;
  actions = 0;
  steps = 0;

  /** @param window requests in flight */
  constructor(core: Core, window: number) {
    this.#core = core;
    const spread = Math.max(1, Math.min(64, window >> 3));
    this.#sent = new RequestQueue(QUEUE_CAPACITY, spread);
    this.#moving = new RequestQueue(QUEUE_CAPACITY, spread);
    this.#movingMost = window >> 1;
    this.#tickNs = Math.floor(LATENCY_NS / window);
    this.#step();
  }

  get inFlight(): number {
    return this.#sent.length + this.#moving.length;
  }

  get seen(): number {
    return this.#seen;
  }

  /** Feeds at least `events` events, `each` of them a step. */
  run(events: number, each: number): void {
    const end = this.events + events;
    while (this.events < end) {
      for (let i = 0; i < each; i++) if (!this.#pushNext()) break;
      this.#step();
    }
  }

  /** Steps without an event. */
  runEmpty(steps: number): void {
    for (let i = 0; i < steps; i++) this.#step();
  }

  /** Writes the event that comes next in this world; false: only a step can bring one. */
  #pushNext(): boolean {
    const { events } = this.#core;
    if (this.#resolveHead !== this.#resolveTail) {
      const at = this.#resolveHead++ & (QUEUE_CAPACITY - 1);
      const row = this.#resolveRows[at]!;
      events.resolved(this.#nowNs, this.#resolveSlots[at]!, row, 0, SAMPLE_BYTES);
    } else if (this.#placed.length > 0) {
      const attempt = this.#placed.pop()!;
      events.placed(this.#nowNs, this.#placed.pop()!, attempt);
    } else if (this.#deliveredHead !== this.#deliveredTail) {
      const at = this.#deliveredHead++ & (QUEUE_CAPACITY - 1);
      events.consumed(this.#nowNs, 0, this.#deliveredEpochs[at]!, this.#deliveredBatches[at]!);
      this.#isWaiting = this.#deliveredHead === this.#deliveredTail;
    } else if (this.#isWaiting) {
      events.waiting(this.#nowNs, 0);
      this.#isWaiting = false;
    } else if (!this.#pushAnswer()) return false;
    this.events++;
    return true;
  }

  /** First bytes and ends in turn, so that half of the requests have a body under way. */
  #pushAnswer(): boolean {
    const { events } = this.#core;
    if (this.#sent.length > 0 && this.#moving.length < this.#movingMost) {
      const id = this.#sent.take();
      const { attempt } = this.#sent;
      if (this.#isCancelled(id, attempt)) {
        events.failed(this.#nowNs, id, attempt, layout.CLASS_CANCELLED, 0, 0, 0);
      } else {
        events.firstByte(this.#nowNs, id, attempt);
        this.#moving.push(id, attempt);
      }
      return true;
    }
    if (this.#moving.length === 0) return false;
    this.#nowNs += this.#tickNs;
    const id = this.#moving.take();
    const { attempt } = this.#moving;
    if (this.#isCancelled(id, attempt))
      events.failed(this.#nowNs, id, attempt, layout.CLASS_CANCELLED, 0, 0, 0);
    else events.fetched(this.#nowNs, id, attempt, SAMPLE_BYTES);
    return true;
  }

  #isCancelled(id: number, attempt: number): boolean {
    return this.#cancelled.size > 0 && this.#cancelled.delete(id * MOST_ATTEMPTS + attempt);
  }

  #step(): void {
    const core = this.#core;
    do {
      core.step(this.#nowNs);
      this.steps++;
      for (let word = core.action(); word >= 0; word = core.action()) this.#act(word);
    } while (core.more);
    if (core.error !== layout.ERROR_NONE) throw new Error(`core error ${core.error}, ${core.errorDetail}`);
    this.#seen += core.deadlineNs === Number.POSITIVE_INFINITY ? 0 : 1;
  }

  #act(word: number): void {
    const { u32, f64 } = this.#core;
    const half = word >> 1;
    this.actions++;
    const consumer = u32[word + layout.W_CONSUMER]!;
    const id = u32[word + layout.W_ID]!;
    const attempt = u32[word + layout.W_ATTEMPT]!;
    switch (u32[word]) {
      case layout.ACTION_RESOLVE: {
        const at = this.#resolveTail++ & (QUEUE_CAPACITY - 1);
        this.#resolveSlots[at] = id;
        this.#resolveRows[at] = f64[half + layout.RESOLVE_D_ROW]!;
        return;
      }
      case layout.ACTION_FETCH:
        this.#seen +=
          f64[half + layout.FETCH_D_ROW]! +
          f64[half + layout.FETCH_D_OFFSET]! +
          f64[half + layout.FETCH_D_LENGTH]! +
          f64[half + layout.FETCH_D_TARGET]! +
          u32[word + layout.FETCH_W_FLAGS]!;
        this.#sent.push(id, attempt);
        return;
      case layout.ACTION_CANCEL:
        this.#cancelled.add(id * MOST_ATTEMPTS + attempt);
        return;
      case layout.ACTION_PLACE:
        this.#placed.push(id, attempt);
        return;
      case layout.ACTION_DELIVER: {
        const at = this.#deliveredTail++ & (QUEUE_CAPACITY - 1);
        this.#deliveredEpochs[at] = u32[word + layout.W_EPOCH]!;
        this.#deliveredBatches[at] = u32[word + layout.W_BATCH]!;
        this.#seen += f64[half + layout.DELIVER_D_OFFSET]! + f64[half + layout.DELIVER_D_BYTES]! + consumer;
        return;
      }
      case layout.ACTION_SAMPLE:
        this.#seen +=
          f64[half + layout.SAMPLE_D_ROW]! +
          f64[half + layout.SAMPLE_D_OFFSET]! +
          f64[half + layout.SAMPLE_D_LENGTH]! +
          f64[half + layout.SAMPLE_D_TARGET]! +
          u32[word + layout.SAMPLE_W_FLAGS]!;
        return;
      default:
        throw new Error(`an action of kind ${u32[word]} has no place in this epoch`);
    }
  }
}
