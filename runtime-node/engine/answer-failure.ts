import { EXPIRED_CODES, THROTTLED_CODES } from '../s3/error-codes.js';
import type { Hide } from '../s3/secrets.js';
import type { AnswerHeaders } from './answer-headers.js';
import type { AnsweredRequest } from './answer-sentence.js';
import { answerSentence, isHeaderUnknown } from './answer-sentence.js';
import { printableStart, readErrorDocument } from './error-document.js';
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

const OTHER_REGION = new Set(['PermanentRedirect', 'TemporaryRedirect', 'AuthorizationHeaderMalformed']);

/** Whether the store seems to have refused If-Match itself, not the object's version. */
export function refusesIfMatch(status: number, s3Code: string | null, request: AnsweredRequest): boolean {
  if (!request.ifMatch) return false;
  return isHeaderUnknown(status, s3Code) || (status === 400 && s3Code === null && !request.mayBeExpired);
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
  const refuses = refusesIfMatch(status, document.code, request);
  return {
    name,
    what: answerSentence(
      { name, status, document, region, date: headers.date, refusesIfMatch: refuses },
      request,
    ),
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
  if (request.askedChecksum && isHeaderUnknown(status, code)) return 'refused';
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

/**
 * Retry-After, in seconds or as a date, as nanoseconds from now; at most an hour; 0 where there is none (RFC 9110, 10.2.3).
 */
export function parseRetryAfterNs(value: string | null, nowMs: number): number {
  if (value === null) return 0;
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : (Date.parse(value) - nowMs) / 1000;
  return seconds > 0 ? Math.min(seconds, 3600) * 1e9 : 0;
}
