// The end of a run, and holes: what becomes of a part that cannot be had.
import { beginAction, actionRoom, commitAction, putWide, putWord } from './actions';
import * as L from './layout';
import { count, setError, setFlag, state } from './state';
import { Batch, Consumer, NONE, Part, batchAt, consumerAt, extentAt, sampleAt } from './tables';

/** Ends the run; the first cause stays. */
export function fail(code: u32, failure: u32, request: u32, batch: Batch, row: u64): void {
  if (state.fail_code != 0) return;
  state.fail_code = code;
  state.fail_class = failure;
  state.fail_request = request;
  state.fail_consumer = batch.consumer;
  state.fail_epoch = batch.epoch;
  state.fail_batch = batch.batch;
  state.fail_row = row;
}

/** Emits FAIL once; after it the core is silent. */
export function emitFailure(): void {
  if (state.fail_emitted) return;
  if (actionRoom() == 0) return setFlag(L.FLAG_MORE);
  const record = beginAction(L.ACTION_FAIL, state.fail_consumer);
  putWord(record, L.W_ID, state.fail_request);
  putWord(record, L.FAIL_W_CODE, state.fail_code);
  putWord(record, L.W_EPOCH, state.fail_epoch);
  putWord(record, L.W_BATCH, state.fail_batch);
  putWord(record, L.FAIL_W_CLASS, state.fail_class);
  putWide(record, L.FAIL_D_ROW, state.fail_row);
  putWide(record, L.FAIL_D_NEEDED, state.fail_needed);
  putWide(record, L.FAIL_D_LIMIT, state.fail_limit);
  commitAction(record);
  state.fail_emitted = 1;
  setError(state.fail_code, 0);
  setFlag(L.FLAG_FAILED);
}

/** A part is given up: the run fails, or its samples become holes. */
export function giveUp(part: Part, request: u32, failure: u32, code: u32): void {
  const batch = batchAt(part.batch);
  if (state.on_error != L.ON_ERROR_SKIP) return fail(code, failure, request, batch, part.row);
  const extent = extentAt(batch.first + part.extent);
  for (let i: u32 = 0; i < batch.samples; i++) {
    const sample = sampleAt(batch.first + i);
    if (sample.extent != part.extent || (sample.flags & L.SAMPLE_IS_SKIPPED) != 0) continue;
    const overlaps = sample.offset < part.offset + part.length && part.offset < sample.offset + sample.length;
    if (!overlaps || extent.length == 0) continue;
    sample.flags |= L.SAMPLE_IS_SKIPPED;
    sample.skip_class = failure;
    sample.skip_request = request;
    batch.skipped += 1;
    batch.bytes -= sample.length;
    batch.skips_to_emit += 1;
    state.skips_to_emit += 1;
    count(L.COUNTER_SKIPPED, 1);
    // A pad repeats a sample of its epoch, which has counted for itself where it was lost.
    if ((sample.flags & L.SAMPLE_IS_PAD) == 0) state.skips_counted += 1;
  }
  if (state.skips_counted > state.max_skips) {
    fail(L.ERROR_TOO_MANY_SKIPS, failure, request, batch, part.row);
  }
}

export function emitSkips(): void {
  for (let index: u32 = 0; index < state.consumers && state.skips_to_emit > 0; index++) {
    const c: Consumer = consumerAt(index);
    for (let id = c.oldest; id != NONE && state.skips_to_emit > 0; id = batchAt(id).next) {
      const batch = batchAt(id);
      if (batch.skips_to_emit > 0 && !emitBatchSkips(index, batch)) return setFlag(L.FLAG_MORE);
    }
  }
}

function emitBatchSkips(index: u32, batch: Batch): bool {
  for (let i: u32 = 0; i < batch.samples; i++) {
    const sample = sampleAt(batch.first + i);
    if (sample.skip_class == 0) continue;
    if (actionRoom() == 0) return false;
    const record = beginAction(L.ACTION_SKIP, index);
    putWord(record, L.W_ID, sample.skip_request);
    putWord(record, L.SKIP_W_CLASS, sample.skip_class);
    putWord(record, L.W_EPOCH, batch.epoch);
    putWord(record, L.W_BATCH, batch.batch);
    putWide(record, L.SKIP_D_ROW, sample.row);
    putWide(record, L.SKIP_D_INDEX, i);
    commitAction(record);
    sample.skip_class = 0;
    batch.skips_to_emit -= 1;
    state.skips_to_emit -= 1;
  }
  return true;
}
