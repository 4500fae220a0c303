import type { EventQueue } from '../engine/event-queue.js';
import { FlowHeap } from './flow-heap.js';

const NEVER = Number.POSITIVE_INFINITY;

export interface BodyRates {
  /** Bytes a nanosecond: of one connection, of a node's link, and of the store for all nodes together; Infinity: no limit. */
  connection: number;
  link: number;
  store: number;
}

/**
 * Bodies on their way, max-min fair: each moves at the least of its connection's rate and its fair shares of the node's link and
 * of the store's total (water-filling over the nodes), all at once. All bodies of a node move alike, so each node has one
 * clock of "bytes served to each body", and a body ends when the clock has gone its length further (Parekh and Gallager's
 * virtual time of generalised processor sharing): an arrival or an end costs the logarithm of the bodies, not their number.
 */
export class Bodies {
  readonly #queue: EventQueue;
  readonly #rates: BodyRates;
  readonly #dueCode: number;
  readonly #heaps: FlowHeap[];
  /** Bodies that move, by node; those that were taken out still lie in the heap. */
  readonly #moving: Uint32Array;
  readonly #clock: Float64Array;
  readonly #clockNs: Float64Array;
  readonly #rate: Float64Array;
  /** When the event that was pushed for a node is due; later ends need no other one. */
  readonly #armedNs: Float64Array;
  readonly #dueNs: Float64Array;
  readonly #isShared: boolean;
  #storeFactor = 1;

  /** @param dueCode event code for node 0; a node's own is `dueCode + node`, or `dueCode` where nodes share the store's rate */
  constructor(queue: EventQueue, nodes: number, rates: BodyRates, dueCode: number) {
    this.#queue = queue;
    this.#rates = rates;
    this.#dueCode = dueCode;
    this.#heaps = Array.from({ length: nodes }, () => new FlowHeap());
    this.#moving = new Uint32Array(nodes);
    this.#clock = new Float64Array(nodes);
    this.#clockNs = new Float64Array(nodes);
    this.#rate = new Float64Array(nodes);
    this.#armedNs = new Float64Array(nodes).fill(NEVER);
    this.#dueNs = new Float64Array(nodes).fill(NEVER);
    this.#isShared = nodes > 1 && rates.store !== NEVER;
  }

  /** Begins a body; returns the clock at which it will be whole. */
  begin(node: number, slot: number, bytes: number): number {
    this.#advance(node);
    if (this.#heaps[node]!.size === 0) this.#clock[node] = 0;
    const end = this.#clock[node]! + bytes;
    this.#heaps[node]!.push(end, slot);
    this.#moving[node]!++;
    this.#changed(node);
    return end;
  }

  /** Takes a body out before its end; returns the bytes that it lacks. Its slot still comes out of `takeWhole` in time. */
  cut(node: number, end: number): number {
    this.#advance(node);
    this.#moving[node]!--;
    this.#changed(node);
    return Math.max(0, end - this.#clock[node]!);
  }

  /**
   * The next whole body of a node, or -1; call until it is -1, then `rearm`.
   * @param isCut whether the body in this slot was taken out before
   */
  takeWhole(node: number, isCut: (slot: number) => boolean): number {
    const heap = this.#heaps[node]!;
    this.#advance(node);
    // The clock is a sum of products: a body counts as whole when it lacks less than their rounding errors.
    // Where nothing moves, only bodies that were cut lie in the heap.
    if (heap.size === 0) return -1;
    if (this.#moving[node]! > 0 && heap.firstEnd > this.#clock[node]! * (1 + 1e-14) + 1e-6) return -1;
    const slot = heap.pop();
    if (!isCut(slot)) this.#moving[node]!--;
    return slot;
  }

  /** The due event of a node (or of all) fired; true: look for whole bodies. */
  fired(node: number): boolean {
    // An event that an earlier one overtook is void.
    if (this.#armedNs[node] !== this.#queue.nowNs) return false;
    this.#armedNs[node] = NEVER;
    if (this.#isShared) return true;
    if (this.#dueNs[node]! <= this.#queue.nowNs) return true;
    this.#arm(node, this.#dueNs[node]!);
    return false;
  }

  /** After `takeWhole`: rates and the next due event. */
  rearm(node: number): void {
    this.#changed(node);
  }

  get sharesStore(): boolean {
    return this.#isShared;
  }

  /** A node's bodies may be whole now. */
  isDue(node: number): boolean {
    return this.#dueNs[node]! <= this.#queue.nowNs;
  }

  /** From now on the store's rates (connection and total) are `factor` times what they were built with. */
  setStoreFactor(factor: number): void {
    for (let node = 0; node < this.#rate.length; node++) this.#advance(node);
    this.#storeFactor = factor;
    for (let node = 0; node < this.#rate.length; node++) this.#changed(node);
  }

  #advance(node: number): void {
    const nowNs = this.#queue.nowNs;
    this.#clock[node]! += (nowNs - this.#clockNs[node]!) * this.#rate[node]!;
    this.#clockNs[node] = nowNs;
  }

  #changed(node: number): void {
    if (this.#isShared) return this.#shareStore();
    const moving = this.#moving[node]!;
    const store = (this.#rates.store * this.#storeFactor) / moving;
    this.#rate[node] = moving === 0 ? 0 : Math.min(this.#nodeRate(moving), store);
    this.#setDue(node);
    if (this.#dueNs[node]! < this.#armedNs[node]!) this.#arm(node, this.#dueNs[node]!);
  }

  /** What each of a node's bodies could have if the store were not the limit. */
  #nodeRate(moving: number): number {
    return Math.min(this.#rates.connection * this.#storeFactor, this.#rates.link / moving);
  }

  #setDue(node: number): void {
    this.#dueNs[node] = this.#dueAt(node);
  }

  #dueAt(node: number): number {
    const heap = this.#heaps[node]!;
    if (heap.size === 0) return NEVER;
    const left = heap.firstEnd - this.#clock[node]!;
    if (left <= 0 || this.#moving[node] === 0) return this.#queue.nowNs;
    return this.#queue.nowNs + Math.ceil(left / this.#rate[node]! - 1e-9);
  }

  #arm(node: number, atNs: number): void {
    this.#armedNs[node] = atNs;
    this.#queue.push(atNs, this.#dueCode + node);
  }

  // Several nodes under one total: raise the water until the store is full; nodes that need less than the level keep what
  // they need, the others have the level.
  #shareStore(): void {
    const nodes = this.#rate.length;
    let firstNs = NEVER;
    const level = this.#level(nodes);
    for (let node = 0; node < nodes; node++) {
      const moving = this.#moving[node]!;
      const rate = moving === 0 ? 0 : Math.min(this.#nodeRate(moving), level);
      if (rate !== this.#rate[node]) {
        this.#advance(node);
        this.#rate[node] = rate;
      }
      this.#advance(node);
      this.#setDue(node);
      if (this.#dueNs[node]! < firstNs) firstNs = this.#dueNs[node]!;
    }
    if (firstNs < this.#armedNs[0]!) this.#arm(0, firstNs);
  }

  #level(nodes: number): number {
    const total = this.#rates.store * this.#storeFactor;
    let bodies = 0;
    for (let node = 0; node < nodes; node++) bodies += this.#moving[node]!;
    if (bodies === 0) return NEVER;
    let level = total / bodies;
    for (let round = 0; round < 64; round++) {
      let used = 0;
      let wanting = 0;
      for (let node = 0; node < nodes; node++) {
        const moving = this.#moving[node]!;
        if (moving === 0) continue;
        const need = this.#nodeRate(moving);
        if (need <= level) used += need * moving;
        else wanting += moving;
      }
      if (wanting === 0) return NEVER;
      const next = (total - used) / wanting;
      if (next <= level * (1 + 1e-12)) return level;
      level = next;
    }
    return level;
  }
}
