import net from 'node:net';

/** What a raw connection has brought so far. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** A client that sends text and keeps every byte that comes: it sees faults as they are. */
export class RawClient {
  private readonly socket: net.Socket;
  private pieces: Buffer[] = [];
  private waiters: (() => void)[] = [];
  /** How the store ended the connection. */
  ended: 'fin' | 'rst' | null = null;
  connected = false;

  constructor(port: number) {
    this.socket = net.connect({ port, host: '127.0.0.1' });
    this.socket.on('connect', () => this.note(() => (this.connected = true)));
    this.socket.on('data', (piece) => this.note(() => this.pieces.push(piece)));
    this.socket.on('end', () => this.note(() => (this.ended ??= 'fin')));
    this.socket.on('error', () => this.note(() => (this.ended ??= 'rst')));
  }

  private note(change: () => void): void {
    change();
    for (const wake of this.waiters.splice(0)) wake();
  }

  get(path: string, headers: Record<string, string> = {}): void {
    const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    this.socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.pieces);
  }

  /** The answer as far as it has come; null before its head is complete. */
  answer(): RawAnswer | null {
    const { bytes } = this;
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [line = '', ...rest] = bytes.subarray(0, end).toString('latin1').split('\r\n');
    const headers: Record<string, string> = {};
    for (const header of rest) {
      const colon = header.indexOf(':');
      headers[header.slice(0, colon).toLowerCase()] = header.slice(colon + 1).trim();
    }
    return { status: Number(line.split(' ')[1]), headers, body: bytes.subarray(end + 4) };
  }

  /** Resolves once the condition holds; it is asked again whenever something arrives. */
  async until(condition: (client: RawClient) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.ended)
        throw new Error(`the connection ended (${this.ended}) after ${this.bytes.length} bytes`);
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
  }

  untilEnd(): Promise<void> {
    return this.until((client) => client.ended !== null);
  }

  /** Forgets what came, for the next request on the same connection. */
  reset(): void {
    this.pieces = [];
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Resolves when the condition holds; rejects after 5 s, so that a failing test ends. */
export async function eventually(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 5000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
