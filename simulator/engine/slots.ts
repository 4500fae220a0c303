import { MOST_ARGUMENTS } from './codes.js';
import { grownDoubles, grownWords } from './event-queue.js';

export const SLOT_FREE = 0;
export const SLOT_CPU = 1; // the client works on the request
export const SLOT_OPENING = 2; // its connection is set up
export const SLOT_QUEUED = 3; // the store's cap holds it back
export const SLOT_WAITING = 4; // sent; no first byte yet
export const SLOT_BODY = 5;
export const SLOT_RECEIVING = 6; // the client works on the body
export const SLOT_OWNED = 7; // done with the store; its owner moves it on
export const SLOT_DEAD = 8; // over; events that still name it are void

/** Requests and transfers under way: a table of typed arrays with a free list. */
export class Slots {
  node = new Uint32Array(256);
  gpu = new Uint32Array(256);
  /** What the owner knows it by. */
  tag = new Uint32Array(256);
  attempt = new Uint32Array(256);
  state = new Uint32Array(256);
  failure = new Uint32Array(256);
  bytes = new Float64Array(256);
  sentNs = new Float64Array(256);
  firstByteNs = new Float64Array(256);
  /** Clock of the node's bodies at which this one is whole. */
  end = new Float64Array(256);
  /** Events and queues that name the slot: it is free again when the last of them has come. */
  #named = new Uint32Array(256);
  #next = new Uint32Array(256);
  #free = 0xffffffff;
  #used = 0;

  /** Slots that were ever used: all live ones are below. */
  get used(): number {
    return this.#used;
  }

  take(node: number, gpu: number, tag: number, attempt: number, bytes: number): number {
    let slot = this.#free;
    if (slot !== 0xffffffff) this.#free = this.#next[slot]!;
    else {
      slot = this.#used++;
      if (slot === this.state.length) this.#grow();
    }
    this.node[slot] = node;
    this.gpu[slot] = gpu;
    this.tag[slot] = tag;
    this.attempt[slot] = attempt;
    this.bytes[slot] = bytes;
    this.state[slot] = SLOT_OWNED;
    this.#named[slot] = 0;
    return slot;
  }

  /** An event or a queue names the slot from now on. */
  name(slot: number): void {
    this.#named[slot]!++;
  }

  /** A naming is used up; false: the slot was over before. */
  unname(slot: number): boolean {
    this.#named[slot]!--;
    if (this.state[slot] !== SLOT_DEAD) return true;
    if (this.#named[slot] === 0) this.#giveBack(slot);
    return false;
  }

  /** The slot is over. */
  release(slot: number): void {
    this.state[slot] = SLOT_DEAD;
    if (this.#named[slot] === 0) this.#giveBack(slot);
  }

  #giveBack(slot: number): void {
    this.state[slot] = SLOT_FREE;
    this.#next[slot] = this.#free;
    this.#free = slot;
  }

  #grow(): void {
    const capacity = 2 * this.state.length;
    if (capacity > MOST_ARGUMENTS) throw new RangeError(`more than ${MOST_ARGUMENTS} requests under way`);
    this.node = grownWords(this.node, capacity);
    this.gpu = grownWords(this.gpu, capacity);
    this.tag = grownWords(this.tag, capacity);
    this.attempt = grownWords(this.attempt, capacity);
    this.state = grownWords(this.state, capacity);
    this.failure = grownWords(this.failure, capacity);
    this.bytes = grownDoubles(this.bytes, capacity);
    this.sentNs = grownDoubles(this.sentNs, capacity);
    this.firstByteNs = grownDoubles(this.firstByteNs, capacity);
    this.end = grownDoubles(this.end, capacity);
    this.#named = grownWords(this.#named, capacity);
    this.#next = grownWords(this.#next, capacity);
  }
}
