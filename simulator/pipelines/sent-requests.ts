import { SLOT_CPU, SLOT_RECEIVING, type Slots } from '../engine/slots.js';

const ENTRIES_OF_ONE_NODE = 32768;
const ENTRIES_OF_MANY = 2048;

/**
 * Finds the slot of an attempt that the core wants cancelled. A table with one entry for each low part of an id remembers the last
 * slot that was sent with it; where another one took the entry since, all slots are searched, which is right and slow.
 */
export class SentRequests {
  readonly #slots: Slots;
  readonly #entries: Uint32Array;
  readonly #mask: number;

  constructor(slots: Slots, nodes: number) {
    this.#slots = slots;
    const entries = nodes === 1 ? ENTRIES_OF_ONE_NODE : ENTRIES_OF_MANY;
    this.#entries = new Uint32Array(nodes * entries);
    this.#mask = entries - 1;
  }

  add(slot: number): void {
    const { node, tag, attempt } = this.#slots;
    this.#entries[this.#entryOf(node[slot]!, tag[slot]!, attempt[slot]!)] = slot;
  }

  /** The slot of an attempt that is still under way, or -1. */
  find(node: number, id: number, attempt: number): number {
    const likely = this.#entries[this.#entryOf(node, id, attempt)]!;
    if (this.#is(likely, node, id, attempt)) return likely;
    for (let slot = 0; slot < this.#slots.used; slot++) if (this.#is(slot, node, id, attempt)) return slot;
    return -1;
  }

  /** Attempts of one request, of which two may be under way, lie beside each other. */
  #entryOf(node: number, id: number, attempt: number): number {
    return node * (this.#mask + 1) + ((2 * id + (attempt & 1)) & this.#mask);
  }

  #is(slot: number, node: number, id: number, attempt: number): boolean {
    const { state, tag, attempt: attempts, node: nodes } = this.#slots;
    if (tag[slot] !== id || attempts[slot] !== attempt || nodes[slot] !== node) return false;
    return state[slot]! >= SLOT_CPU && state[slot]! <= SLOT_RECEIVING;
  }
}
