import { clockOff } from '../s3/clock-off.js';
import type { Hide } from '../s3/secrets.js';
import type { ErrorDocument } from './error-document.js';
import type { FailureName } from './failure.js';

/** What of the request an answer's sentence depends on. */
export interface AnsweredBy {
  signingRegion: string;
  requesterPays: boolean;
  anonymous: boolean;
  /** The store was asked for its checksum. */
  askedChecksum: boolean;
  /** Milliseconds since 1970. */
  nowMs: number;
}

/** What of the request an answer's class depends on. */
export interface AnsweredRequest extends AnsweredBy {
  ifMatch: boolean;
  /** Signed with a session token that has run out, or of which nobody knows when it does. */
  mayBeExpired: boolean;
  /** Takes the credentials of the request out of what the answer says: some stores and proxies echo the request. */
  hide: Hide;
}

/** An answer that is no object, in its class. */
export interface ClassifiedAnswer {
  name: FailureName;
  status: number;
  document: ErrorDocument;
  region: string | null;
  /** The answer's Date header. */
  date: string | null;
  /** The store seems to have refused If-Match itself. */
  refusesIfMatch: boolean;
}

/** How stores say that they do not know a header. */
const HEADER_UNKNOWN = new Set(['NotImplemented', 'InvalidArgument', 'InvalidRequest', 'UnsupportedHeader']);

/** Whether the answer says that the store does not know a header of the request. */
export function isHeaderUnknown(status: number, s3Code: string | null): boolean {
  if (status === 501 || s3Code === 'NotImplemented') return true;
  return status === 400 && s3Code !== null && HEADER_UNKNOWN.has(s3Code);
}

/** What an error answer means, for people; the same words whichever engine read it. */
export function answerSentence(answer: ClassifiedAnswer, request: AnsweredBy): string {
  const { name, status, document, region } = answer;
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
      return `${forbiddenReason(answer, request)} (${said})`;
    case 'expired':
      return `the credentials have expired (${said})`;
    case 'server':
    case 'refused':
      return refusalSentence(answer, request, said);
    default:
      return said;
  }
}

function refusalSentence(
  { status, document, refusesIfMatch }: ClassifiedAnswer,
  request: AnsweredBy,
  said: string,
): string {
  if (refusesIfMatch) {
    return `the store does not take If-Match (${said}); ETags are compared here from now on`;
  }
  if (request.askedChecksum && isHeaderUnknown(status, document.code)) {
    return `the store refuses to be asked for its checksum (${said}): verify by ETag, the default, asks for none`;
  }
  if (status === 407) return `the proxy asks for a user name and a password, or for others (${said})`;
  return status < 300 ? `an error document came instead of the object (${said})` : said;
}

/** What to do about an answer whose code says more than its class; undefined: what the class asks for. */
export function answerMend(s3Code: string | null): string | undefined {
  return s3Code === 'RequestTimeTooSkewed' ? "set this machine's clock (NTP)" : undefined;
}

function forbiddenReason({ document: { code }, date }: ClassifiedAnswer, request: AnsweredBy): string {
  if (code === 'RequestTimeTooSkewed') {
    const storeMs = date === null ? Number.NaN : Date.parse(date);
    return clockOff(request.nowMs, Number.isNaN(storeMs) ? null : storeMs);
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
