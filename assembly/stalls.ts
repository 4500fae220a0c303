// Accounting: every nanosecond between WAITING and DELIVER is charged to one cause. Between two steps nothing changes, so
// the cause found at the end of a step holds until the next one.
import * as L from './layout';
import { count, state } from './state';
import { BATCH_FETCHING, BATCH_RESOLVING, BATCH_SEALED, Consumer, NONE, batchAt, consumerAt } from './tables';

/** Charges the time since the last step. */
export function chargeStalls(now_ns: f64): void {
  const span = now_ns - state.now_ns;
  if (span <= 0) return;
  for (let index: u32 = 0; index < state.consumers; index++) {
    const c = consumerAt(index);
    if (c.waiting) count(L.COUNTER_STALL_NS + <i32>c.cause, span);
  }
}

/** Finds what each waiting consumer waits for now. */
export function findCauses(rate_blocked: bool): void {
  for (let index: u32 = 0; index < state.consumers; index++) {
    const c = consumerAt(index);
    if (c.waiting) c.cause = causeOf(c, rate_blocked);
  }
}

function causeOf(c: Consumer, rate_blocked: bool): u32 {
  if (!c.delivered) return L.STALL_START;
  if (c.deliver_at == NONE) return state.order == L.ORDER_EXTERNAL ? L.STALL_HOST_WORK : L.STALL_CLIENT_CPU;
  const batch = batchAt(c.deliver_at);
  if (batch.state == BATCH_RESOLVING) return batch.open ? L.STALL_HOST_WORK : L.STALL_CLIENT_CPU;
  if (batch.state == BATCH_SEALED) return L.STALL_MEMORY;
  if (batch.state != BATCH_FETCHING) return L.STALL_CLIENT_CPU;
  if (batch.throttled > 0 || (rate_blocked && !batch.all_dispatched)) return L.STALL_THROTTLE;
  if (batch.placing > 0 && batch.awaiting_first_byte == 0 && batch.moving == 0) return L.STALL_TRANSFER;
  if (batch.moving > 0 && batch.awaiting_first_byte == 0 && batch.backing_off == 0) return L.STALL_NETWORK;
  return L.STALL_STORE;
}

