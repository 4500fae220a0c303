import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
} from 'node:tls';
import type { BucketAccess } from '../s3/access.js';
import type { ProxyRoute } from '../s3/proxy.js';
import { openTunnel } from '../s3/tunnel.js';

type Done = (...ended: [error: Error, socket: null] | [error: null, socket: Socket]) => void;

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

  constructor(
    private readonly access: BucketAccess,
    private readonly proxy: ProxyRoute | null,
  ) {
    const { protocol, caPem, clientCertificate } = access;
    this.context =
      protocol === 'https:'
        ? createSecureContext({
            ca: caPem ?? undefined,
            cert: clientCertificate?.certPem,
            key: clientCertificate?.keyPem,
          })
        : null;
  }

  /** The URL origin that undici builds the Host header from. */
  get origin(): string {
    return `${this.access.protocol}//${this.access.host}`;
  }

  /**
   * Begins to connect.
   *
   * @param use given each socket that the connection is on, as soon as it is there: whoever gives up destroys the last one
   * @param done called once, with the error or the socket that is ready
   */
  dial(use: (socket: Socket) => void, done: Done): void {
    const { context, proxy } = this;
    if (context === null) this.watch(this.dialTcp(), 'connect', use, done);
    else if (proxy === null) this.watch(this.dialTls(context, undefined), 'secureConnect', use, done);
    else this.dialThrough(proxy, context, use, done);
  }

  /** Resolves when no socket is open. */
  async drained(): Promise<void> {
    if (this.open === 0) return;
    await new Promise<void>((resolve) => this.whenNoneOpen.push(resolve));
  }

  private dialThrough(
    proxy: ProxyRoute,
    context: SecureContext,
    use: (socket: Socket) => void,
    done: Done,
  ): void {
    const { hostname, port } = this.access;
    const store = `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`;
    const tunnel = openTunnel(proxy, store, (error) => {
      if (error === null) this.watch(this.dialTls(context, tunnel), 'secureConnect', use, done, tunnel);
      else {
        tunnel.destroy();
        done(error, null);
      }
    });
    this.count(tunnel);
    use(tunnel);
  }

  /** @param under the socket below, where that is the one that is counted */
  private watch(
    socket: Socket,
    ready: string,
    use: (socket: Socket) => void,
    done: Done,
    under?: Socket,
  ): void {
    let settled = false;
    const settle = (error: Error | null): void => {
      if (settled) return;
      settled = true;
      if (error === null) done(null, socket);
      else done(error, null);
    };
    (under ?? socket).setNoDelay(true);
    (under ?? socket).setKeepAlive(true, 60_000);
    socket.once(ready, () => settle(null));
    socket.on('error', settle);
    socket.once('close', () => settle(new Error('closed while connecting')));
    if (under === undefined) this.count(socket);
    use(socket);
  }

  private count(socket: Socket): void {
    this.open++;
    socket.once('close', () => this.closed());
  }

  private dialTcp(): Socket {
    const { hostname: host, port } = this.proxy ?? this.access;
    // Node passes the mark to the stream, though its types do not say so: a read is up to 64 KiB long.
    const options: TcpNetConnectOpts & { highWaterMark: number } = { host, port, highWaterMark: 64 * 1024 };
    return connectTcp(options);
  }

  private dialTls(secureContext: SecureContext, tunnel: Socket | undefined): Socket {
    const { hostname: host, port } = this.access;
    const socket = connectTls({
      ...(tunnel === undefined ? { host, port } : { socket: tunnel }),
      secureContext,
      session: this.session,
      servername: isIP(host) === 0 ? host : undefined,
      // Of a socket that is there already, Node does not know whose certificate it is to be.
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
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
