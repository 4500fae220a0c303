import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A proxy as companies have them: forwards plain requests with a whole URL as target, and opens tunnels. */
export interface TestProxy {
  readonly port: number;
  /** `CONNECT host:port` and `GET http://host:port/path`, as they came, with the Proxy-Authorization. */
  readonly seen: { line: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** @param wants Proxy-Authorization that it insists on (407 without); @param connectStatus answered to CONNECT instead */
export async function startProxy(
  options: { wants?: string; connectStatus?: number } = {},
): Promise<TestProxy> {
  const seen: TestProxy['seen'] = [];
  const sockets = new Set<Socket>();
  const isRefused = (incoming: IncomingMessage): boolean => {
    const authorization = incoming.headers['proxy-authorization'];
    seen.push({ line: `${incoming.method} ${incoming.url}`, authorization });
    return options.wants !== undefined && authorization !== options.wants;
  };
  const server: Server = createServer((incoming, answer) => {
    if (isRefused(incoming)) {
      answer.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('authenticate');
      return;
    }
    const { 'proxy-authorization': _own, ...headers } = incoming.headers;
    const url = new URL(incoming.url ?? '');
    // The path as it came: URL would fold `..` away.
    const path = (incoming.url ?? '').slice(url.origin.length);
    const onwards = httpRequest(
      {
        hostname: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port,
        path,
        method: incoming.method,
        headers,
      },
      (from) => {
        answer.writeHead(from.statusCode ?? 502, from.headers);
        from.pipe(answer);
      },
    );
    onwards.on('error', () => answer.destroy());
    incoming.pipe(onwards);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (incoming, client: Socket, head) => {
    client.on('error', () => {});
    const status = isRefused(incoming) ? 407 : options.connectStatus;
    if (status !== undefined) {
      client.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(incoming.url ?? '') ?? [];
    const store = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      store.write(head);
      store.pipe(client);
      client.pipe(store);
    });
    store.on('error', () => client.destroy());
    client.on('close', () => store.destroy());
    store.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
