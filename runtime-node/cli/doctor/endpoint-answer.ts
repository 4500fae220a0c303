import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { BucketAccess } from '../../s3/access.js';
import { isTlsCode } from '../../s3/error-codes.js';
import { NOT_HTTP_MEND, tlsFailure } from '../../s3/tls-failure.js';
import { tell } from '../../wording.js';
import { type Check, fail } from './check.js';

const ANSWER_LIMIT_MS = 5000;
const KEPT_BODY = 4096;

/** What an endpoint says to a request without a signature, which any S3 answers: with a listing, or with an error document. */
export interface EndpointAnswer {
  /** The endpoint's own time in milliseconds since 1970; null where it sends none. */
  readonly dateMs: number | null;
  /** Whether headers or body are those of an S3. */
  readonly isS3: boolean;
  /** `HTTP 404, text/html` */
  readonly shown: string;
}

/** Asks the bucket for its first key, unsigned. @throws Error of the socket, of TLS or of the HTTP parser */
export function askEndpoint(access: BucketAccess, signal: AbortSignal): Promise<EndpointAnswer> {
  const request = access.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        method: 'GET',
        path: `${access.pathPrefix}/?list-type=2&max-keys=1`,
        hostname: access.hostname,
        port: access.port,
        headers: { host: access.host },
        ...(access.caPem === null ? {} : { ca: access.caPem }),
        ...{ signal, agent: false, timeout: ANSWER_LIMIT_MS },
      },
      (answer) => {
        startOf(answer).then((body) => resolve(read(answer, body)), reject);
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS / 1000} s`)));
    sent.on('error', reject);
    sent.end();
  });
}

/** The first bytes of a body; the rest is not waited for. */
async function startOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length >= KEPT_BODY) break;
  }
  return text;
}

function read(answer: IncomingMessage, body: string): EndpointAnswer {
  const { headers, statusCode } = answer;
  const dateMs = Date.parse(headers.date ?? '');
  const hasAmzHeader = Object.keys(headers).some((name) => name.startsWith('x-amz-'));
  const hasDocument = /<(?:Error|ListBucketResult|ListAllMyBucketsResult)[\s>]/.test(body);
  const type = headers['content-type'];
  return {
    dateMs: Number.isNaN(dateMs) ? null : dateMs,
    isS3: hasAmzHeader || hasDocument,
    shown: type === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}, ${type}`,
  };
}

const NAME = 'endpoint answers';

/** What answers is no S3. */
export function notS3Check(access: BucketAccess, { shown }: EndpointAnswer): Check {
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

const urlOf = ({ protocol, host }: BucketAccess): string => `${protocol}//${host}`;
