// The action ring: one way to emit a record. Callers ask for room first; the record is zeroed here, so that no stale word
// reaches the hash.
import {
  ACTION_RING_OFFSET,
  ACTION_RING_RECORDS,
  COUNTER_ACTIONS,
  HEAD_ACTION_HEAD,
  HEAD_ACTION_TAIL,
  RECORD_BYTES,
  W_CONSUMER,
  W_KIND,
} from './layout';
import { hashRecord } from './hash';
import { count, headWord, setHeadWord } from './state';

// @ts-ignore: decorator
@inline
export function actionRoom(): u32 {
  return <u32>ACTION_RING_RECORDS - (headWord(HEAD_ACTION_TAIL) - headWord(HEAD_ACTION_HEAD));
}

/** The next free record, zeroed; `commitAction` makes it visible. */
export function beginAction(kind: u32, consumer: u32): usize {
  const record: usize = <usize>ACTION_RING_OFFSET + <usize>((headWord(HEAD_ACTION_TAIL) & (ACTION_RING_RECORDS - 1)) * RECORD_BYTES);
  // Plain stores: a bulk fill of so few bytes costs a call.
  for (let at: usize = 0; at < <usize>RECORD_BYTES; at += 8) store<u64>(record + at, 0);
  store<u32>(record + 4 * W_KIND, kind);
  store<u32>(record + 4 * W_CONSUMER, consumer);
  return record;
}

export function commitAction(record: usize): void {
  hashRecord(record);
  setHeadWord(HEAD_ACTION_TAIL, headWord(HEAD_ACTION_TAIL) + 1);
  count(COUNTER_ACTIONS, 1);
}

// @ts-ignore: decorator
@inline
export function putWord(record: usize, word: i32, value: u32): void {
  store<u32>(record + 4 * word, value);
}

// @ts-ignore: decorator
@inline
export function putWide(record: usize, half: i32, value: u64): void {
  store<f64>(record + 8 * half, <f64>value);
}
