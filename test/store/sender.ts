import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Delivery } from './delivery.js';
import type { StoreCounters } from './journal.js';
import { type Connection, endConnection } from './sockets.js';
import type { Timers } from './timers.js';

const CHUNK_BYTES = 256 * 1024;
/** With a rate limit, pieces are no larger than this, so that a body moves and does not jump. */
const PACED_CHUNK_BYTES = 64 * 1024;

/** A client that finds data and a reset at once may take it for an orderly end (libuv does), so the reset comes a little later. */
const RESET_GAP_MS = 2;

export interface SenderContext {
  timers: Timers;
  counters: StoreCounters;
  nowMs(): number;
  /** Bytes a millisecond of one connection; null: no limit. */
  rate(): number | null;
}

function writeHead(response: ServerResponse, delivery: Delivery): void {
  const { reply, framing } = delivery;
  const headers: Record<string, string | number> = { ...reply.headers };
  if (framing === 'length') headers['Content-Length'] = reply.contentLength;
  if (framing === 'absent') {
    headers.Connection = 'close';
    response.removeHeader('Transfer-Encoding'); // or Node would send chunks
  }
  response.writeHead(reply.status, headers);
}

/** Puts an answer on the wire. `isHead`: no body goes with it. */
export function send(
  response: ServerResponse,
  connection: Connection,
  delivery: Delivery,
  isHead: boolean,
  context: SenderContext,
): void {
  writeHead(response, delivery);
  const { body } = delivery.reply;
  if (body === null || isHead) {
    response.end();
    return;
  }
  const simple = delivery.end === 'keep' && delivery.piece === null && context.rate() === null;
  if (simple && body.sizeBytes <= CHUNK_BYTES) {
    context.counters.bytesSent += body.sizeBytes;
    response.end(body.read(0, body.sizeBytes));
    return;
  }
  new BodyPump(response, connection, delivery, context).next();
}

/** Sends a body piece by piece, at the pace of the client, the rate limit and the fault. */
class BodyPump {
  private sent = 0;
  private readonly socket: Socket | null;

  constructor(
    private readonly response: ServerResponse,
    private readonly connection: Connection,
    private readonly delivery: Delivery,
    private readonly context: SenderContext,
  ) {
    this.socket = response.socket;
  }

  /** Sends as much as may go now; goes on by itself when more may. */
  next(): void {
    while (!this.gone()) {
      if (this.sent >= this.delivery.stopAfter) {
        this.finish();
        return;
      }
      const bytes = this.pieceBytes();
      const waitMs = this.reserve(bytes);
      if (waitMs >= 1) {
        this.context.timers.after(waitMs, () => {
          if (!this.gone() && this.write(bytes)) this.next();
        });
        return;
      }
      if (!this.write(bytes)) return;
    }
  }

  private gone(): boolean {
    return this.response.destroyed || !this.socket || this.socket.destroyed;
  }

  private pieceBytes(): number {
    const most =
      this.delivery.piece?.bytes ?? (this.context.rate() === null ? CHUNK_BYTES : PACED_CHUNK_BYTES);
    return Math.min(most, this.delivery.stopAfter - this.sent);
  }

  /** Takes the connection's time for this piece; returns how long until it would have passed, in ms. */
  private reserve(bytes: number): number {
    const rate = this.context.rate();
    if (rate === null) return 0;
    const nowMs = this.context.nowMs();
    this.connection.busyUntilMs = Math.max(this.connection.busyUntilMs, nowMs) + bytes / rate;
    return this.connection.busyUntilMs - nowMs;
  }

  /** True where the next piece may follow at once; else it is arranged for. */
  private write(bytes: number): boolean {
    const ready = this.response.write(this.delivery.reply.body!.read(this.sent, bytes));
    this.sent += bytes;
    this.context.counters.bytesSent += bytes;
    const everyMs = this.delivery.piece?.everyMs ?? 0;
    if (everyMs > 0 && this.sent < this.delivery.stopAfter) {
      this.context.timers.after(everyMs, () => this.next());
      return false;
    }
    if (!ready) this.response.once('drain', () => this.next());
    return ready;
  }

  private finish(): void {
    const { end } = this.delivery;
    if (end === 'keep') {
      this.response.end();
      return;
    }
    this.response.flushHeaders(); // with no body byte sent, the head has not gone yet
    if (end === 'hang') return;
    const socket = this.socket!;
    // The callback of an empty write comes when all before it is with the kernel.
    socket.write('', () => {
      if (end === 'fin') endConnection(this.connection, socket, end);
      else this.context.timers.after(RESET_GAP_MS, () => setImmediate(() => this.reset(socket)));
    });
  }

  private reset(socket: Socket): void {
    if (!socket.destroyed) endConnection(this.connection, socket, 'rst');
  }
}
