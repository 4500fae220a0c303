import { createHash, createHmac } from 'node:crypto';
import type { S3Error } from './reply.js';
import type { StoreRequest } from './request.js';

export interface StoreCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

export const EMPTY_SHA256 = createHash('sha256').digest('hex');
const MAX_SKEW_MS = 15 * 60 * 1000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=(.+)\/(\d{8})\/([^/,]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

interface Known extends StoreCredentials {
  expired: 'no' | 'with-body' | 'without-body';
}

interface Signed {
  accessKeyId: string;
  date: string;
  region: string;
  names: string;
  signature: string;
}

function refusal(status: number, code: string, message: string, more: Partial<S3Error> = {}): S3Error {
  return { status, code, message, ...more };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Milliseconds of `20260102T030405Z`; NaN for anything else. */
function parseAmzDate(text: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (!match) return Number.NaN;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}

/**
 * Checks header signatures (AWS Signature Version 4) by computing them again from what arrived.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
export class SignatureChecker {
  private readonly known: Known[] = [];
  private readonly signingKeys = new Map<string, Buffer>();

  constructor(
    private readonly homeRegion: string,
    private readonly wallClockMs: () => number,
  ) {}

  accept(credentials: StoreCredentials): void {
    this.known.push({ ...credentials, expired: 'no' });
  }

  /** All credentials accepted so far answer 400 ExpiredToken from now on. */
  expire(withBody: boolean): void {
    for (const credentials of this.known) credentials.expired = withBody ? 'with-body' : 'without-body';
  }

  /** Null where the request is signed as it must be. `region` is where the bucket is. */
  check(request: StoreRequest, region: string): S3Error | null {
    const signed = this.parse(request);
    if ('code' in signed) return signed;
    const credentials = this.find(request, signed);
    if ('code' in credentials) return credentials;
    return (
      this.checkRegion(signed, region) ??
      this.checkDate(request, signed) ??
      checkHeaders(request, signed) ??
      this.checkSignature(request, signed, credentials)
    );
  }

  private parse(request: StoreRequest): Signed | S3Error {
    const authorization = request.headers.authorization;
    if (authorization === undefined) return refusal(403, 'AccessDenied', 'Access Denied');
    if (!authorization.startsWith('AWS4-HMAC-SHA256 ')) {
      return refusal(400, 'InvalidRequest', 'this mechanism is not supported; use AWS4-HMAC-SHA256');
    }
    const match = AUTHORIZATION.exec(authorization);
    if (!match) return refusal(400, 'AuthorizationHeaderMalformed', 'the authorization header is malformed');
    const [, accessKeyId, date, region, names, signature] = match as unknown as string[];
    return { accessKeyId: accessKeyId!, date: date!, region: region!, names: names!, signature: signature! };
  }

  private find(request: StoreRequest, signed: Signed): Known | S3Error {
    const token = single(request.headers['x-amz-security-token']);
    const sameKey = this.known.filter((c) => c.accessKeyId === signed.accessKeyId);
    if (sameKey.length === 0) {
      return refusal(403, 'InvalidAccessKeyId', 'this access key id is not in our records', {
        fields: { AWSAccessKeyId: signed.accessKeyId },
      });
    }
    const found = sameKey.findLast((c) => c.sessionToken === token);
    if (!found) return refusal(400, 'InvalidToken', 'the session token is malformed or otherwise invalid');
    if (found.expired !== 'no') {
      const bodyless = found.expired === 'without-body';
      return refusal(400, 'ExpiredToken', 'the session token has expired', { bodyless });
    }
    return found;
  }

  private checkRegion(signed: Signed, region: string): S3Error | null {
    if (signed.region === region) return null;
    const headers = { 'x-amz-bucket-region': region };
    if (signed.region === this.homeRegion) {
      return refusal(
        301,
        'PermanentRedirect',
        'the bucket must be addressed using the endpoint of its region',
        {
          headers,
          fields: { Region: region, Endpoint: `s3.${region}.amazonaws.com` },
        },
      );
    }
    const message = `the authorization header is malformed; the region '${signed.region}' is wrong; expecting '${region}'`;
    return refusal(400, 'AuthorizationHeaderMalformed', message, { headers, fields: { Region: region } });
  }

  private checkDate(request: StoreRequest, signed: Signed): S3Error | null {
    const sent = single(request.headers['x-amz-date']) ?? '';
    const sentMs = parseAmzDate(sent);
    if (Number.isNaN(sentMs)) return refusal(403, 'AccessDenied', 'a valid x-amz-date header is required');
    if (!sent.startsWith(signed.date)) {
      return refusal(
        400,
        'AuthorizationHeaderMalformed',
        'the date of the scope is not the date of x-amz-date',
      );
    }
    if (Math.abs(this.wallClockMs() - sentMs) <= MAX_SKEW_MS) return null;
    return refusal(403, 'RequestTimeTooSkewed', "the request's time and the store's time differ too much", {
      fields: { RequestTime: sent, ServerTime: new Date(this.wallClockMs()).toISOString() },
    });
  }

  private checkSignature(request: StoreRequest, signed: Signed, credentials: Known): S3Error | null {
    const { headers } = request;
    let lines = '';
    for (const name of signed.names.split(';')) {
      lines += `${name}:${(single(headers[name]) ?? '').trim().replace(/ {2,}/g, ' ')}\n`;
    }
    const payload = single(headers['x-amz-content-sha256']);
    const canonical = `${request.method}\n${request.canonicalPath}\n${request.canonicalQuery}\n${lines}\n${signed.names}\n${payload}`;
    const scope = `${signed.date}/${signed.region}/s3/aws4_request`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const toSign = `AWS4-HMAC-SHA256\n${single(headers['x-amz-date'])}\n${scope}\n${digest}`;
    const key = this.signingKey(credentials.secretAccessKey, signed.date, signed.region);
    if (createHmac('sha256', key).update(toSign).digest('hex') === signed.signature) return null;
    return refusal(403, 'SignatureDoesNotMatch', 'the signature that we computed is not the one you sent', {
      fields: {
        AWSAccessKeyId: signed.accessKeyId,
        StringToSign: toSign,
        SignatureProvided: signed.signature,
        CanonicalRequest: canonical,
      },
    });
  }

  private signingKey(secret: string, date: string, region: string): Buffer {
    const name = `${date}/${region}/${secret}`;
    let key = this.signingKeys.get(name);
    if (!key) {
      if (this.signingKeys.size >= 64) this.signingKeys.clear(); // dates pass, and clients may send any
      key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), 's3'), 'aws4_request');
      this.signingKeys.set(name, key);
    }
    return key;
  }
}

/** What must be signed is: the host and every x-amz-* header; and the payload's hash must be there. */
function checkHeaders(request: StoreRequest, signed: Signed): S3Error | null {
  const names = signed.names.split(';');
  if (names.some((name, i) => i > 0 && name <= names[i - 1]!)) {
    return refusal(400, 'AuthorizationHeaderMalformed', 'SignedHeaders are not sorted');
  }
  const missing = Object.keys(request.headers).filter(
    (name) => (name === 'host' || name.startsWith('x-amz-')) && !names.includes(name),
  );
  if (missing.length > 0) {
    return refusal(403, 'AccessDenied', 'there were headers in the request that were not signed', {
      fields: { HeadersNotSigned: missing.join(', ') },
    });
  }
  const payload = single(request.headers['x-amz-content-sha256']);
  if (payload === undefined) {
    return refusal(400, 'InvalidRequest', 'the header x-amz-content-sha256 is missing');
  }
  const bodyless = request.method === 'GET' || request.method === 'HEAD' || request.method === 'DELETE';
  if (bodyless && payload !== 'UNSIGNED-PAYLOAD' && payload !== EMPTY_SHA256) {
    return refusal(
      400,
      'XAmzContentSHA256Mismatch',
      'x-amz-content-sha256 is not the hash of the (empty) body',
    );
  }
  return null;
}
