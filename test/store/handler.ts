import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Buckets } from './buckets.js';
import type { Conditions } from './conditions.js';
import { type Delivery, faultyDelivery, plainDelivery } from './delivery.js';
import type { Fault, FaultTable } from './faults.js';
import { countOperation, type LoggedRequest, type RequestLog, type StoreCounters } from './journal.js';
import { perform } from './operations.js';
import { errorReply, isS3Error, type Reply, type S3Error } from './reply.js';
import { type AddressOptions, parseRequest, type StoreRequest, unreadableRequest } from './request.js';
import { type SenderContext, send } from './sender.js';
import type { SignatureChecker } from './sigv4-check.js';
import { type Connection, endConnection } from './sockets.js';

export interface HandlerContext extends SenderContext {
  address: AddressOptions;
  region: string;
  anonymous: boolean | 'refuse-signed';
  pageSize: number;
  putLimitBytes: number;
  buckets: Buckets;
  faults: FaultTable;
  conditions: Conditions;
  signatures: SignatureChecker;
  log: RequestLog;
  counters: StoreCounters;
}

const SLOW_DOWN: S3Error = { status: 503, code: 'SlowDown', message: 'please reduce your request rate' };

/** One request on its way: what arrived, where the answer goes, and what is noted about it. */
interface Exchange {
  incoming: IncomingMessage;
  response: ServerResponse;
  connection: Connection;
  request: StoreRequest;
  entry: LoggedRequest;
  requestId: string;
  fault: Fault | null;
}

/** Answers requests: rate cap, then faults, then authentication, then the operation. */
export class Handler {
  constructor(private readonly context: HandlerContext) {}

  handle(incoming: IncomingMessage, response: ServerResponse, connection: Connection): void {
    const { context } = this;
    connection.requests++;
    const number = ++context.counters.requests;
    this.countFlight(response);
    const parsed = parseRequest(incoming, context.address);
    const request = isS3Error(parsed) ? unreadableRequest(incoming) : parsed;
    countOperation(context.counters, request);
    const exchange: Exchange = {
      incoming,
      response,
      connection,
      request,
      entry: context.log.add(request, connection, context.nowMs()),
      requestId: number.toString(16).toUpperCase().padStart(16, '0'),
      fault: null,
    };
    if (isS3Error(parsed)) this.refuse(exchange, parsed);
    else this.admit(exchange);
  }

  private countFlight(response: ServerResponse): void {
    const { counters } = this.context;
    counters.inFlight++;
    counters.mostInFlight = Math.max(counters.mostInFlight, counters.inFlight);
    response.on('close', () => counters.inFlight--);
  }

  private admit(exchange: Exchange): void {
    const { conditions, counters, faults } = this.context;
    const refusal = conditions.refusal();
    if (refusal) {
      counters.throttled++;
      const headers: Record<string, string> = {};
      if (refusal.retryAfterS !== undefined) headers['Retry-After'] = String(refusal.retryAfterS);
      this.refuse(exchange, { ...SLOW_DOWN, headers });
      return;
    }
    if (faults.size > 0) {
      const { request, connection } = exchange;
      exchange.fault = faults.pick({
        request,
        operation: request.operation,
        reused: connection.requests > 1,
      });
    }
    if (exchange.fault) {
      counters.faultsFired++;
      exchange.entry.fault = exchange.fault.kind;
      if (this.insteadOfAnswer(exchange, exchange.fault)) return;
    }
    this.authenticate(exchange);
  }

  /** Faults that come in place of what was asked for. */
  private insteadOfAnswer(exchange: Exchange, fault: Fault): boolean {
    const { connection, response } = exchange;
    const socket = response.socket;
    if (!socket) return true;
    switch (fault.kind) {
      case 'close':
        endConnection(connection, socket, fault.how);
        return true;
      case 'silence':
        return fault.afterBodyBytes === undefined;
      case 'garbage':
        socket.write(fault.bytes ?? '\u0000\u0001this is not HTTP\r\n\r\n', 'latin1');
        endConnection(connection, socket, 'fin');
        return true;
      case 'status': {
        const {
          status,
          code = 'InternalError',
          message = 'as the fault table says',
          headers,
          fields,
        } = fault;
        const bodyless = fault.body === false;
        this.refuse(exchange, {
          status,
          code,
          message,
          bodyless,
          ...(headers && { headers }),
          ...(fields && { fields }),
        });
        return true;
      }
      case 'error-in-200': {
        const error = { status: fault.status ?? 200, code: fault.code, message: 'as the fault table says' };
        this.refuse(exchange, error);
        return true;
      }
      default:
        return false;
    }
  }

  private authenticate(exchange: Exchange): void {
    const refusal = this.authRefusal(exchange.request);
    if (refusal) {
      this.context.counters.refused++;
      this.refuse(exchange, refusal);
    } else if (exchange.request.operation === 'put') this.collectBody(exchange);
    else this.answer(exchange, null);
  }

  private authRefusal(request: StoreRequest): S3Error | null {
    const { anonymous, buckets, region, signatures } = this.context;
    const signed = request.headers.authorization !== undefined;
    if (anonymous === 'refuse-signed' && signed) {
      return {
        status: 400,
        code: 'InvalidRequest',
        message: 'an anonymous request was expected, and this one is signed',
      };
    }
    if (anonymous) return null;
    const bucket = buckets.find(request.bucket);
    if (!signed && bucket?.options.public) return null;
    return signatures.check(request, bucket?.region ?? region);
  }

  private collectBody(exchange: Exchange): void {
    const limit = this.context.putLimitBytes;
    const pieces: Buffer[] = [];
    let sizeBytes = 0;
    exchange.incoming.on('data', (piece: Buffer) => {
      sizeBytes += piece.length;
      if (sizeBytes <= limit) pieces.push(piece);
    });
    exchange.incoming.on('end', () => {
      if (sizeBytes <= limit) this.answer(exchange, Buffer.concat(pieces));
      else
        this.refuse(exchange, { status: 400, code: 'EntityTooLarge', message: `more than ${limit} bytes` });
    });
  }

  private answer(exchange: Exchange, body: Buffer | null): void {
    const { context } = this;
    const { fault, request } = exchange;
    if (fault?.kind === 'replace' && fault.when !== 'after') this.replace(request, fault);
    const reply = perform(request, body, { buckets: context.buckets, pageSize: context.pageSize, fault });
    if (fault?.kind === 'replace' && fault.when === 'after') this.replace(request, fault);
    if (isS3Error(reply)) this.refuse(exchange, reply);
    else this.deliver(exchange, reply);
  }

  private replace(request: StoreRequest, fault: Fault & { kind: 'replace' }): void {
    const bucket = this.context.buckets.find(request.bucket);
    const old = bucket?.get(request.key ?? '');
    if (!bucket || !old) return;
    const info = { key: old.key, sizeBytes: old.body.sizeBytes, etag: old.etag };
    const body = typeof fault.body === 'function' ? fault.body(info) : fault.body;
    bucket.put(old.key, body, fault.attributes ?? {});
  }

  private refuse(exchange: Exchange, error: S3Error): void {
    const { request, requestId } = exchange;
    exchange.entry.s3Code = error.code;
    this.deliver(exchange, errorReply(error, request.method === 'HEAD', request.resource, requestId));
  }

  private deliver(exchange: Exchange, reply: Reply): void {
    const { conditions, timers } = this.context;
    const { fault } = exchange;
    reply.headers['x-amz-request-id'] = exchange.requestId;
    const delivery = fault ? faultyDelivery(reply, fault) : plainDelivery(reply);
    const waitMs = Math.round(conditions.nextFirstByteMs() + (fault?.kind === 'delay' ? fault.ms : 0));
    if (waitMs > 0) timers.after(waitMs, () => this.transmit(exchange, delivery));
    else this.transmit(exchange, delivery);
  }

  private transmit(exchange: Exchange, delivery: Delivery): void {
    const { response, connection, entry, request } = exchange;
    if (response.destroyed || response.socket === null) return; // the client has gone
    const { status } = delivery.reply;
    entry.status = status;
    const { statuses } = this.context.counters;
    statuses[status] = (statuses[status] ?? 0) + 1;
    send(response, connection, delivery, request.method === 'HEAD', this.context);
  }
}
