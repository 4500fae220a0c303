// Order and sharding: which row of the manifest stands at a position of an epoch, in O(1) and without a list.
//
// A permutation of [0, n) is a Feistel network over the next power of two with cycle walking: Black and Rogaway,
// "Ciphers with arbitrary finite domains", CT-RSA 2002. The two halves differ by at most one bit, so at most half of the
// domain is walked over. Only (seed, epoch, n) and the order's settings matter: never world size, workers or time.
import { ORDER_BLOCK, ORDER_NONE, ORDER_SAMPLE, TAIL_DROP, TAIL_PARTIAL } from './layout';
import { draw, mix } from './random';
import { state } from './state';

const ROUNDS: i32 = 8;
// Halves of a few bits mix little in a round; with so many, every permutation of a handful is as likely as any other.
const FEW: u64 = 256;
const ROUNDS_OF_FEW: i32 = 32;
const STREAM_SAMPLE: u64 = 1;
const STREAM_BLOCK: u64 = 2;
const STREAM_GROUP: u64 = 3;

/** Key of one permutation: a stream of (seed, epoch). */
export function orderKey(epoch: u32, stream: u64): u64 {
  return mix(mix(state.seed ^ mix(stream)) + <u64>epoch);
}

// @ts-ignore: decorator
@inline
function roundsFor(n: u64): i32 {
  return n <= FEW ? ROUNDS_OF_FEW : ROUNDS;
}

/** Image of x under the keyed permutation of [0, n). */
export function permute(key: u64, n: u64, x: u64): u64 {
  if (n <= 1) return 0;
  const bits = <u32>(64 - clz<u64>(n - 1));
  const low_bits = max<u32>(1, bits >> 1);
  const high_bits = max<u32>(1, bits - low_bits);
  const low_mask = (<u64>1 << low_bits) - 1;
  const high_mask = (<u64>1 << high_bits) - 1;
  const rounds = roundsFor(n);
  let y = x;
  do {
    let low = y & low_mask;
    let high = y >> low_bits;
    for (let round: i32 = 0; round < rounds; round += 2) {
      low ^= draw(key ^ high, round) & low_mask;
      high ^= draw(key ^ low, round + 1) & high_mask;
    }
    y = (high << low_bits) | low;
  } while (y >= n);
  return y;
}

/** Row at a position of an epoch. */
export function rowAt(epoch: u32, position: u64): u64 {
  if (state.order == ORDER_SAMPLE) return permute(orderKey(epoch, STREAM_SAMPLE), state.samples, position);
  if (state.order == ORDER_BLOCK) return blockRow(epoch, position);
  assert(state.order == ORDER_NONE);
  return position;
}

// Blocks of consecutive rows change places; then the samples of each group of neighbouring blocks are mixed. Only the
// last block of the manifest may be short; it stands at a random place like any other, and everything behind it moves
// up by what it lacks.
function blockRow(epoch: u32, position: u64): u64 {
  const n = state.samples;
  const block = state.block_samples;
  const blocks = (n + block - 1) / block;
  const missing = blocks * block - n;
  const short_at = slotOfBlock(epoch, blocks, blocks - 1);

  // The group of the position, and where the group begins.
  const group_blocks = state.group_blocks;
  const span = block * group_blocks;
  const short_group = short_at / group_blocks;
  let group = position / span;
  let start = group * span;
  if (group > short_group || (group == short_group && position >= start + groupLength(group, blocks, block, missing, short_group))) {
    group = (position + missing) / span;
    start = group * span - missing;
  }
  const length = groupLength(group, blocks, block, missing, short_group);
  let inside = permute(mix(orderKey(epoch, STREAM_GROUP) + group), length, position - start);

  // The block slot inside the group, and the row inside the block.
  const first_slot = group * group_blocks;
  let slot = first_slot + inside / block;
  if (group == short_group && inside >= (short_at - first_slot) * block + (block - missing)) {
    inside += missing;
    slot = first_slot + inside / block;
  }
  const source = permute(orderKey(epoch, STREAM_BLOCK), blocks, slot);
  return source * block + (inside - (slot - first_slot) * block);
}

function groupLength(group: u64, blocks: u64, block: u64, missing: u64, short_group: u64): u64 {
  const in_group = min<u64>(state.group_blocks, blocks - group * state.group_blocks);
  return in_group * block - (group == short_group ? missing : 0);
}

/** Inverse of the block permutation at one block; computed once an epoch. */
function slotOfBlock(epoch: u32, blocks: u64, target: u64): u64 {
  if (state.short_block_epoch == <u64>epoch + 1) return state.short_block_slot;
  const slot = unpermute(orderKey(epoch, STREAM_BLOCK), blocks, target);
  state.short_block_epoch = <u64>epoch + 1;
  state.short_block_slot = slot;
  return slot;
}

/** Inverse of `permute`. */
export function unpermute(key: u64, n: u64, y: u64): u64 {
  if (n <= 1) return 0;
  const bits = <u32>(64 - clz<u64>(n - 1));
  const low_bits = max<u32>(1, bits >> 1);
  const high_bits = max<u32>(1, bits - low_bits);
  const low_mask = (<u64>1 << low_bits) - 1;
  const high_mask = (<u64>1 << high_bits) - 1;
  let x = y;
  do {
    let low = x & low_mask;
    let high = x >> low_bits;
    for (let round: i32 = roundsFor(n) - 2; round >= 0; round -= 2) {
      high ^= draw(key ^ low, round + 1) & high_mask;
      low ^= draw(key ^ high, round) & low_mask;
    }
    x = (high << low_bits) | low;
  } while (x >= n);
  return x;
}

/** Global batches of an epoch. */
export function batchesPerEpoch(): u64 {
  const whole = state.samples / state.global_batch;
  return state.tail == TAIL_DROP ? whole : whole + (state.samples % state.global_batch != 0 ? 1 : 0);
}

/** Samples of a rank's share of a global batch; 0 is possible only in the last batch under `partial`. */
export function shareLength(rank: u32, batch: u64): u64 {
  const start = batch * state.global_batch;
  const rest = state.samples - start;
  if (state.tail != TAIL_PARTIAL || rest >= state.global_batch) return state.batch_samples;
  return (rest * (rank + 1)) / state.world_size - (rest * rank) / state.world_size;
}

/** Position, in the epoch, of the first sample of a rank's share; may run past the end under `pad`. */
export function shareStart(rank: u32, batch: u64): u64 {
  const start = batch * state.global_batch;
  const rest = state.samples - start;
  if (state.tail != TAIL_PARTIAL || rest >= state.global_batch) return start + <u64>rank * state.batch_samples;
  return start + (rest * rank) / state.world_size;
}
