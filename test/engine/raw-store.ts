import { createServer, type Server, type Socket } from 'node:net';

/** A request as its bytes came. */
export interface RawRequest {
  method: string;
  /** The target of the request line, untouched. */
  target: string;
  /** Names in lower case. */
  headers: Map<string, string>;
  /** 0 for the first request on its connection. */
  onConnection: number;
  /** 0 for the first request to the server. */
  number: number;
}

export type RawHandler = (request: RawRequest, socket: Socket) => void;

export interface RawStore {
  port: number;
  requests: RawRequest[];
  connections: number;
  /** Connections open now. */
  open: Set<Socket>;
  close(): Promise<void>;
}

/** A server that answers with whatever bytes a test writes: for answers that no well-behaved store gives. */
export async function startRawStore(handler: RawHandler): Promise<RawStore> {
  const open = new Set<Socket>();
  const requests: RawRequest[] = [];
  const server = createServer((socket) => {
    store.connections++;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    let pending = '';
    let onConnection = 0;
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const request = parseHead(pending.slice(0, end), onConnection++, requests.length);
        pending = pending.slice(end + 4);
        requests.push(request);
        handler(request, socket);
      }
    });
  });
  await listen(server);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const store: RawStore = {
    port: address.port,
    requests,
    connections: 0,
    open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
  return store;
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

function parseHead(head: string, onConnection: number, number: number): RawRequest {
  const [line = '', ...rest] = head.split('\r\n');
  const [method = '', target = ''] = line.split(' ');
  const headers = new Map(
    rest.map((text) => {
      const colon = text.indexOf(':');
      return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
    }),
  );
  return { method, target, headers, onConnection, number };
}

/** Bytes of an answer: status line, headers as given, body. */
export function answer(status: number, headers: Record<string, string>, body: Buffer | string = ''): Buffer {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} X\r\n${head.join('')}\r\n`, 'latin1'),
    typeof body === 'string' ? Buffer.from(body) : body,
  ]);
}

/** The right answer to a request for an object: 206 for its Range, else 200. */
export function objectAnswer(request: RawRequest, body: Buffer, etag: string): Buffer {
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get('range') ?? '');
  if (!range) return answer(200, { ETag: etag, 'Content-Length': String(body.length) }, body);
  const part = body.subarray(Number(range[1]), Number(range[2]) + 1);
  const contentRange = `bytes ${range[1]}-${range[2]}/${body.length}`;
  return answer(
    206,
    { ETag: etag, 'Content-Length': String(part.length), 'Content-Range': contentRange },
    part,
  );
}

export function errorXml(code: string, message = 'no', more = ''): string {
  return `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message>${more}<RequestId>R1</RequestId></Error>`;
}
