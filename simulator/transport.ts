import * as layout from '../assembly/layout.js';
import {
  codeOf,
  KIND_BODIES,
  KIND_FAILED,
  KIND_FAULT,
  KIND_FIRST_BYTE,
  KIND_OPENED,
  KIND_RECEIVED,
  KIND_SEND,
  KIND_TIMEOUT,
  KIND_TOKENS,
} from './engine/codes.js';
import type { EventQueue } from './engine/event-queue.js';
import {
  SLOT_BODY,
  SLOT_CPU,
  SLOT_DEAD,
  SLOT_OPENING,
  SLOT_OWNED,
  SLOT_QUEUED,
  SLOT_RECEIVING,
  SLOT_WAITING,
  type Slots,
} from './engine/slots.js';
import { type Conditions, Faults } from './faults.js';
import type { Machine } from './machine.js';
import type { RequestObserver } from './observer.js';
import { Stream } from './random.js';
import type { RequestOwner } from './request-owner.js';
import { Bodies } from './stations/bodies.js';
import type { Cores } from './stations/cores.js';
import { RequestCap } from './stations/request-cap.js';

const DRAWS = 3; // of each request, whatever becomes of it

/** The way of a request: client CPU, connection, the store with its cap, latency, errors and faults, body, client CPU. */
export class Transport {
  bytesFetched = 0;
  readonly #machine: Machine;
  readonly #queue: EventQueue;
  readonly #slots: Slots;
  readonly #owner: RequestOwner;
  readonly #observer: RequestObserver | null;
  readonly #cores: readonly Cores[];
  readonly #timeoutNs: number;
  readonly #bodies: Bodies;
  readonly #cap: RequestCap;
  readonly #faults: Faults;
  readonly #draws: Stream[];
  readonly #sent: Float64Array;
  /** Kept connections that no request uses, by node. */
  readonly #idle: Uint32Array;
  readonly #isCut = (slot: number): boolean => this.#slots.state[slot] === SLOT_DEAD;
  #conditions: Conditions = { rateFactor: 1, latencyFactor: 1, errorShare: null, isOut: false };

  /**
   * @param cores by node, of the side where the client runs
   * @param timeoutNs the client's limit from the sent request to the first byte
   */
  constructor(
    machine: Machine,
    queue: EventQueue,
    slots: Slots,
    cores: readonly Cores[],
    timeoutNs: number,
    owner: RequestOwner,
    observer: RequestObserver | null,
  ) {
    this.#machine = machine;
    this.#queue = queue;
    this.#slots = slots;
    this.#owner = owner;
    this.#observer = observer;
    this.#cores = cores;
    this.#timeoutNs = timeoutNs;
    const { nodes, connectionRate, linkRate, storeRate, scenario } = machine;
    const rates = { connection: connectionRate, link: linkRate, store: storeRate };
    this.#bodies = new Bodies(queue, nodes, rates, codeOf(KIND_BODIES, 0));
    this.#cap = new RequestCap(queue, slots, machine.requestsPerS, (slot) => this.#serve(slot, true));
    this.#faults = new Faults(scenario.faults);
    this.#faults.schedule(queue, codeOf(KIND_FAULT, 0));
    this.#conditions = this.#faults.at(0);
    this.#draws = Array.from({ length: nodes }, (_, node) => new Stream(scenario.seed, 'store', node));
    this.#sent = new Float64Array(nodes);
    this.#idle = new Uint32Array(nodes);
    this.#applyRates();
  }

  /** Sends the request in a slot: `bytes` of 0 asks for no body. */
  issue(slot: number): void {
    const { requestNs } = this.#machine.client;
    if (requestNs === 0) return this.#connect(slot);
    this.#slots.state[slot] = SLOT_CPU;
    const cores = this.#cores[this.#slots.node[slot]!]!;
    this.#pushOrdered(cores.submit(this.#queue.nowNs, requestNs), KIND_SEND, slot);
  }

  /** Ends a request before its time; returns the bytes that came. The owner is not told. */
  cancel(slot: number): number {
    const bytes = this.#cut(slot);
    this.#slots.release(slot);
    return bytes;
  }

  /** An event of one of this class's kinds. */
  happened(kind: number, argument: number): void {
    switch (kind) {
      case KIND_BODIES:
        return this.#bodiesDue(argument);
      case KIND_TOKENS:
        return this.#cap.due();
      case KIND_FAULT:
        return this.#conditionsChange();
      default:
        if (this.#slots.unname(argument)) this.#slotEvent(kind, argument);
    }
  }

  #slotEvent(kind: number, slot: number): void {
    switch (kind) {
      case KIND_SEND:
        return this.#connect(slot);
      case KIND_OPENED:
        return this.#arrive(slot);
      case KIND_FIRST_BYTE:
        return this.#firstByte(slot);
      case KIND_RECEIVED:
        this.#slots.state[slot] = SLOT_OWNED;
        return this.#owner.received(slot);
      case KIND_FAILED:
        return this.#fail(slot, this.#slots.failure[slot]!);
      case KIND_TIMEOUT: {
        const state = this.#slots.state[slot];
        if (state === SLOT_WAITING || state === SLOT_QUEUED)
          this.#fail(slot, layout.CLASS_TIMEOUT_FIRST_BYTE);
        return;
      }
      default:
        throw new Error(`no event of kind ${kind} belongs to the store`);
    }
  }

  // ---- the request ------------------------------------------------------------------------------

  #connect(slot: number): void {
    const node = this.#slots.node[slot]!;
    this.#slots.state[slot] = SLOT_OPENING;
    this.#owner.sent(slot);
    if (this.#conditions.isOut) return this.#failAfter(slot, this.#machine.rttNs, layout.CLASS_CONNECT);
    if (this.#idle[node]! > 0) {
      this.#idle[node]!--;
      return this.#arrive(slot);
    }
    if (this.#machine.rttNs === 0) return this.#arrive(slot);
    this.#push(this.#queue.nowNs + this.#machine.rttNs, KIND_OPENED, slot);
  }

  #arrive(slot: number): void {
    this.#slots.sentNs[slot] = this.#queue.nowNs;
    if (this.#cap.take()) return this.#serve(slot, false);
    if (this.#machine.queuesOverLimit) {
      this.#slots.state[slot] = SLOT_QUEUED;
      this.#owner.held(slot);
      this.#push(this.#queue.nowNs + this.#timeoutNs, KIND_TIMEOUT, slot);
      return this.#cap.enqueue(slot);
    }
    this.#slots.state[slot] = SLOT_WAITING;
    this.#failAfter(slot, this.#machine.rttNs, layout.CLASS_THROTTLED);
  }

  /** @param hasQueued its time-out was pushed when it began to queue */
  #serve(slot: number, hasQueued: boolean): void {
    if (hasQueued) this.#owner.sent(slot);
    const queue = this.#queue;
    const { store } = this.#machine.scenario;
    const node = this.#slots.node[slot]!;
    const first = DRAWS * this.#sent[node]!++;
    const draws = this.#draws[node]!;
    this.#slots.state[slot] = SLOT_WAITING;
    const errorShare = this.#conditions.errorShare ?? store.error_share;
    const fate = errorShare + store.hang_share > 0 ? draws.at(first) : 1;
    const answerNs = queue.nowNs + this.#latencyNs(draws, first);
    const limitNs = this.#slots.sentNs[slot]! + this.#timeoutNs;
    if (fate < store.hang_share || answerNs > limitNs) {
      if (!hasQueued) this.#push(limitNs, KIND_TIMEOUT, slot);
    } else if (fate < store.hang_share + errorShare) {
      this.#failAfter(slot, answerNs - queue.nowNs, layout.CLASS_SERVER);
    } else {
      this.#push(answerNs, KIND_FIRST_BYTE, slot);
    }
  }

  #latencyNs(draws: Stream, first: number): number {
    const { firstByte, scenario } = this.#machine;
    const { share, factor } = scenario.store.slow_tail;
    const ms = firstByte.constant ?? firstByte.at(draws.at(first + 1));
    const tail = share > 0 && draws.at(first + 2) < share ? factor : 1;
    return Math.round(ms * tail * this.#conditions.latencyFactor * 1e6);
  }

  #firstByte(slot: number): void {
    const slots = this.#slots;
    slots.firstByteNs[slot] = this.#queue.nowNs;
    this.#owner.firstByte(slot);
    if (slots.bytes[slot] === 0) return this.#bodyIsWhole(slot);
    slots.state[slot] = SLOT_BODY;
    slots.name(slot);
    slots.end[slot] = this.#bodies.begin(slots.node[slot]!, slot, slots.bytes[slot]!);
  }

  #bodiesDue(node: number): void {
    if (!this.#bodies.fired(node)) return;
    if (!this.#bodies.sharesStore) return this.#takeBodies(node);
    for (let at = 0; at < this.#machine.nodes; at++) if (this.#bodies.isDue(at)) this.#takeBodies(at);
    this.#bodies.rearm(0);
  }

  #takeBodies(node: number): void {
    for (;;) {
      const slot = this.#bodies.takeWhole(node, this.#isCut);
      if (slot < 0) break;
      if (this.#slots.unname(slot)) this.#bodyIsWhole(slot);
    }
    if (!this.#bodies.sharesStore) this.#bodies.rearm(node);
  }

  #bodyIsWhole(slot: number): void {
    const slots = this.#slots;
    const node = slots.node[slot]!;
    const bytes = slots.bytes[slot]!;
    this.bytesFetched += bytes;
    this.#idle[node]!++;
    this.#observer?.request(node, slots.sentNs[slot]!, slots.firstByteNs[slot]!, this.#queue.nowNs, bytes, 0);
    const cpuNs = Math.round(bytes * this.#machine.client.nsPerByte);
    if (cpuNs === 0) {
      slots.state[slot] = SLOT_OWNED;
      return this.#owner.received(slot);
    }
    slots.state[slot] = SLOT_RECEIVING;
    this.#owner.bodyCame(slot);
    this.#push(this.#cores[node]!.submit(this.#queue.nowNs, cpuNs), KIND_RECEIVED, slot);
  }

  // ---- failures ---------------------------------------------------------------------------------

  #failAfter(slot: number, waitNs: number, failureClass: number): void {
    this.#slots.failure[slot] = failureClass;
    this.#push(this.#queue.nowNs + waitNs, KIND_FAILED, slot);
  }

  #fail(slot: number, failureClass: number): void {
    const slots = this.#slots;
    const node = slots.node[slot]!;
    // An answer leaves its connection as it was; everything else ends it.
    if (failureClass === layout.CLASS_THROTTLED || failureClass === layout.CLASS_SERVER) this.#idle[node]!++;
    const bytes = this.#cut(slot);
    const sentNs = slots.state[slot] === SLOT_OPENING ? this.#queue.nowNs : slots.sentNs[slot]!;
    this.#observer?.request(node, sentNs, this.#queue.nowNs, this.#queue.nowNs, bytes, failureClass);
    this.#owner.failed(slot, failureClass, bytes);
    slots.release(slot);
  }

  /** Takes a body off its way; returns the bytes that came. */
  #cut(slot: number): number {
    const slots = this.#slots;
    if (slots.state[slot] === SLOT_RECEIVING) return slots.bytes[slot]!;
    if (slots.state[slot] !== SLOT_BODY) return 0;
    const missing = this.#bodies.cut(slots.node[slot]!, slots.end[slot]!);
    const bytes = Math.floor(Math.max(0, slots.bytes[slot]! - missing));
    this.bytesFetched += bytes;
    return bytes;
  }

  #conditionsChange(): void {
    const wasOut = this.#conditions.isOut;
    this.#conditions = this.#faults.at(this.#queue.nowNs);
    this.#applyRates();
    if (this.#conditions.isOut && !wasOut) this.#cutAll();
  }

  #applyRates(): void {
    this.#bodies.setStoreFactor(this.#conditions.rateFactor);
    this.#cap.setFactor(this.#conditions.rateFactor);
  }

  #cutAll(): void {
    this.#idle.fill(0);
    for (let slot = 0; slot < this.#slots.used; slot++) {
      const state = this.#slots.state[slot]!;
      if (state >= SLOT_OPENING && state <= SLOT_BODY) this.#fail(slot, layout.CLASS_RESET);
    }
  }

  #push(atNs: number, kind: number, slot: number): void {
    this.#slots.name(slot);
    this.#queue.push(atNs, codeOf(kind, slot));
  }

  #pushOrdered(atNs: number, kind: number, slot: number): void {
    this.#slots.name(slot);
    this.#queue.pushOrdered(atNs, codeOf(kind, slot));
  }
}
