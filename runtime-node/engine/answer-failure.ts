import { EXPIRED_CODES, THROTTLED_CODES } from '../s3/error-codes.js';
import type { Hide } from '../s3/secrets.js';
import type { AnswerHeaders } from './answer-headers.js';
import { type ErrorDocument, printableStart, readErrorDocument } from './error-document.js';
import type { FailureName } from './failure.js';

/** An answer that is no object, put in a class. */
export interface AnswerFailure {
  name: FailureName;
  what: string;
  s3Code: string | null;
  requestId: string | null;
  region: string | null;
  bodyStart: string;
  /** What the store asked for with Retry-After; 0: nothing. */
  retryAfterNs: number;
}

/** What of the request the meaning of an answer depends on. */
export interface AnsweredRequest {
  ifMatch: boolean;
  signingRegion: string;
  requesterPays: boolean;
  anonymous: boolean;
  /** Signed with a session token that has run out, or of which nobody knows when it does. */
  mayBeExpired: boolean;
  nowMs: number;
  /** Takes the credentials of the request out of what the answer says: some stores and proxies echo the request. */
  hide: Hide;
}

const OTHER_REGION = new Set(['PermanentRedirect', 'TemporaryRedirect', 'AuthorizationHeaderMalformed']);
/** How stores say that they do not know a conditional header. */
const HEADER_UNKNOWN = new Set(['NotImplemented', 'InvalidArgument', 'InvalidRequest', 'UnsupportedHeader']);

/** Whether the store seems to have refused If-Match itself, not the object's version. */
export function refusesIfMatch(status: number, s3Code: string | null, request: AnsweredRequest): boolean {
  if (!request.ifMatch) return false;
  if (status === 501 || s3Code === 'NotImplemented') return true;
  return status === 400 && (s3Code === null ? !request.mayBeExpired : HEADER_UNKNOWN.has(s3Code));
}

/** Puts an error answer in its class. */
export function answerFailure(
  status: number,
  headers: AnswerHeaders,
  given: string,
  request: AnsweredRequest,
): AnswerFailure {
  const body = request.hide(given);
  const document = readErrorDocument(body);
  const region = hidden(headers.bucketRegion, request.hide) ?? document.region;
  const name = classify(status, document.code, body === '', region, request);
  return {
    name,
    what: explain(name, status, document, region, headers, request),
    s3Code: document.code,
    requestId: hidden(headers.requestId, request.hide) ?? document.requestId,
    region,
    bodyStart: printableStart(body),
    retryAfterNs: parseRetryAfterNs(headers.retryAfter, request.nowMs),
  };
}

const hidden = (text: string | null, hide: Hide): string | null => (text === null ? null : hide(text));

function classify(
  status: number,
  code: string | null,
  bodyless: boolean,
  region: string | null,
  request: AnsweredRequest,
): FailureName {
  if (code !== null && EXPIRED_CODES.has(code)) return 'expired';
  if (code !== null && THROTTLED_CODES.has(code)) return 'throttled';
  if (status === 503 || status === 429) return 'throttled';
  if (refusesIfMatch(status, code, request)) return 'server';
  if (status >= 500 || status === 408 || code === 'RequestTimeout' || code === 'InternalError')
    return 'server';
  if (status === 412 || status === 416) return 'changed';
  if (status === 404) return 'not_found';
  if (status === 301 || status === 302 || status === 307 || status === 308) return 'moved';
  if (code !== null && OTHER_REGION.has(code)) return 'moved';
  if (status === 400 && region !== null && region !== request.signingRegion) return 'moved';
  if (status === 400 && bodyless && request.mayBeExpired) return 'expired';
  if (status === 403 && code === 'InvalidObjectState') return 'archived';
  if (status === 403 || status === 401 || code === 'InvalidToken') return 'forbidden';
  if (status >= 400) return 'refused';
  return status === 200 || status === 206 ? 'server' : 'protocol';
}

function explain(
  name: FailureName,
  status: number,
  document: ErrorDocument,
  region: string | null,
  headers: AnswerHeaders,
  request: AnsweredRequest,
): string {
  const said = [`status ${status}`, document.code, document.message]
    .filter((part) => part !== null)
    .join(', ');
  switch (name) {
    case 'moved':
      return region === null
        ? `the bucket is elsewhere (${said}): the request was signed for region ${request.signingRegion}`
        : `the bucket is in region ${region}, the request was signed for ${request.signingRegion} (${said})`;
    case 'changed':
      return status === 416
        ? `the object is shorter than the manifest says (${said})`
        : `the object was replaced (${said})`;
    case 'archived':
      return `the object is archived and not restored (${said})`;
    case 'forbidden':
      return `${forbiddenReason(document.code, headers, request)} (${said})`;
    case 'expired':
      return `the credentials have expired (${said})`;
    case 'server':
      if (refusesIfMatch(status, document.code, request)) {
        return `the store does not take If-Match (${said}); ETags are compared here from now on`;
      }
      return status < 300 ? `an error document came instead of the object (${said})` : said;
    default:
      return said;
  }
}

function forbiddenReason(code: string | null, headers: AnswerHeaders, request: AnsweredRequest): string {
  if (code === 'RequestTimeTooSkewed') {
    const storeMs = headers.date === null ? Number.NaN : Date.parse(headers.date);
    const seconds = Math.round((request.nowMs - storeMs) / 1000);
    return Number.isFinite(seconds)
      ? `this machine's clock is ${seconds} s off the store's`
      : "this machine's clock is off";
  }
  if (code === 'InvalidAccessKeyId') return 'the store does not know the access key';
  if (code === 'SignatureDoesNotMatch')
    return 'the secret key does not fit the access key, or a proxy changed the request';
  if (code === 'InvalidToken') return 'the session token is not valid';
  if (request.anonymous) return 'access denied without credentials';
  return request.requesterPays
    ? 'access denied'
    : 'access denied; if the bucket is a requester-pays one, its charges must be accepted';
}

/**
 * Retry-After, in seconds or as a date, as nanoseconds from now; at most an hour; 0 where there is none (RFC 9110, 10.2.3).
 */
export function parseRetryAfterNs(value: string | null, nowMs: number): number {
  if (value === null) return 0;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - nowMs) / 1000;
  return seconds > 0 ? Math.min(seconds, 3600) * 1e9 : 0;
}
