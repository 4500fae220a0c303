import type { BucketAccess } from '../../../s3/access.js';
import { isTlsCode } from '../../../s3/error-codes.js';
import { NOT_HTTP_MEND, tlsFailure } from '../../../s3/tls-failure.js';
import { tell } from '../../../wording.js';
import { type Check, fail, info, ok } from '../check.js';
import type { Answer } from './ask.js';

const NAME = 'endpoint answers';

/** Whether headers or body are those of an S3: any S3 answers an unsigned request, with a listing or with an error document. */
export function isOfS3({ headers, body }: Answer): boolean {
  const hasAmzHeader = Object.keys(headers).some((name) => name.startsWith('x-amz-'));
  return hasAmzHeader || /<(?:Error|ListBucketResult|ListAllMyBucketsResult)[\s>]/.test(body);
}

/** The answer's Date in milliseconds since 1970; null where it has none. */
export function dateOf({ headers }: Answer): number | null {
  const dateMs = Date.parse(headers.date ?? '');
  return Number.isNaN(dateMs) ? null : dateMs;
}

export function answersCheck(access: BucketAccess, answer: Answer, isS3: boolean): Check {
  const type = answer.headers['content-type'];
  const shown = type === undefined ? `HTTP ${answer.status}` : `HTTP ${answer.status}, ${type}`;
  if (isS3) return ok(NAME, `as an S3 does (${shown} to an unsigned request)`);
  if (answer.status === 407) {
    return fail(
      NAME,
      `the proxy asks for a user name and a password, or for others (${shown})`,
      'write them into the variable that names the proxy: http://USER:PASSWORD@HOST:PORT',
    );
  }
  return fail(
    NAME,
    `${urlOf(access)} answers, but not as an S3 does (${shown})`,
    "check host and port of --endpoint: a store's web console often has a port of its own",
  );
}

/** Nothing answers, or not in the protocol that was asked for. */
export function noAnswerCheck(access: BucketAccess, error: unknown): Check {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (isTlsCode(code)) {
    const { what, mend } = tlsFailure(code, message);
    return fail(NAME, `${urlOf(access)}: ${what}`, tell(mend, 'command'));
  }
  if (code.startsWith('HPE_'))
    return fail(NAME, `${urlOf(access)} does not answer in HTTP`, tell(NOT_HTTP_MEND, 'command'));
  return fail(
    NAME,
    `${urlOf(access)}: ${message || code}`,
    'check host, port and protocol of --endpoint, and that nothing between blocks it',
  );
}

/** Whether the store takes signatures for the configured region, from its answer to a signed listing. */
export function regionCheck({ signingRegion }: BucketAccess, answer: Answer): Check {
  const name = 'region';
  const inDocument = /<Region>([a-z0-9-]{2,40})<\/Region>/.exec(answer.body)?.[1];
  const header = answer.headers['x-amz-bucket-region'];
  const actual = (typeof header === 'string' ? header : undefined) ?? inDocument;
  if (actual !== undefined && actual !== signingRegion) {
    return fail(
      name,
      `the bucket is in ${actual}, requests are signed for ${signingRegion} (${answer.said})`,
      `give --region ${actual}, or set AWS_REGION`,
    );
  }
  const isElsewhere = [301, 302, 307, 308].includes(answer.status);
  if (isElsewhere || answer.code === 'AuthorizationHeaderMalformed') {
    return fail(
      name,
      `the store does not take requests signed for ${signingRegion}, and names no other region (${answer.said})`,
      "give the bucket's --region, or its store's --endpoint",
    );
  }
  if (answer.status >= 400)
    return info(name, `${signingRegion}; the store said nothing of it (${answer.said})`);
  return ok(
    name,
    actual === undefined
      ? `${signingRegion} is taken; the store names none`
      : `${signingRegion}, as the bucket's`,
  );
}

const urlOf = ({ protocol, host }: BucketAccess): string => `${protocol}//${host}`;
