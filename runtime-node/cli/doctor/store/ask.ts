import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { readErrorDocument } from '../../../engine/error-document.js';
import { GetRequestMaker } from '../../../engine/get-request.js';
import { encodeObjectPath } from '../../../engine/object-path.js';
import { EMPTY_SHA256, RequestSigner } from '../../../engine/sigv4.js';
import type { BucketAccess, S3Credentials } from '../../../s3/access.js';
import { makeAgents } from '../../../s3/agents.js';
import { type ProxyRoute, routeTo } from '../../../s3/proxy.js';
import { hiderOf } from '../../../s3/secrets.js';

const ANSWER_LIMIT_MS = 5000;
const KEPT_BODY = 4096;

/** One answer, whatever it says. What the credentials hold is taken out of its body. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The first bytes of an answer that is no success, and of a listing. */
  readonly body: string;
  /** The code of an error document; null: none. */
  readonly code: string | null;
  /** `status 404, NoSuchKey, no such key` */
  readonly said: string;
}

/** What of an object is asked for. */
export interface Wanted {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
  readonly sizeBytes: number;
  /** For If-Match; null: no condition. */
  readonly etag: string | null;
  /** Asks for the store's checksum, too. */
  readonly checksum: boolean;
}

/** Sends single requests to a store, each on a connection of its own: the engine's own GETs, and the first page of a listing. */
export class Asker {
  readonly proxy: ProxyRoute | null;

  /** @throws ConfigError that names a proxy that is none */
  constructor(
    readonly access: BucketAccess,
    private readonly signal: AbortSignal,
    private readonly env: NodeJS.ProcessEnv,
  ) {
    const { protocol, hostname, port } = access;
    this.proxy = routeTo(protocol === 'https:', hostname, port, env);
  }

  /** Asks the bucket for its first key. @throws Error of the socket, of TLS or of the HTTP parser */
  list(credentials: S3Credentials | null): Promise<Answer> {
    const { access } = this;
    const path = access.pathPrefix === '' ? '/' : access.pathPrefix;
    const query = 'list-type=2&max-keys=1';
    const headers: string[] = ['host', access.host];
    if (credentials !== null) {
      const nowMs = Date.now();
      const signer = new RequestSigner(access.signingRegion, access.signingName);
      headers.push('x-amz-content-sha256', EMPTY_SHA256, 'x-amz-date', signer.amzDate(nowMs));
      if (access.requesterPays) headers.push('x-amz-request-payer', 'requester');
      if (credentials.sessionToken !== null) headers.push('x-amz-security-token', credentials.sessionToken);
      headers.push('authorization', signer.authorization('GET', path, query, headers, credentials, nowMs));
    }
    const plain = this.proxy !== null && access.protocol === 'http:' ? this.proxy : null;
    if (plain?.authorization) headers.push('proxy-authorization', plain.authorization);
    return this.send(
      `${plain === null ? '' : `http://${access.host}`}${path}?${query}`,
      headers,
      credentials,
    );
  }

  /** As the engine asks for it. */
  get({ key, offset, length, sizeBytes, etag, checksum }: Wanted): Promise<Answer> {
    const { access, proxy } = this;
    const path = encodeObjectPath(access.pathPrefix, key);
    if (path === null) throw new Error('a listed key has no path');
    const credentials = access.credentials?.current() ?? null;
    const whole = offset === 0 && length === sizeBytes;
    const maker = new GetRequestMaker(access, checksum, Date.now, proxy);
    const made = maker.make({ path, offset, length, whole, etag }, credentials);
    return this.send(made.path, ['host', access.host, ...(made.headers as string[])], credentials);
  }

  private send(path: string, headers: string[], credentials: S3Credentials | null): Promise<Answer> {
    const { access, proxy, signal } = this;
    const isTls = access.protocol === 'https:';
    const { httpAgent, httpsAgent } = makeAgents(access, this.env, { keepAlive: false });
    const { hostname, port } = (isTls ? null : proxy) ?? access;
    const options = { method: 'GET', path, hostname, port, headers, signal, timeout: ANSWER_LIMIT_MS };
    const hide = hiderOf(credentials);
    return new Promise((resolve, reject) => {
      const sent = isTls
        ? httpsRequest({ ...options, agent: httpsAgent })
        : httpRequest({ ...options, agent: httpAgent });
      sent.on('response', (answer) => {
        startOf(answer).then((body) => resolve(answerOf(answer, hide(body))), reject);
      });
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS / 1000} s`)));
      sent.on('error', reject);
      sent.end();
    });
  }
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

function answerOf({ statusCode = 0, headers }: IncomingMessage, body: string): Answer {
  const { code, message } = readErrorDocument(body);
  const said = [`status ${statusCode}`, code, message].filter((part) => part !== null).join(', ');
  return { status: statusCode, headers, body, code, said };
}
