import * as layout from '../assembly/layout.js';
import { failureName } from '../runtime-node/engine/failure.js';
import type { RunFailure } from './pipelines/client.js';

/** Why a run ended before its last batch, as a sentence without its subject. */
export function failureReason({ code, failureClass, row, neededBytes, limitBytes }: RunFailure): string {
  switch (code) {
    case layout.ERROR_FETCH:
      return `reading sample ${row} failed for good (${failureName(failureClass)}): its retries ran out`;
    case layout.ERROR_TOO_MANY_SKIPS:
      return `more samples failed than may be skipped, the last one ${row} (${failureName(failureClass)})`;
    case layout.ERROR_BATCH_TOO_LARGE:
      return `a batch needs ${neededBytes} bytes and landing memory has ${limitBytes}`;
    default:
      return `the core ended it with error ${code}`;
  }
}
