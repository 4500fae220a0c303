import { printableStart } from '../engine/error-document.js';
import { AbortedError, Os2gError, StoreError } from '../errors.js';
import { option, type Text, words } from '../wording.js';
import { clockOff } from './clock-off.js';
import { isTlsCode } from './error-codes.js';
import { isSuccess, PROXY_FAILED, PROXY_REFUSED, readSdkFailure, type SdkFailure } from './sdk-failure.js';
import { type Hide, hideInError } from './secrets.js';
import { CLOSED_MEND, NOT_HTTP_MEND, tlsFailure } from './tls-failure.js';

/** What was being done; for messages. */
export interface CallContext {
  /** 'list', 'head' */
  action: string;
  bucket: string;
  key?: string;
  /** Of a listing. */
  prefix?: string;
  /** The region that the call was signed for. */
  region: string;
  endpoint: string;
  anonymous: boolean;
  requesterPays: boolean;
}

/**
 * A failed call as the error that the user sees.
 * @param hide takes the credentials that were used out of what the store says
 */
export function storeError(cause: unknown, call: CallContext, attempts: number, hide: Hide): Os2gError {
  if (cause instanceof Os2gError) return cause;
  if (cause instanceof Error && cause.name === 'AbortError') return new AbortedError(cause);
  hideInError(cause, hide);
  const failure = hiddenIn(readSdkFailure(cause), hide);
  const { code, what, mend } = explain(failure, call);
  const below = call.key ?? call.prefix ?? '';
  const place = below === '' ? `s3://${call.bucket}` : `s3://${call.bucket}/${below}`;
  return new StoreError(code, `cannot ${call.action} ${place}: ${what}`, mend, {
    bucket: call.bucket,
    key: call.key,
    attempts,
    status: failure.status ?? undefined,
    s3Code: failure.s3Code ?? undefined,
    requestId: failure.requestId ?? undefined,
    bodyStart: failure.body === null ? undefined : printableStart(failure.body),
    cause,
  });
}

function hiddenIn(failure: SdkFailure, hide: Hide): SdkFailure {
  const hidden = (text: string | null): string | null => (text === null ? null : hide(text));
  const { s3Code, requestId, region, body, message } = failure;
  return {
    ...failure,
    s3Code: hidden(s3Code),
    requestId: hidden(requestId),
    region: hidden(region),
    body: hidden(body),
    message: hide(message),
  };
}

interface Explanation {
  code: string;
  what: string;
  mend: Text;
}

function explain(failure: SdkFailure, call: CallContext): Explanation {
  const { s3Code, status, systemCode, region } = failure;
  if (status === null) return explainSilence(systemCode, failure.message, call);
  if (isSuccess(status)) {
    return {
      code: call.action === 'list' ? 'bad_listing' : 'protocol',
      what: `what came with status ${status} is not the answer of an S3 store, or not the whole of it`,
      mend: words`try again; if it stays, check ${option('s3.endpoint')}, and what stands between here and the store`,
    };
  }
  const said = [`status ${status}`, s3Code, failure.message]
    .filter((part) => part !== null && part !== '')
    .join(', ');
  const elsewhere = region !== null && region !== call.region;
  if (status === 301 || status === 307 || s3Code === 'PermanentRedirect' || (elsewhere && status === 400)) {
    return {
      code: 'moved',
      what: elsewhere
        ? `the bucket is in region ${region}, the call was made for ${call.region} (${said})`
        : `the bucket is elsewhere, the call was made for region ${call.region} (${said})`,
      mend: elsewhere
        ? words`give ${option('s3.region', region)}`
        : words`give the bucket's ${option('s3.region')}, or its store's ${option('s3.endpoint')}`,
    };
  }
  if (s3Code === 'AuthorizationHeaderMalformed') {
    return {
      code: 'moved',
      what: `the store does not take the signature for region ${call.region} (${said})`,
      mend: words`give the bucket's ${option('s3.region')}`,
    };
  }
  if (status === 407) return { code: 'refused', what: `${PROXY_ASKS} (${said})`, mend: PROXY_MEND };
  const known = s3Code === null ? undefined : KNOWN[s3Code];
  if (known !== undefined) return { code: known[0], what: `${known[1]} (${said})`, mend: known[2] };
  if (s3Code === 'RequestTimeTooSkewed') return explainClock(failure, said);
  if (status === 403 || status === 401) return explainDenied(call, said);
  if (status === 404) {
    return {
      code: 'not_found',
      what: `it is not there (${said})`,
      mend: words`check the bucket, the key and ${option('s3.endpoint')}`,
    };
  }
  if (status === 503 || status === 429) {
    return {
      code: 'throttled',
      what: `the store asks for fewer requests (${said})`,
      mend: 'try again later',
    };
  }
  if (status >= 500)
    return { code: 'server', what: said, mend: 'try again later; the fault is on the side of the store' };
  return {
    code: 'refused',
    what: said,
    mend: words`check ${option('s3.endpoint')}, ${option('s3.region')} and the bucket name`,
  };
}

const PROXY_ASKS = 'the proxy asks for a user name and a password, or for others';
const PROXY_MEND = 'write them into the variable that names the proxy: http://USER:PASSWORD@HOST:PORT';

const KNOWN: Record<string, [code: string, what: string, mend: Text]> = {
  NoSuchBucket: [
    'not_found',
    'there is no such bucket',
    words`check the bucket name, ${option('s3.endpoint')} and ${option('s3.region')}`,
  ],
  InvalidBucketName: ['refused', 'that is no name of a bucket', 'check the bucket name'],
  InvalidAccessKeyId: [
    'forbidden',
    'the store does not know the access key',
    words`check which credentials are used (AWS_ACCESS_KEY_ID, ${option('s3.profile')}) and that they belong to this ${option('s3.endpoint')}`,
  ],
  SignatureDoesNotMatch: [
    'forbidden',
    'the signature is not right',
    'check AWS_SECRET_ACCESS_KEY; if it is right, a proxy may have changed the request',
  ],
  ExpiredToken: ['credentials_expired', 'the credentials have expired', 'renew them where they come from'],
  InvalidToken: ['forbidden', 'the session token is not valid', 'check AWS_SESSION_TOKEN, or unset it'],
};

/** What to do where a bucket wants credentials and was asked without. */
export const NOT_PUBLIC_MEND: Text = words`leave ${option('s3.anonymous')} out and give credentials: the bucket is not public`;

function explainDenied(call: CallContext, said: string): Explanation {
  if (call.anonymous) {
    return {
      code: 'forbidden',
      what: `access is denied without credentials (${said})`,
      mend: NOT_PUBLIC_MEND,
    };
  }
  return {
    code: 'forbidden',
    what: `access is denied (${said})`,
    mend: call.requesterPays
      ? 'allow s3:ListBucket and s3:GetObject to these credentials'
      : words`allow s3:ListBucket and s3:GetObject to these credentials; for a requester-pays bucket give ${option('s3.requesterPays')}`,
  };
}

function explainClock({ storeMs }: SdkFailure, said: string): Explanation {
  return {
    code: 'forbidden',
    what: `${clockOff(Date.now(), storeMs)} (${said})`,
    mend: 'set the clock (NTP)',
  };
}

function explainSilence(systemCode: string | null, message: string, call: CallContext): Explanation {
  const what = `${call.endpoint} gave no answer: ${message || systemCode || 'unknown error'}`;
  if (systemCode !== null && isTlsCode(systemCode)) {
    const { what, mend } = tlsFailure(systemCode, message);
    return { code: 'tls', what: `TLS with ${call.endpoint} failed: ${what}`, mend };
  }
  if (systemCode?.startsWith('HPE_')) {
    return { code: 'protocol', what: `${call.endpoint} does not answer in HTTP`, mend: NOT_HTTP_MEND };
  }
  if (systemCode === 'ETIMEDOUT') {
    return { code: 'timeout', what, mend: words`check ${option('s3.endpoint')} and the network between` };
  }
  if ((systemCode === 'ECONNRESET' || systemCode === 'EPIPE') && call.endpoint.startsWith('http:')) {
    return { code: 'connect', what, mend: CLOSED_MEND };
  }
  if (systemCode === PROXY_FAILED || systemCode === PROXY_REFUSED) {
    return {
      code: 'connect',
      what: `no way to ${call.endpoint}: ${message}`,
      mend: 'check the proxy that https_proxy or all_proxy names, or name the store in no_proxy',
    };
  }
  return {
    code: 'connect',
    what,
    mend: words`check that the store runs, ${option('s3.endpoint')}, ${option('s3.region')} and the network between`,
  };
}
