import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import type { BucketAccess } from '../s3/access.js';

/**
 * Opens connections to one store, and knows how many are open. Certificates are always verified, also where the
 * process was told otherwise by NODE_TLS_REJECT_UNAUTHORIZED.
 */
export class Dialer {
  /** Sockets that are open or being opened. */
  open = 0;
  private readonly context: SecureContext | null;
  private session: Buffer | undefined;
  private whenNoneOpen: (() => void)[] = [];

  constructor(private readonly access: BucketAccess) {
    this.context =
      access.protocol === 'https:'
        ? createSecureContext(access.caPem === null ? {} : { ca: access.caPem })
        : null;
  }

  /** The URL origin that undici builds the Host header from. */
  get origin(): string {
    return `${this.access.protocol}//${this.access.host}`;
  }

  /** Begins to connect; `done` is called once, with the error or null. */
  dial(done: (error: Error | null) => void): Socket {
    const socket = this.context === null ? this.dialTcp() : this.dialTls(this.context);
    this.open++;
    let settled = false;
    const settle = (error: Error | null): void => {
      if (settled) return;
      settled = true;
      done(error);
    };
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.once(this.context === null ? 'connect' : 'secureConnect', () => settle(null));
    socket.on('error', settle);
    socket.once('close', () => {
      settle(new Error('closed while connecting'));
      this.closed();
    });
    return socket;
  }

  /** Resolves when no socket is open. */
  async drained(): Promise<void> {
    if (this.open === 0) return;
    await new Promise<void>((resolve) => this.whenNoneOpen.push(resolve));
  }

  private dialTcp(): Socket {
    const { hostname: host, port } = this.access;
    // Node passes the mark to the stream, though its types do not say so: a read is up to 64 KiB long.
    const options: TcpNetConnectOpts & { highWaterMark: number } = { host, port, highWaterMark: 64 * 1024 };
    return connectTcp(options);
  }

  private dialTls(secureContext: SecureContext): Socket {
    const { hostname: host, port } = this.access;
    const socket = connectTls({
      host,
      port,
      secureContext,
      session: this.session,
      servername: isIP(host) === 0 ? host : undefined,
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    });
    socket.on('session', (session) => {
      this.session = session;
    });
    return socket;
  }

  private closed(): void {
    this.open--;
    if (this.open > 0) return;
    const waiting = this.whenNoneOpen;
    this.whenNoneOpen = [];
    for (const resolve of waiting) resolve();
  }
}
