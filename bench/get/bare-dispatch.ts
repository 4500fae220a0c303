import { type Dispatcher, Pool } from 'undici';
import type { ClientOptions, GetClient } from './client.js';
import { BUCKET, keyOf, OBJECTS } from './object-set.js';
import { SignedHeaders } from './signed-headers.js';

/**
 * Bare undici at its leanest: `dispatch` with a handler that copies each chunk into landing memory and checks the length. No
 * order, no limits, no retry, no ETag, nothing that a feed adds.
 */
export class BareDispatch implements GetClient {
  readonly #pool: Pool;
  readonly #headers: SignedHeaders;
  readonly #landing: Uint8Array;
  readonly #objectBytes: number;
  readonly #slots: number;
  readonly #concurrency: number;
  #next = 0;
  #left = 0;
  #running = 0;
  #done: () => void = () => {};
  #failed: (error: Error) => void = () => {};

  constructor({ port, objectBytes, concurrency, landingBytes }: ClientOptions) {
    const host = `127.0.0.1:${port}`;
    this.#headers = new SignedHeaders(host);
    this.#landing = new Uint8Array(landingBytes);
    this.#objectBytes = objectBytes;
    this.#slots = Math.floor(landingBytes / objectBytes);
    this.#concurrency = concurrency;
    this.#pool = new Pool(`http://${host}`, {
      connections: concurrency,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async round(requests: number): Promise<number> {
    this.#left = requests;
    await new Promise<void>((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      while (this.#running < this.#concurrency && this.#left > 0) this.#begin();
    });
    return requests;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #begin(): void {
    this.#left--;
    this.#running++;
    const at = (this.#next % this.#slots) * this.#objectBytes;
    const path = `/${BUCKET}/${keyOf(this.#next++ % OBJECTS)}`;
    const target = this.#landing.subarray(at, at + this.#objectBytes);
    this.#pool.dispatch({ method: 'GET', path, headers: this.#headers.of(path) }, this.#handler(target));
  }

  #handler(target: Uint8Array): Dispatcher.DispatchHandler {
    let bytes = 0;
    return {
      onConnect: () => {},
      onHeaders: (status) => {
        if (status !== 200) throw new Error(`status ${status}`);
        return true;
      },
      onData: (chunk) => {
        target.set(chunk, bytes);
        bytes += chunk.length;
        return true;
      },
      onComplete: () => {
        if (bytes !== this.#objectBytes) this.#failed(new Error(`${bytes} bytes`));
        this.#running--;
        if (this.#left > 0) this.#begin();
        else if (this.#running === 0) this.#done();
      },
      onError: (error) => this.#failed(error),
    };
  }
}
