import type { Clock } from '../clock.js';
import type { BucketAccess, S3Credentials } from '../s3/access.js';
import { routeTo } from '../s3/proxy.js';
import { hiderOf } from '../s3/secrets.js';
import { answerFailure, refusesIfMatch } from './answer-failure.js';
import { type AnsweredRequest, answerMend } from './answer-sentence.js';
import { Attempts, type FailureDetails } from './attempts.js';
import type { RunningChecksum } from './checksum.js';
import { Connections } from './connections.js';
import { Deadlines, limitMeaning } from './deadlines.js';
import { Dialer } from './dialer.js';
import type { CompletionSink, FetchFailure, GetEngine, Limits, ObjectTable } from './engine.js';
import { Exchange, type ExchangeOwner } from './exchange.js';
import type { FailureName } from './failure.js';
import { type GetParameters, GetRequestMaker } from './get-request.js';
import { encodeObjectPath } from './object-path.js';
import { PinnedEtags } from './pinned-etags.js';
import { quotedEtag } from './response-check.js';
import type { SocketFailure } from './socket-failure.js';
import { whyUnaskable } from './unaskable.js';

export interface PortableEngineOptions {
  table: ObjectTable;
  access: BucketAccess;
  limits: Limits;
  clock: Clock;
  /** `etag` and `checksum` hold every answer against the manifest's ETag; `checksum` asks for the store's checksum too. */
  verify: 'size' | 'etag' | 'checksum';
  /** Most connections, and so the most attempts at one time. */
  maxSockets: number;
  /** Told once of each thing that the user should know and that is no failure. */
  onNotice?: (notice: string) => void;
  /** Milliseconds since 1970, for signatures; default: the system's clock. */
  wallMs?: () => number;
  /** For https_proxy, http_proxy, all_proxy and no_proxy; default: the process's. */
  env?: NodeJS.ProcessEnv;
}

/** Credentials count as expired this long before they are, where the store gives no reason for its 400. */
const EXPIRY_SLACK_MS = 60_000;

/**
 * The GET engine in plain Node: undici's HTTP parser under our own connections, limits and checks.
 * @throws ConfigError `bad_option` that names a proxy that is none
 */
export function createPortableEngine(options: PortableEngineOptions): GetEngine {
  return new PortableEngine(options);
}

class PortableEngine implements GetEngine, ExchangeOwner {
  readonly name = 'portable';
  private readonly table: ObjectTable;
  private readonly access: BucketAccess;
  private readonly wallMs: () => number;
  private readonly requests: GetRequestMaker;
  private readonly connections: Connections;
  private readonly deadlines: Deadlines;
  private readonly attempts: Attempts;
  private readonly pinned = new PinnedEtags();
  private readonly parameters: GetParameters = { path: '', offset: 0, length: 0, whole: false, etag: null };
  readonly checksums = { checked: 0, unchecked: 0 };
  private storeTakesIfMatch = true;
  private closed = false;

  constructor(private readonly options: PortableEngineOptions) {
    const { table, access, clock, limits, maxSockets } = options;
    this.table = table;
    this.access = access;
    this.attempts = new Attempts(access.bucket, clock);
    this.wallMs = options.wallMs ?? Date.now;
    const { protocol, hostname, port } = access;
    const proxy = routeTo(protocol === 'https:', hostname, port, options.env ?? process.env);
    this.requests = new GetRequestMaker(access, options.verify === 'checksum', this.wallMs, proxy);
    this.connections = new Connections(new Dialer(access, proxy), clock, this, maxSockets);
    this.deadlines = new Deadlines(limits, clock, this.connections.running, (exchange, limit) => {
      exchange.kill();
      this.end(exchange, limit, { message: `${limitMeaning(limit)} (${exchange.bytes} bytes had come)` });
    });
  }

  get sockets(): number {
    return this.connections.sockets;
  }

  get onWake(): (() => void) | null {
    return this.attempts.waker.onWake;
  }

  set onWake(call: (() => void) | null) {
    this.attempts.waker.onWake = call;
  }

  get(
    id: number,
    attempt: number,
    row: number,
    offset: number,
    length: number,
    memory: Uint8Array,
    at = 0,
  ): void {
    if (this.closed) throw new Error('get() on a closed engine');
    this.attempts.begin(id);
    const target = memory.subarray(at, at + length);
    const key = this.table.key(row);
    const objectSize = this.table.objectSize(row);
    const path = encodeObjectPath(this.access.pathPrefix, key);
    const whole = offset === 0 && length === objectSize;
    const known = this.options.verify === 'size' ? null : this.table.etag(row);
    const etag = known ?? (whole ? null : this.pinned.get(row));
    const why = whyUnaskable({
      key,
      offset,
      length,
      objectSize,
      targetBytes: target.length,
      proven: known !== null,
      encodable: path !== null,
    });
    if (path === null || why !== null) {
      this.attempts.fail(id, attempt, key, why?.name ?? 'refused', 0, 0, { message: why?.what ?? '' });
      return;
    }
    if (this.connections.full) {
      const message = `more than ${this.options.maxSockets} attempts at one time`;
      this.attempts.fail(id, attempt, key, 'internal', 0, 0, { message });
      return;
    }

    const exchange = this.connections.take();
    exchange.id = id;
    exchange.attempt = attempt;
    exchange.row = row;
    exchange.key = key;
    exchange.asked.offset = offset;
    exchange.asked.length = length;
    exchange.asked.objectSize = objectSize;
    exchange.asked.etag = etag;
    exchange.ifMatch = etag !== null && this.storeTakesIfMatch;
    exchange.credentials = this.access.credentials?.current() ?? null;
    this.attempts.runsOn(exchange);
    this.deadlines.start();
    this.send(exchange, path, target);
  }

  cancel(id: number, attempt: number): void {
    const running = this.attempts.find(id, attempt);
    if (running === undefined) return;
    const message = 'cancelled';
    if (running instanceof Exchange) {
      running.kill();
      this.end(running, 'cancelled', { message });
    } else {
      this.attempts.fail(id, attempt, running.key, 'cancelled', 0, 0, { message });
    }
  }

  drain(sink: CompletionSink, max: number): number {
    return this.attempts.ring.drain(sink, max);
  }

  arm(): void {
    this.attempts.waker.arm();
  }

  failure(id: number): FetchFailure | undefined {
    return this.attempts.failure(id);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.deadlines.stop();
    this.attempts.close();
    await this.connections.close();
  }

  // ---- called by exchanges ------------------------------------------------------------------------

  accepted(exchange: Exchange): string | null {
    const { asked, headers, row } = exchange;
    const isPart = asked.length < asked.objectSize;
    const wrong = asked.etag === null && isPart ? this.pinned.pin(row, headers.etag) : null;
    if (wrong === null) this.attempts.firstByte(exchange);
    return wrong;
  }

  received(exchange: Exchange, checksum: RunningChecksum | null): void {
    if (checksum === null) {
      this.checksums.unchecked++;
      this.attempts.succeed(exchange.id, exchange.attempt, exchange.bytes);
      this.connections.release(exchange);
      return;
    }
    this.checksums.checked++;
    const { id, attempt, key, bytes, status } = exchange;
    const compare = (digest: string): void => {
      if (digest === checksum.expected) this.attempts.succeed(id, attempt, bytes);
      else {
        const message = `the ${checksum.algorithm} checksum is ${digest}, the store says ${checksum.expected}`;
        this.attempts.fail(id, attempt, key, 'checksum', 0, bytes, { message, status });
      }
    };
    const digest = checksum.digest();
    if (typeof digest === 'string') compare(digest);
    else this.attempts.settle(id, attempt, key, digest, compare, 'checksum');
    this.connections.release(exchange);
  }

  answeredError(exchange: Exchange, status: number, body: string, target: Uint8Array | null): void {
    if (status === 412 && exchange.ifMatch && target !== null) {
      this.askWithoutIfMatch(exchange, target);
      return;
    }
    const request = this.answeredRequest(exchange.credentials, exchange.ifMatch);
    const failure = answerFailure(status, exchange.headers, body, request);
    const ifMatchRefused = failure.name === 'server' && refusesIfMatch(status, failure.s3Code, request);
    if (ifMatchRefused) this.doWithoutIfMatch(status);
    const details = {
      message: failure.what,
      mend: answerMend(failure.s3Code),
      status,
      s3Code: failure.s3Code ?? undefined,
      requestId: failure.requestId ?? undefined,
      region: failure.region ?? undefined,
      bodyStart: failure.bodyStart,
      ...(failure.name === 'changed' ? etagsOf(exchange) : {}),
    };
    const { id, attempt, key, credentials } = exchange;
    if (failure.name === 'expired' && credentials !== null && this.access.credentials !== null) {
      const refreshed = this.access.credentials.refresh(credentials);
      const expired = (): void => this.attempts.fail(id, attempt, key, 'expired', 0, 0, details);
      this.attempts.settle(id, attempt, key, refreshed, expired, 'forbidden');
      this.connections.release(exchange);
    } else this.end(exchange, failure.name, details, failure.retryAfterNs);
  }

  mismatched(exchange: Exchange, name: FailureName, what: string): void {
    const { status, headers } = exchange;
    const hide = hiderOf(exchange.credentials);
    const requestId = headers.requestId === null ? undefined : hide(headers.requestId);
    const etags = name === 'changed' ? etagsOf(exchange) : {};
    this.end(exchange, name, { message: hide(what), status, requestId, ...etags });
  }

  disconnected(exchange: Exchange, failure: SocketFailure, cause: Error): void {
    const { name, what: message, mend } = failure;
    this.end(exchange, name, { message, mend, status: exchange.status || undefined, cause });
  }

  // ---- requests -----------------------------------------------------------------------------------

  /** Sends the GET that the exchange's fields describe. */
  private send(exchange: Exchange, path: string, target: Uint8Array): void {
    const { parameters } = this;
    const { offset, length, objectSize, etag } = exchange.asked;
    parameters.path = path;
    parameters.offset = offset;
    parameters.length = length;
    parameters.whole = offset === 0 && length === objectSize;
    parameters.etag = exchange.ifMatch ? etag : null;
    exchange.begin(this.requests.make(parameters, exchange.credentials), target);
  }

  /**
   * A 412 does not say which version is there now, and its user must know. So the same is asked once more without the condition:
   * the answer's ETag is compared before a byte of it is used.
   */
  private askWithoutIfMatch(exchange: Exchange, target: Uint8Array): void {
    const path = encodeObjectPath(this.access.pathPrefix, exchange.key);
    if (path === null) throw new Error('a key was answered that has no path');
    exchange.ifMatch = false;
    this.send(exchange, path, target);
  }

  // ---- ends ---------------------------------------------------------------------------------------

  private end(exchange: Exchange, name: FailureName, details: FailureDetails, retryAfterNs = 0): void {
    const { id, attempt, key, bytes } = exchange;
    this.attempts.fail(id, attempt, key, name, retryAfterNs, bytes, details);
    this.connections.release(exchange);
  }

  private answeredRequest(credentials: S3Credentials | null, ifMatch: boolean): AnsweredRequest {
    const nowMs = this.wallMs();
    const hasToken = credentials !== null && credentials.sessionToken !== null;
    return {
      ifMatch,
      signingRegion: this.access.signingRegion,
      requesterPays: this.access.requesterPays,
      anonymous: credentials === null,
      askedChecksum: this.options.verify === 'checksum',
      mayBeExpired: hasToken && (credentials.expiresAtMs ?? 0) <= nowMs + EXPIRY_SLACK_MS,
      nowMs,
      hide: hiderOf(credentials),
    };
  }

  private doWithoutIfMatch(status: number): void {
    if (!this.storeTakesIfMatch) return;
    this.storeTakesIfMatch = false;
    this.options.onNotice?.(
      `the store answers If-Match with status ${status}: from now on ETags are compared when the answer comes`,
    );
  }
}

function etagsOf({
  asked,
  headers,
  credentials,
}: Exchange): Pick<FetchFailure, 'expectedEtag' | 'actualEtag'> {
  return {
    expectedEtag: asked.etag === null ? undefined : quotedEtag(asked.etag),
    actualEtag: headers.etag === null ? undefined : hiderOf(credentials)(headers.etag),
  };
}
