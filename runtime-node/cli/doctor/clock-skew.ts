import { formatSeconds } from '../output/numbers.js';
import { type Check, fail, info, ok, warn } from './check.js';

/** S3 refuses a signature that is older or newer than this: RequestTimeTooSkewed. */
const REFUSED_MS = 15 * 60_000;
const NOTABLE_MS = 60_000;

/** Whether this machine's clock is near enough to the endpoint's. A Date header counts whole seconds. */
export function skewCheck(endpointMs: number | null, nowMs: number): Check {
  const name = 'clock';
  if (endpointMs === null) return info(name, 'the answer has no Date header: the clocks cannot be compared');
  const skewMs = Math.abs(nowMs - endpointMs);
  if (skewMs < NOTABLE_MS) return ok(name, "the store's and this one agree within a minute");
  const side = nowMs > endpointMs ? 'ahead of' : 'behind';
  const detail = `this one is ${formatSeconds(skewMs / 1000)} ${side} the store's`;
  const mend = "set this machine's clock (NTP)";
  return skewMs < REFUSED_MS
    ? warn(name, detail, mend)
    : fail(name, `${detail}: signatures are refused`, mend);
}
