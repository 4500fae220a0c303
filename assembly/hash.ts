// The run hash: 64 bits over every event and action, in order. The mixer is the multiply-xorshift step of MurmurHash3's
// finaliser (Austin Appleby, public domain), one step for each 64-bit word.
import { HEADER_OFFSET, HEAD_HASH_LO, RECORD_BYTES } from './layout';

const HASH_AT: usize = HEADER_OFFSET + 4 * HEAD_HASH_LO;
const MULTIPLIER: u64 = 0xff51afd7ed558ccd;

export function hashReset(): void {
  store<u64>(HASH_AT, 0x6f7332675f636f72);
}

// @ts-ignore: decorator
@inline
function fold(hash: u64, word: u64): u64 {
  const mixed = (hash ^ word) * MULTIPLIER;
  return mixed ^ (mixed >> 32);
}

export function hashRecord(record: usize): void {
  // Two chains side by side, joined at the end: a multiplication need not wait for the one before it.
  let even = load<u64>(HASH_AT);
  let odd = ~even;
  for (let at: usize = 0; at < <usize>RECORD_BYTES; at += 16) {
    even = fold(even, load<u64>(record + at));
    odd = fold(odd, load<u64>(record + at, 8));
  }
  store<u64>(HASH_AT, fold(even, odd));
}

export function hashTime(nowNs: f64): void {
  store<u64>(HASH_AT, fold(load<u64>(HASH_AT), reinterpret<u64>(nowNs)));
}
