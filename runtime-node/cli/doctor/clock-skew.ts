import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { BucketAccess } from '../../s3/access.js';
import { formatSeconds } from '../output/numbers.js';
import { type Check, fail, ok, warn } from './check.js';

const ANSWER_LIMIT_MS = 5000;
/** S3 refuses a signature that is older or newer than this: RequestTimeTooSkewed. */
const REFUSED_MS = 15 * 60_000;
const NOTABLE_MS = 60_000;

/** The endpoint's own time in milliseconds since 1970, from the Date header of any answer; null where it sends none. */
export function readDate(access: BucketAccess, signal: AbortSignal): Promise<number | null> {
  const request = access.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...{
          method: 'HEAD',
          path: '/',
          hostname: access.hostname,
          port: access.port,
          headers: { host: access.host },
        },
        ...(access.caPem === null ? {} : { ca: access.caPem }),
        ...{ signal, agent: false, timeout: ANSWER_LIMIT_MS },
      },
      (answer) => {
        answer.resume();
        const dateMs = Date.parse(answer.headers.date ?? '');
        resolve(Number.isNaN(dateMs) ? null : dateMs);
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS / 1000} s`)));
    sent.on('error', reject);
    sent.end();
  });
}

/** Whether this machine's clock is near enough to the endpoint's. A Date header counts whole seconds. */
export function skewCheck(endpointMs: number | null, nowMs: number): Check {
  const name = 'endpoint answers';
  if (endpointMs === null)
    return warn(name, 'its answer has no Date header: the clocks cannot be compared', 'none needed');
  const skewMs = Math.abs(nowMs - endpointMs);
  if (skewMs < NOTABLE_MS) return ok(name, 'its clock and this one agree within a minute');
  const detail = `its clock and this one differ by ${formatSeconds(skewMs / 1000)}`;
  const mend = "set this machine's clock (NTP)";
  return skewMs < REFUSED_MS
    ? warn(name, detail, mend)
    : fail(name, `${detail}: signatures are refused`, mend);
}
