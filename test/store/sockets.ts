import type { Socket } from 'node:net';
import type { CloseHow } from './faults.js';
import type { Timers } from './timers.js';

/** A connection, as the store sees it. */
export interface Connection {
  /** Counted from 1 in order of arrival. */
  readonly number: number;
  /** The TCP socket, below TLS where there is TLS. */
  readonly raw: Socket;
  /** Requests that arrived on it. */
  requests: number;
  /** Until when the rate limit keeps it busy, on the store's clock. */
  busyUntilMs: number;
  idleTimer: NodeJS.Timeout | null;
}

/** All open connections. */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  private readonly byPeer = new Map<string, Connection>();
  accepted = 0;
  mostOpen = 0;
  private onEmpty: (() => void) | null = null;

  constructor(private readonly timers: Timers) {}

  add(raw: Socket): Connection {
    const connection = { number: ++this.accepted, raw, requests: 0, busyUntilMs: 0, idleTimer: null };
    this.open.set(raw, connection);
    const peer = `${raw.remoteAddress}:${raw.remotePort}`;
    this.byPeer.set(peer, connection);
    this.mostOpen = Math.max(this.mostOpen, this.open.size);
    raw.on('error', () => raw.destroy()); // peers may reset as they like
    raw.on('close', () => this.forget(raw, peer));
    return connection;
  }

  private forget(raw: Socket, peer: string): void {
    const connection = this.open.get(raw);
    if (!connection) return;
    this.timers.cancel(connection.idleTimer);
    this.open.delete(raw);
    if (this.byPeer.get(peer) === connection) this.byPeer.delete(peer);
    if (this.open.size === 0) this.onEmpty?.();
  }

  /** The connection behind a request's socket, which is a TLS one above the raw socket where there is TLS. */
  of(socket: Socket): Connection | undefined {
    return this.open.get(socket) ?? this.byPeer.get(`${socket.remoteAddress}:${socket.remotePort}`);
  }

  get size(): number {
    return this.open.size;
  }

  /** Destroys all; resolves when none is left. */
  destroyAll(): Promise<void> {
    return new Promise((resolve) => {
      if (this.open.size === 0) resolve();
      else this.onEmpty = resolve;
      for (const raw of this.open.keys()) raw.destroy();
    });
  }
}

/** Ends a connection in order (after what was written) or by a reset. `socket` is the one that HTTP writes to. */
export function endConnection(connection: Connection, socket: Socket, how: CloseHow): void {
  if (how === 'fin') socket.destroySoon();
  else connection.raw.resetAndDestroy();
}
