import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { Clock } from '../clock.js';
import type { S3Credentials } from '../s3/access.js';
import { AnswerHeaders } from './answer-headers.js';
import { checksumOf, type RunningChecksum } from './checksum.js';
import type { Dialer } from './dialer.js';
import type { Limits } from './engine.js';
import type { FailureName } from './failure.js';
import { type Asked, checkAnswer, isDocumentInsteadOfObject } from './response-check.js';
import { type SocketFailure, socketFailure } from './socket-failure.js';

const ERROR_BODY_KEPT_BYTES = 4096;
const ERROR_BODY_READ_BYTES = 256 * 1024;
/** Shorter than stores keep idle connections (S3: about 20 s), long enough for a step of training. */
const KEEP_ALIVE_MS = 15_000;
const NO_TARGET = new Uint8Array(0);

const IDLE = 0;
const CONNECTING = 1;
const SENT = 2;
const BODY = 3;

/** Who runs the exchanges. Each attempt ends in exactly one of the calls but `accepted`. */
export interface ExchangeOwner {
  /** The answer's head is the right one; its body follows. */
  /** The answer is the one that was asked for; what is wrong with it beside the others of its sample, or null. */
  accepted(exchange: Exchange): string | null;
  /** All bytes are in the target; a checksum, where there is one, is still to be compared. */
  received(exchange: Exchange, checksum: RunningChecksum | null): void;
  /**
   * An answer that is no object, read to its end or as far as it matters.
   * @param target where the object was to go; null where nothing more can be asked on this exchange
   */
  answeredError(exchange: Exchange, status: number, body: string, target: Uint8Array | null): void;
  /** The answer is not what was asked for. */
  mismatched(exchange: Exchange, name: FailureName, what: string): void;
  disconnected(exchange: Exchange, failure: SocketFailure, cause: Error): void;
}

/**
 * One connection, and the one GET that is on it: the handler that undici calls, used again for every GET. Each connection
 * has an undici Client of its own, so nothing ever waits in undici's queue, and it is known whether a socket had
 * answered before. The handler is undici's plain one (`onConnect`, `onHeaders`, ...): it hands over headers as they came.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  // The attempt
  id = 0;
  attempt = 0;
  row = 0;
  key = '';
  readonly asked: Asked = { offset: 0, length: 0, objectSize: 0, etag: null };
  ifMatch = false;
  credentials: S3Credentials | null = null;
  /** Bytes in the target so far. */
  bytes = 0;
  readonly headers = new AnswerHeaders();
  status = 0;
  firstByteNs = 0;
  /** Position in the list of running exchanges. */
  runningIndex = -1;
  /** Killed: not to be used again. */
  dead = false;

  private target: Uint8Array = NO_TARGET;
  private phase = IDLE;
  private startNs = 0;
  /** Since when the present limit counts. */
  private sinceNs = 0;
  private answered = false;
  private checksum: RunningChecksum | null = null;
  private isError = false;
  private errorBody = '';
  private errorBytes = 0;

  private socket: Socket | null = null;
  private answersOnSocket = 0;
  private readonly client: Client;

  constructor(
    dialer: Dialer,
    private readonly clock: Clock,
    private readonly owner: ExchangeOwner,
  ) {
    this.client = new Client(dialer.origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: (_options, done) => {
        this.answersOnSocket = 0;
        dialer.dial(
          (socket) => {
            this.socket = socket;
          },
          (error, socket) => (error === null ? done(null, socket) : done(error, null)),
        );
      },
    });
  }

  /** The connection is open and may be used again. */
  get warm(): boolean {
    return this.socket !== null && !this.socket.destroyed && !this.dead;
  }

  /** Begins the GET whose fields the owner has set. */
  begin(options: Dispatcher.DispatchOptions, target: Uint8Array): void {
    this.target = target;
    this.bytes = 0;
    this.status = 0;
    this.answered = false;
    this.checksum = null;
    this.isError = false;
    this.errorBody = '';
    this.errorBytes = 0;
    this.phase = CONNECTING;
    this.startNs = this.clock.nowNs();
    this.sinceNs = this.startNs;
    this.client.dispatch(options, this);
  }

  /** Ends whatever is on the connection, and the connection; no call to the owner follows. */
  kill(): void {
    this.dead = true;
    this.finish();
    this.client.destroy(null, () => {});
    this.socket?.destroy();
  }

  /** The limit that has run out, or null. */
  overdue(nowNs: number, limits: Limits): FailureName | null {
    if (this.phase === IDLE) return null;
    if (nowNs - this.startNs >= limits.totalNs) return 'timeout_total';
    const waitedNs = nowNs - this.sinceNs;
    if (this.phase === CONNECTING) return waitedNs >= limits.connectNs ? 'timeout_connect' : null;
    if (this.phase === SENT) return waitedNs >= limits.firstByteNs ? 'timeout_first_byte' : null;
    return waitedNs >= limits.idleNs ? 'timeout_idle' : null;
  }

  // ---- called by undici ---------------------------------------------------------------------------

  onConnect(): void {
    if (this.phase !== CONNECTING) return;
    this.phase = SENT;
    this.sinceNs = this.clock.nowNs();
  }

  onResponseStarted(): void {
    this.answered = true;
    this.firstByteNs = this.clock.nowNs();
  }

  onHeaders(status: number, raw: Buffer[]): boolean {
    if (this.phase !== SENT || status < 200) return true;
    this.phase = BODY;
    this.sinceNs = this.clock.nowNs();
    this.status = status;
    this.headers.read(raw);
    this.isError = (status !== 200 && status !== 206) || isDocumentInsteadOfObject(this.headers);
    if (this.isError) return true;
    const verdict = checkAnswer(status, this.headers, this.asked);
    if (verdict !== null) {
      this.giveUp(verdict.name, verdict.what);
      return true;
    }
    const isWhole = this.asked.offset === 0 && this.asked.length === this.asked.objectSize;
    if (isWhole) this.checksum = checksumOf(this.headers);
    const wrong = this.owner.accepted(this);
    if (wrong !== null) this.giveUp('changed', wrong);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.phase !== BODY) return true;
    this.sinceNs = this.clock.nowNs();
    if (this.isError) {
      this.keepError(chunk);
      return true;
    }
    const { length } = this.asked;
    if (this.bytes + chunk.length > length) {
      this.giveUp('long', `more than the ${length} bytes asked for came`);
      return true;
    }
    this.target.set(chunk, this.bytes);
    this.bytes += chunk.length;
    this.checksum?.update(chunk);
    return true;
  }

  onComplete(): void {
    this.answersOnSocket++;
    if (this.phase !== BODY) return;
    const { checksum, isError, errorBody, status, bytes, target } = this;
    const { length } = this.asked;
    this.finish();
    if (isError) this.owner.answeredError(this, status, errorBody, target);
    else if (bytes < length) {
      this.owner.mismatched(this, 'short', `the body ended after ${bytes} of ${length} bytes`);
    } else this.owner.received(this, checksum);
  }

  onError(error: Error): void {
    if (this.phase === IDLE) return;
    const progress = {
      sent: this.phase !== CONNECTING,
      answered: this.answered,
      reused: this.answersOnSocket > 0,
    };
    const { isError, errorBody, status } = this;
    this.finish();
    if (isError) this.owner.answeredError(this, status, errorBody, null);
    else this.owner.disconnected(this, socketFailure(error, progress), error);
  }

  // ---- inside ---------------------------------------------------------------------------------------

  private keepError(chunk: Buffer): void {
    const room = ERROR_BODY_KEPT_BYTES - this.errorBody.length;
    if (room > 0) this.errorBody += chunk.toString('latin1', 0, room);
    this.errorBytes += chunk.length;
    if (this.errorBytes <= ERROR_BODY_READ_BYTES) return;
    const { status, errorBody } = this;
    this.kill();
    this.owner.answeredError(this, status, errorBody, null);
  }

  /** The rest of the answer is of no use: the connection goes with it. */
  private giveUp(name: FailureName, what: string): void {
    this.kill();
    this.owner.mismatched(this, name, what);
  }

  private finish(): void {
    this.phase = IDLE;
    this.target = NO_TARGET;
    this.checksum = null;
  }
}
