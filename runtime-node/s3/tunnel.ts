import { connect as connectTcp, type Socket } from 'node:net';
import type { ProxyRoute } from './proxy.js';

const MOST_HEAD_BYTES = 16 * 1024;

/** A proxy did not do what it was asked for. The message names the proxy, never its user name and password. */
export class ProxyError extends Error {
  /** Whether the same request may well succeed a little later: no answer, or one of the class 5xx. */
  readonly passing: boolean;

  constructor({ hostname }: ProxyRoute, what: string, passing: boolean) {
    super(`the proxy ${hostname}: ${what}`);
    this.name = 'ProxyError';
    this.passing = passing;
  }
}

/**
 * Connects to a proxy and asks it for a tunnel to `store` (RFC 9110, 9.3.6).
 *
 * @param store `host:port`, with brackets where IPv6
 * @param done called once, with the error or null; of the socket's own errors with theirs
 * @returns the socket to the proxy; after success the store is at its other end
 */
export function openTunnel(proxy: ProxyRoute, store: string, done: (error: Error | null) => void): Socket {
  const socket = connectTcp({ host: proxy.hostname, port: proxy.port });
  let answer = '';
  let settled = false;
  const settle = (error: Error | null): void => {
    if (settled) return;
    settled = true;
    socket.off('data', onData);
    done(error);
  };
  const fail = (what: string, passing: boolean): void => settle(new ProxyError(proxy, what, passing));
  const onData = (chunk: Buffer): void => {
    answer += chunk.toString('latin1');
    for (;;) {
      const end = answer.indexOf('\r\n\r\n');
      if (end < 0) {
        if (answer.length >= MOST_HEAD_BYTES) fail('its answer to CONNECT has no end', false);
        return;
      }
      const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(answer)?.[1] ?? Number.NaN);
      const rest = answer.slice(end + 4);
      if (Number.isNaN(status)) return fail('not an HTTP answer to CONNECT', false);
      if (status >= 200 && status < 300) {
        return rest === '' ? settle(null) : fail('it talks into the tunnel', false);
      }
      if (status >= 200 || status === 101) {
        const asks = status === 407 ? ': it asks for a user name and a password, or for others' : '';
        return fail(`it answered CONNECT with status ${status}${asks}`, status >= 500);
      }
      answer = rest;
    }
  };
  const hungUp = (): void => fail('it closed the connection instead of answering CONNECT', true);
  socket.once('connect', () => socket.write(connectRequest(store, proxy.authorization)));
  socket.on('data', onData);
  socket.once('end', hungUp);
  socket.once('close', hungUp);
  socket.on('error', settle);
  return socket;
}

function connectRequest(store: string, authorization: string | null): string {
  const asks = authorization === null ? '' : `proxy-authorization: ${authorization}\r\n`;
  return `CONNECT ${store} HTTP/1.1\r\nhost: ${store}\r\nuser-agent: os2g\r\n${asks}\r\n`;
}
