import type { Dispatcher } from 'undici';
import type { BucketAccess, S3Credentials } from '../s3/access.js';
import type { ProxyRoute } from '../s3/proxy.js';
import { quotedEtag, rangeText } from './response-check.js';
import { EMPTY_SHA256, RequestSigner } from './sigv4.js';

/** What one GET asks for. */
export interface GetParameters {
  /** Encoded path. */
  path: string;
  offset: number;
  length: number;
  /** The range is the whole object: no Range header is needed. */
  whole: boolean;
  /** For If-Match; null: none is sent. */
  etag: string | null;
}

/**
 * Makes GET requests for one bucket. The options object and its list of headers are filled anew for each request:
 * undici copies what it needs before `dispatch` returns.
 */
export class GetRequestMaker {
  private readonly signer: RequestSigner;
  private readonly signed: string[] = [];
  private readonly headers: string[] = [];
  private readonly options: Dispatcher.DispatchOptions;
  /** Before the path: of a store behind a proxy that is asked for the object itself (RFC 9112, 3.2.2). */
  private readonly targetPrefix: string;
  private readonly proxyAuthorization: string | null;

  /**
   * @param askChecksum asks the store for its full-object checksum
   * @param wallMs milliseconds since 1970
   * @param proxy null: the store itself is connected to
   */
  constructor(
    private readonly access: BucketAccess,
    private readonly askChecksum: boolean,
    private readonly wallMs: () => number,
    proxy: ProxyRoute | null = null,
  ) {
    // Where it is a tunnel, the proxy sees nothing of the request.
    const asked = access.protocol === 'http:' ? proxy : null;
    this.targetPrefix = asked === null ? '' : `http://${access.host}`;
    this.proxyAuthorization = asked?.authorization ?? null;
    this.signer = new RequestSigner(access.signingRegion, access.signingName);
    // undici's own time limits count whole seconds: off, ours take their place.
    this.options = { method: 'GET', path: '/', headers: this.headers, headersTimeout: 0, bodyTimeout: 0 };
  }

  /** Valid until the next call. */
  make(get: GetParameters, credentials: S3Credentials | null): Dispatcher.DispatchOptions {
    const { headers, signed, access } = this;
    const nowMs = this.wallMs();
    signed.length = 0;
    signed.push('host', access.host);
    if (!get.whole) signed.push('range', `bytes=${rangeText(get.offset, get.length)}`);
    if (this.askChecksum) signed.push('x-amz-checksum-mode', 'ENABLED');
    if (credentials !== null) {
      signed.push('x-amz-content-sha256', EMPTY_SHA256, 'x-amz-date', this.signer.amzDate(nowMs));
    }
    if (access.requesterPays) signed.push('x-amz-request-payer', 'requester');
    if (credentials?.sessionToken) signed.push('x-amz-security-token', credentials.sessionToken);

    headers.length = 0;
    for (let i = 2; i < signed.length; i++) headers.push(signed[i]!);
    headers.push('accept-encoding', 'identity', 'user-agent', 'os2g');
    if (get.etag !== null) headers.push('if-match', quotedEtag(get.etag));
    if (this.proxyAuthorization !== null) headers.push('proxy-authorization', this.proxyAuthorization);
    if (credentials !== null) {
      headers.push(
        'authorization',
        this.signer.authorization('GET', get.path, '', signed, credentials, nowMs),
      );
    }
    this.options.path = this.targetPrefix + get.path;
    return this.options;
  }
}
