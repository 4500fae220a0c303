import { Pool } from 'undici';
import type { ClientOptions, GetClient } from './client.js';
import { BUCKET, keyOf, OBJECTS } from './object-set.js';
import { SignedHeaders } from './signed-headers.js';

/** undici as most programs use it: `request` and a `for await` over the body. */
export class BareRequest implements GetClient {
  readonly #pool: Pool;
  readonly #headers: SignedHeaders;
  readonly #landing: Uint8Array;
  readonly #objectBytes: number;
  readonly #slots: number;
  readonly #concurrency: number;
  #next = 0;

  constructor({ port, objectBytes, concurrency, landingBytes }: ClientOptions) {
    const host = `127.0.0.1:${port}`;
    this.#headers = new SignedHeaders(host);
    this.#landing = new Uint8Array(landingBytes);
    this.#objectBytes = objectBytes;
    this.#slots = Math.floor(landingBytes / objectBytes);
    this.#concurrency = concurrency;
    this.#pool = new Pool(`http://${host}`, { connections: concurrency, pipelining: 1 });
  }

  async round(requests: number): Promise<number> {
    let left = requests;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await this.#get();
    };
    await Promise.all(Array.from({ length: this.#concurrency }, worker));
    return requests;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #get(): Promise<void> {
    const at = (this.#next % this.#slots) * this.#objectBytes;
    const path = `/${BUCKET}/${keyOf(this.#next++ % OBJECTS)}`;
    const target = this.#landing.subarray(at, at + this.#objectBytes);
    const { statusCode, body } = await this.#pool.request({
      method: 'GET',
      path,
      headers: this.#headers.of(path),
    });
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      target.set(chunk, bytes);
      bytes += chunk.length;
    }
    if (bytes !== this.#objectBytes) throw new Error(`${bytes} bytes`);
  }
}
