import { codeOf, KIND_TOKENS } from '../engine/codes.js';
import type { EventQueue } from '../engine/event-queue.js';
import { SLOT_DEAD, type Slots } from '../engine/slots.js';
import { TokenBucket } from './token-bucket.js';

/** The store's cap on requests, and those that queue for it where it queues. */
export class RequestCap {
  readonly #queue: EventQueue;
  readonly #slots: Slots;
  readonly #bucket: TokenBucket;
  readonly #serve: (slot: number) => void;
  #waiting = new Uint32Array(64);
  #head = 0;
  #tail = 0;
  #dueNs = Number.POSITIVE_INFINITY;

  /**
   * @param perS Infinity: no cap
   * @param serve told of a slot that queued and has its token now
   */
  constructor(queue: EventQueue, slots: Slots, perS: number, serve: (slot: number) => void) {
    this.#queue = queue;
    this.#slots = slots;
    this.#bucket = new TokenBucket(perS);
    this.#serve = serve;
  }

  /** True: the request is served now. Nobody overtakes those that queue. */
  take(): boolean {
    return this.#head === this.#tail && this.#bucket.take(this.#queue.nowNs);
  }

  enqueue(slot: number): void {
    this.#slots.name(slot);
    if (this.#tail === this.#waiting.length) this.#makeRoom();
    this.#waiting[this.#tail++] = slot;
    if (this.#tail - this.#head === 1) this.#arm();
  }

  /** The event for the next token came. */
  due(): void {
    // An event that a change of the rate overtook is void.
    if (this.#queue.nowNs !== this.#dueNs) return;
    this.#dueNs = Number.POSITIVE_INFINITY;
    while (this.#head !== this.#tail) {
      const slot = this.#waiting[this.#head]!;
      if (this.#slots.state[slot] !== SLOT_DEAD && !this.#bucket.take(this.#queue.nowNs)) break;
      this.#head++;
      if (this.#slots.unname(slot)) this.#serve(slot);
    }
    if (this.#head !== this.#tail) this.#arm();
  }

  /** From now on the cap is `factor` times what it was built with. */
  setFactor(factor: number): void {
    this.#bucket.setFactor(this.#queue.nowNs, factor);
    if (this.#head !== this.#tail) this.#arm();
  }

  #arm(): void {
    this.#dueNs = this.#bucket.nextNs(this.#queue.nowNs);
    this.#queue.push(this.#dueNs, codeOf(KIND_TOKENS, 0));
  }

  #makeRoom(): void {
    const waiting = this.#tail - this.#head;
    const larger = 2 * waiting > this.#waiting.length ? 2 * this.#waiting.length : this.#waiting.length;
    const room = new Uint32Array(larger);
    room.set(this.#waiting.subarray(this.#head, this.#tail));
    this.#waiting = room;
    this.#head = 0;
    this.#tail = waiting;
  }
}
