// Binary heaps of parts, by (key, tie). A part stands in one heap at a time, so it carries its own key.
import { DUE_HEAP, Part, RETRY_HEAP, partAt } from './tables';
import { state } from './state';

/** Parts that wait for their time: by time, then by sequence. */
export const HEAP_BACKOFF: u32 = 0;
/** Parts whose time has come: by batch, then by age. */
export const HEAP_DUE: u32 = 1;

// @ts-ignore: decorator
@inline
function slot(heap: u32, index: u32): usize {
  return (heap == HEAP_BACKOFF ? RETRY_HEAP : DUE_HEAP) + <usize>(index << 2);
}

// @ts-ignore: decorator
@inline
export function heapLength(heap: u32): u32 {
  return heap == HEAP_BACKOFF ? state.backoff_length : state.due_length;
}

function setLength(heap: u32, length: u32): void {
  if (heap == HEAP_BACKOFF) state.backoff_length = length;
  else state.due_length = length;
}

// @ts-ignore: decorator
@inline
function before(a: Part, b: Part): bool {
  return a.heap_key < b.heap_key || (a.heap_key == b.heap_key && a.heap_tie < b.heap_tie);
}

export function heapPush(heap: u32, part: u32, key: u64, tie: u32): void {
  const entry = partAt(part);
  entry.heap_key = key;
  entry.heap_tie = tie;
  let at = heapLength(heap);
  setLength(heap, at + 1);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = load<u32>(slot(heap, parent));
    if (!before(entry, partAt(above))) break;
    store<u32>(slot(heap, at), above);
    at = parent;
  }
  store<u32>(slot(heap, at), part);
}

/** All keys have changed in place: puts the heap in order again. */
export function heapRebuild(heap: u32): void {
  const length = heapLength(heap);
  setLength(heap, 0);
  for (let i: u32 = 0; i < length; i++) {
    const part = load<u32>(slot(heap, i));
    heapPush(heap, part, partAt(part).heap_key, partAt(part).heap_tie);
  }
}

// @ts-ignore: decorator
@inline
export function heapPart(heap: u32, index: u32): u32 {
  return load<u32>(slot(heap, index));
}

/** The first part; only while the heap is not empty. */
// @ts-ignore: decorator
@inline
export function heapTop(heap: u32): u32 {
  return load<u32>(slot(heap, 0));
}

export function heapPop(heap: u32): u32 {
  const top = heapTop(heap);
  const length = heapLength(heap) - 1;
  setLength(heap, length);
  const last = load<u32>(slot(heap, length));
  let at: u32 = 0;
  for (;;) {
    let child: u32 = 2 * at + 1;
    if (child >= length) break;
    let below = load<u32>(slot(heap, child));
    if (child + 1 < length) {
      const other = load<u32>(slot(heap, child + 1));
      if (before(partAt(other), partAt(below))) {
        child += 1;
        below = other;
      }
    }
    if (!before(partAt(below), partAt(last))) break;
    store<u32>(slot(heap, at), below);
    at = child;
  }
  if (length > 0) store<u32>(slot(heap, at), last);
  return top;
}
