// Delivery: in order, exactly once. DELIVER and the SAMPLE records that follow may take several steps when the ring is
// full; nothing comes between them.
import { actionRoom, beginAction, commitAction, putWide, putWord } from './actions';
import * as L from './layout';
import { count, setFlag, state } from './state';
import { BATCH_DELIVERED, BATCH_READY, Batch, Consumer, NONE, batchAt, consumerAt, extentAt, sampleAt } from './tables';

/** Delivers what is complete; false: the ring is full. */
export function deliver(): bool {
  for (let index: u32 = 0; index < state.consumers; index++) {
    if (!deliverConsumer(index)) return false;
  }
  return true;
}

/** Tells the rest of a batch that is half told, before anything else; false: the ring is full again. */
export function finishDelivery(): bool {
  for (let index: u32 = 0; index < state.consumers; index++) {
    const c = consumerAt(index);
    if (consumerDelivering(index) && !deliverBatch(index, c, batchAt(c.deliver_at))) return false;
  }
  return true;
}

function consumerDelivering(index: u32): bool {
  const at = consumerAt(index).deliver_at;
  return at != NONE && batchAt(at).emitting != 0;
}

function deliverConsumer(index: u32): bool {
  const c = consumerAt(index);
  while (c.deliver_at != NONE && batchAt(c.deliver_at).state == BATCH_READY) {
    if (!deliverBatch(index, c, batchAt(c.deliver_at))) return false;
  }
  return emitEnd(index, c);
}

function deliverBatch(index: u32, c: Consumer, batch: Batch): bool {
  if (!batch.emitting && !emitDeliver(index, c, batch)) return false;
  if (!emitSamples(index, batch)) return false;
  batch.emitting = 0;
  batch.state = BATCH_DELIVERED;
  account(c, batch);
  c.deliver_at = batch.next;
  return true;
}

function emitDeliver(index: u32, c: Consumer, batch: Batch): bool {
  if (actionRoom() == 0) return full();
  const record = beginAction(L.ACTION_DELIVER, index);
  putWord(record, L.DELIVER_W_SAMPLES, batch.samples);
  putWord(record, L.DELIVER_W_PADS, batch.pads);
  putWord(record, L.W_EPOCH, batch.epoch);
  putWord(record, L.W_BATCH, batch.batch);
  putWide(record, L.DELIVER_D_OFFSET, batch.landing_offset);
  putWide(record, L.DELIVER_D_LENGTH, batch.landing_bytes);
  putWide(record, L.DELIVER_D_BYTES, batch.bytes);
  commitAction(record);
  batch.emitting = 1;
  c.waiting = 0;
  c.delivered = 1;
  return true;
}

function emitSamples(index: u32, batch: Batch): bool {
  while (batch.emitted < batch.samples) {
    if (actionRoom() == 0) return full();
    const sample = sampleAt(batch.first + batch.emitted);
    const record = beginAction(L.ACTION_SAMPLE, index);
    putWord(record, L.SAMPLE_W_INDEX, batch.emitted);
    putWord(record, L.SAMPLE_W_FLAGS, sample.flags);
    putWord(record, L.W_EPOCH, batch.epoch);
    putWord(record, L.W_BATCH, batch.batch);
    putWide(record, L.SAMPLE_D_ROW, sample.row);
    putWide(record, L.SAMPLE_D_OFFSET, sample.offset);
    putWide(record, L.SAMPLE_D_LENGTH, sample.length);
    putWide(record, L.SAMPLE_D_TARGET, sampleTarget(batch, batch.emitted));
    commitAction(record);
    batch.emitted += 1;
  }
  return true;
}

function sampleTarget(batch: Batch, i: u32): u64 {
  const sample = sampleAt(batch.first + i);
  const extent = extentAt(batch.first + sample.extent);
  return batch.landing_offset + extent.landing + (sample.offset - extent.offset);
}

function account(c: Consumer, batch: Batch): void {
  c.batches += 1;
  c.ready += 1;
  batch.delivered_ns = state.now_ns;
  if (state.order == L.ORDER_EXTERNAL) c.outstanding_positions -= batch.samples;
  count(L.COUNTER_BATCHES, 1);
  count(L.COUNTER_BYTES, <f64>batch.bytes);
  let whole: u32 = 0;
  let pads: u32 = 0;
  for (let i: u32 = 0; i < batch.samples; i++) {
    const flags = sampleAt(batch.first + i).flags;
    if (flags & L.SAMPLE_IS_SKIPPED) continue;
    if (flags & L.SAMPLE_IS_PAD) pads += 1;
    else whole += 1;
  }
  count(L.COUNTER_SAMPLES, <f64>whole);
  count(L.COUNTER_PADDED, <f64>pads);
}

function emitEnd(index: u32, c: Consumer): bool {
  if (!c.opened_all || c.ended || c.deliver_at != NONE) return true;
  if (actionRoom() == 0) return full();
  const record = beginAction(L.ACTION_END, index);
  store<f64>(record + 8 * L.END_D_BATCHES, c.batches);
  commitAction(record);
  c.ended = 1;
  c.waiting = 0;
  for (let i: u32 = 0; i < state.consumers; i++) if (!consumerAt(i).ended) return true;
  setFlag(L.FLAG_ENDED);
  return true;
}

function full(): bool {
  setFlag(L.FLAG_MORE);
  return false;
}
