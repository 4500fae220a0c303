import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { SyntheticBody } from './bodies.js';
import { Buckets } from './buckets.js';
import { Conditions } from './conditions.js';
import { FaultTable } from './faults.js';
import { Handler } from './handler.js';
import { type LoggedRequest, RequestLog, type StoreCounters, zeroCounters } from './journal.js';
import type { Distribution, SlowTail } from './latency.js';
import type { BucketOptions, ObjectAttributes, ObjectInfo } from './objects.js';
import { checkOptions, type StoreOptions } from './options.js';
import type { RequestRate } from './rate-cap.js';
import { SignatureChecker, type StoreCredentials } from './sigv4-check.js';
import { Connections } from './sockets.js';
import { Timers } from './timers.js';

/** A running store: see `startStore`. */
export class ScriptedStore {
  readonly region: string;
  readonly faults: FaultTable;
  private readonly timers = new Timers();
  private readonly connections = new Connections(this.timers);
  private readonly buckets: Buckets;
  private readonly signatures: SignatureChecker;
  private readonly conditions: Conditions;
  private readonly log: RequestLog;
  private readonly counts = zeroCounters();
  private readonly http: http.Server | https.Server;
  private readonly front: net.Server;
  private readonly startedMs = performance.now();
  private current: StoreCredentials;

  constructor(private readonly options: StoreOptions) {
    checkOptions(options);
    this.region = options.region ?? 'us-east-1';
    this.buckets = new Buckets(this.region);
    this.faults = new FaultTable(options.seed ?? 0);
    this.log = new RequestLog(options.logCapacity ?? 10_000);
    this.conditions = new Conditions(options, this.nowMs);
    this.signatures = new SignatureChecker(this.region, options.wallClockMs ?? Date.now);
    this.current = {
      accessKeyId: options.accessKeyId ?? `OS2G${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: options.secretAccessKey ?? randomBytes(20).toString('hex'),
      sessionToken: options.sessionToken,
    };
    this.signatures.accept(this.current);
    this.http = this.makeHttp();
    // Half-open as Node's own HTTP server has it; its HTTPS server has not, and would not see a client leave in the handshake.
    const front = { allowHalfOpen: options.tls === undefined, noDelay: true };
    this.front = net.createServer(front, (socket) => this.onConnection(socket));
  }

  private readonly nowMs = (): number => performance.now() - this.startedMs;

  private makeHttp(): http.Server | https.Server {
    const { options } = this;
    const handler = new Handler({
      address: { basePath: options.basePath ?? '', strictTarget: options.strictTarget ?? true },
      region: this.region,
      anonymous: options.anonymous ?? false,
      pageSize: options.pageSize ?? 1000,
      putLimitBytes: options.putLimitBytes ?? 64 * 2 ** 20,
      buckets: this.buckets,
      faults: this.faults,
      conditions: this.conditions,
      signatures: this.signatures,
      log: this.log,
      counters: this.counts,
      timers: this.timers,
      nowMs: this.nowMs,
      rate: () => this.conditions.connectionRate,
    });
    // Node's own limits are off: connections end when the store's options and faults say so.
    const settings = { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 };
    const server = options.tls
      ? https.createServer({ ...settings, ...tlsSettings(options.tls) })
      : http.createServer(settings);
    server.on('request', (incoming, response) => {
      const connection = this.connections.of(incoming.socket);
      if (!connection) return; // closed since
      this.timers.cancel(connection.idleTimer);
      if (options.idleCloseMs !== undefined) response.once('finish', () => this.watchIdle(incoming.socket));
      handler.handle(incoming, response, connection);
    });
    server.on('clientError', (_error, socket) => {
      this.counts.malformed++;
      socket.destroy();
    });
    return server;
  }

  private onConnection(socket: Socket): void {
    this.connections.add(socket);
    const fault =
      this.faults.size > 0 ? this.faults.pick({ request: null, operation: 'connect', reused: false }) : null;
    if (fault) this.counts.faultsFired++;
    if (fault?.kind === 'close') {
      if (fault.how === 'rst') socket.resetAndDestroy();
      else socket.end(() => socket.destroy());
    } else if (fault?.kind === 'silence') {
      // Read and dropped, so that the client's own end is seen.
      socket.resume();
      socket.on('end', () => socket.destroy());
    } else {
      if (this.options.idleCloseMs !== undefined) this.watchIdle(socket);
      this.http.emit('connection', socket);
    }
  }

  private watchIdle(socket: Socket): void {
    const connection = this.connections.of(socket);
    if (!connection) return;
    this.timers.cancel(connection.idleTimer);
    connection.idleTimer = this.timers.after(this.options.idleCloseMs!, () => socket.destroySoon());
  }

  /** @internal Used by `startStore`. */
  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.front.once('error', reject);
      this.front.listen(this.options.port ?? 0, this.options.host ?? '127.0.0.1', () => {
        this.front.off('error', reject);
        resolve();
      });
    });
  }

  get port(): number {
    return (this.front.address() as AddressInfo).port;
  }

  /** `http://127.0.0.1:PORT`, with the base path where there is one and no slash at the end. */
  get endpoint(): string {
    const { host = '127.0.0.1', basePath = '', tls } = this.options;
    return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${this.port}${basePath}`;
  }

  /** The credentials accepted last. */
  get credentials(): StoreCredentials {
    return { ...this.current };
  }

  /** What was accepted so far answers 400 ExpiredToken from now on (`body: false`: without the document). */
  expireCredentials(options: { body?: boolean } = {}): void {
    this.signatures.expire(options.body ?? true);
  }

  /** Accepts these from now on, beside those that were accepted before and have not expired. */
  acceptCredentials(credentials: StoreCredentials): void {
    this.current = { ...credentials };
    this.signatures.accept(credentials);
  }

  /** Makes a bucket; one of that name stays as it is. @throws RangeError for a name that S3 refuses. */
  createBucket(name: string, options: BucketOptions = {}): void {
    this.buckets.create(name, options);
  }

  /** Puts an object; a present one is replaced. @throws RangeError where bucket or key cannot be. */
  put(
    bucket: string,
    key: string,
    body: Uint8Array | SyntheticBody,
    attributes: ObjectAttributes = {},
  ): ObjectInfo {
    return this.buckets.put(bucket, key, body, attributes);
  }

  /** False where there was none. */
  delete(bucket: string, key: string): boolean {
    return this.buckets.delete(bucket, key);
  }

  /** What a right answer holds, of the object as it is now. @throws RangeError where it is not there. */
  expectedBytes(bucket: string, key: string, offset = 0, length?: number): Uint8Array {
    return this.buckets.bytes(bucket, key, offset, length);
  }

  /** Time to the first byte, in ms, of every answer from now on; null: none. */
  setLatency(distribution: Distribution | null, slowTail?: SlowTail): void {
    this.conditions.setLatency(distribution, slowTail);
  }

  /** 503 SlowDown above this rate from now on; null: no cap. */
  setRequestRate(rate: RequestRate | null): void {
    this.conditions.setRequestRate(rate);
  }

  /** MB (10^6 bytes) a second that one connection carries from now on; null: no limit. */
  setConnectionRate(mbPerS: number | null): void {
    this.conditions.setConnectionRate(mbPerS);
  }

  get counters(): Readonly<StoreCounters> & { connections: number; mostOpenSockets: number } {
    return {
      ...this.counts,
      connections: this.connections.accepted,
      mostOpenSockets: this.connections.mostOpen,
    };
  }

  /** The last requests, oldest first. */
  requests(): LoggedRequest[] {
    return this.log.entries();
  }

  /** Empties the log and sets the counters to 0; requests in flight stay counted. */
  resetCounters(): void {
    const { inFlight } = this.counts;
    Object.assign(this.counts, zeroCounters(), { inFlight, mostInFlight: inFlight });
    this.log.clear();
  }

  get openSockets(): number {
    return this.connections.size;
  }

  get pendingTimers(): number {
    return this.timers.count;
  }

  /** Destroys every connection, clears every timer; resolves when the port is free. */
  async close(): Promise<void> {
    this.timers.close();
    const closed = new Promise((resolve) => this.front.close(resolve));
    await Promise.all([closed, this.connections.destroyAll()]);
  }
}

function tlsSettings({ key, cert, clientCa }: NonNullable<StoreOptions['tls']>): https.ServerOptions {
  return clientCa === undefined ? { key, cert } : { key, cert, ca: clientCa, requestCert: true };
}

/**
 * Starts a store on loopback; resolves when it listens.
 * @throws RangeError for an option out of range; the system's error where the port cannot be had.
 */
export async function startStore(options: StoreOptions = {}): Promise<ScriptedStore> {
  const store = new ScriptedStore(options);
  await store.listen();
  return store;
}
