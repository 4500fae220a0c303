import type { Operation, StoreRequest } from './request.js';

/** Headers that tests ask about; credentials are never kept. */
const KEPT_HEADERS = [
  'host',
  'if-match',
  'x-amz-checksum-mode',
  'x-amz-request-payer',
  'x-amz-content-sha256',
  'x-amz-date',
  'user-agent',
  'accept-encoding',
  'te',
  'expect',
] as const;

/** One request, as it arrived and was answered. */
export interface LoggedRequest {
  /** Counted from 1. */
  readonly number: number;
  readonly method: string;
  readonly operation: Operation;
  readonly bucket: string | null;
  readonly key: string | null;
  readonly query: string;
  readonly range: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** It carried an Authorization header. */
  readonly signed: boolean;
  /** Number of its connection. */
  readonly connection: number;
  /** Its place among the requests of its connection, from 1. */
  readonly onConnection: number;
  /** Milliseconds since the store started. */
  readonly atMs: number;
  /** As sent; 0: not answered (yet), or not with HTTP. */
  status: number;
  /** The code of the error that was sent, if any. */
  s3Code: string | null;
  /** Kind of the fault that was applied. */
  fault: string | null;
}

export interface StoreCounters {
  requests: number;
  gets: number;
  heads: number;
  lists: number;
  puts: number;
  /** Body bytes handed to sockets. */
  bytesSent: number;
  /** 503 by the request-rate cap. */
  throttled: number;
  faultsFired: number;
  /** Requests refused by authentication. */
  refused: number;
  /** What was not HTTP. */
  malformed: number;
  /** Answers by status. */
  statuses: Record<number, number>;
  inFlight: number;
  mostInFlight: number;
}

export function zeroCounters(): StoreCounters {
  return {
    requests: 0,
    gets: 0,
    heads: 0,
    lists: 0,
    puts: 0,
    bytesSent: 0,
    throttled: 0,
    faultsFired: 0,
    refused: 0,
    malformed: 0,
    statuses: {},
    inFlight: 0,
    mostInFlight: 0,
  };
}

export function countOperation(counters: StoreCounters, request: StoreRequest): void {
  if (request.operation === 'get') counters.gets++;
  else if (request.operation === 'head') counters.heads++;
  else if (request.operation === 'list') counters.lists++;
  else if (request.operation === 'put') counters.puts++;
}

/** The last requests, at most `capacity` of them. */
export class RequestLog {
  private readonly ring: LoggedRequest[] = [];
  private next = 0;
  private total = 0;

  constructor(private readonly capacity: number) {}

  add(
    request: StoreRequest,
    connection: { number: number; requests: number } | undefined,
    atMs: number,
  ): LoggedRequest {
    const headers: Record<string, string> = {};
    for (const name of KEPT_HEADERS) {
      const value = request.headers[name];
      if (value !== undefined) headers[name] = String(value);
    }
    const entry: LoggedRequest = {
      number: ++this.total,
      method: request.method,
      operation: request.operation,
      bucket: request.bucket,
      key: request.key,
      query: request.canonicalQuery,
      range: request.headers.range ?? null,
      headers,
      signed: request.headers.authorization !== undefined,
      connection: connection?.number ?? 0,
      onConnection: connection?.requests ?? 0,
      atMs,
      status: 0,
      s3Code: null,
      fault: null,
    };
    if (this.capacity > 0) {
      this.ring[this.next] = entry;
      this.next = (this.next + 1) % this.capacity;
    }
    return entry;
  }

  /** Oldest first. */
  entries(): LoggedRequest[] {
    if (this.ring.length < this.capacity) return [...this.ring];
    return [...this.ring.slice(this.next), ...this.ring.slice(0, this.next)];
  }

  clear(): void {
    this.ring.length = 0;
    this.next = 0;
  }
}
