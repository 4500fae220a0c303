import { EXPIRED_CODES, THROTTLED_CODES } from './error-codes.js';
import { ProxyError } from './tunnel.js';
import { isUnreadable } from './unreadable-answer.js';

/** What a failed call of the SDK says, whatever class it came as. */
export interface SdkFailure {
  /** The store's own code, or the SDK's name for it; null where the call got no answer. */
  s3Code: string | null;
  status: number | null;
  requestId: string | null;
  /** From x-amz-bucket-region, or the error document. */
  region: string | null;
  /** Of the system or of TLS: ECONNREFUSED, ... */
  systemCode: string | null;
  /** The answer's Date, in milliseconds since 1970. */
  storeMs: number | null;
  /** Of a body that could not be read: how it begins; else null. */
  body: string | null;
  message: string;
}

/** In place of a system's code: a proxy opened no tunnel, for now or at all. */
export const PROXY_FAILED = 'EPROXY';
export const PROXY_REFUSED = 'EPROXY_REFUSED';

const PASSING = new Set([
  PROXY_FAILED,
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ECONNABORTED',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

export function readSdkFailure(cause: unknown): SdkFailure {
  const response = field(cause, '$response');
  const headers = field(response, 'headers');
  const metadata = field(cause, '$metadata');
  const status = number(field(metadata, 'httpStatusCode')) ?? number(field(response, 'statusCode'));
  const name = string(field(cause, 'name'));
  const unreadable = isUnreadable(cause);
  const date = Date.parse(string(field(headers, 'date')) ?? '');
  return {
    s3Code: status === null || unreadable ? null : (string(field(cause, 'Code')) ?? name),
    status,
    requestId: string(field(metadata, 'requestId')) ?? string(field(headers, 'x-amz-request-id')),
    region: string(field(headers, 'x-amz-bucket-region')) ?? string(field(cause, 'Region')),
    systemCode: ofProxy(cause) ?? systemCode(cause) ?? (name === 'TimeoutError' ? 'ETIMEDOUT' : null),
    storeMs: Number.isNaN(date) ? null : date,
    body: unreadable ? string(field(response, 'body')) : null,
    message: unreadable ? '' : cause instanceof Error ? cause.message : String(cause),
  };
}

export function isExpired({ s3Code }: SdkFailure): boolean {
  return s3Code !== null && EXPIRED_CODES.has(s3Code);
}

/** A success whose body could not be read: it was cut off, or something in between answered. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Whether the same call may well succeed a little later. */
export function isPassing({ s3Code, status, systemCode }: SdkFailure): boolean {
  if (status === null) return systemCode !== null && PASSING.has(systemCode);
  if (status === 501) return false;
  return (
    isSuccess(status) ||
    status >= 500 ||
    status === 429 ||
    status === 408 ||
    (s3Code !== null && (THROTTLED_CODES.has(s3Code) || s3Code === 'RequestTimeout'))
  );
}

function ofProxy(cause: unknown): string | null {
  if (!(cause instanceof ProxyError)) return null;
  return cause.passing ? PROXY_FAILED : PROXY_REFUSED;
}

function systemCode(cause: unknown): string | null {
  const own = string(field(cause, 'code'));
  if (own !== null) return own;
  const errors = field(cause, 'errors');
  const inner = Array.isArray(errors) ? errors[0] : field(cause, 'cause');
  return inner === undefined || inner === null ? null : systemCode(inner);
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function string(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
