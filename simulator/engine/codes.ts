// What can happen. An event is one 32-bit code: its kind in the high 8 bits, and in the low 24 what it is about, a slot of the
// request table, a node, a worker.

const ARGUMENT_BITS = 24;
export const ARGUMENT_MASK = (1 << ARGUMENT_BITS) - 1;
/** Most slots, nodes or workers that a code can name. */
export const MOST_ARGUMENTS = 1 << ARGUMENT_BITS;

export const KIND_SEND = 1; // slot: the client's CPU for the request is spent
export const KIND_OPENED = 2; // slot: the connection stands
export const KIND_FIRST_BYTE = 3; // slot
export const KIND_FAILED = 4; // slot: an answer that is no body, or a connection that cannot be had
export const KIND_TIMEOUT = 5; // slot: no first byte within the client's limit
export const KIND_BODIES = 6; // node: a body may be whole
export const KIND_RECEIVED = 7; // slot: the client's CPU for the body is spent
export const KIND_TOKENS = 8; // the store may take a request that queues
export const KIND_FAULT = 9; // a fault begins or ends
export const KIND_COPIED_ON_HOST = 10; // node: the copy that ran is done
export const KIND_COPIED_ON_DPU = 11; // node
export const KIND_AT_HOST = 12; // slot: came over the link from the DPU
export const KIND_RELAYED = 13; // slot: the relay's CPU is spent
export const KIND_HOST_COPY_DONE = 14; // slot
export const KIND_LANDED = 15; // slot: in GPU memory
export const KIND_STEP_END = 16; // node
export const KIND_HOST_WORK = 17; // node: one sample's host work is done
export const KIND_RESUME = 18; // node: a checkpoint's pause is over
export const KIND_DEADLINE = 19; // node: the core wanted to be stepped
export const KIND_CANCELLED = 20; // slot: a cancelled attempt reports
export const KIND_CLIENT_COPY_DONE = 21; // slot: the client's own copy of a body
export const KIND_RETRY = 22; // worker: its wait before a retry is over
export const KIND_SAMPLE = 23; // the observer looks

export function codeOf(kind: number, argument: number): number {
  return ((kind << ARGUMENT_BITS) | argument) >>> 0;
}

export function kindOf(code: number): number {
  return code >>> ARGUMENT_BITS;
}
