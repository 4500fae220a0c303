import { EMPTY_SHA256, RequestSigner } from '../../runtime-node/engine/sigv4.js';
import { CREDENTIALS } from './client.js';
import { ETAG, REGION } from './object-set.js';

/** The headers that the feed's engine sends, made in the straightest way. */
export class SignedHeaders {
  readonly #signer = new RequestSigner(REGION, 's3');
  readonly #host: string;

  constructor(host: string) {
    this.#host = host;
  }

  /** Names and values in turn. */
  of(path: string): string[] {
    const nowMs = Date.now();
    const date = this.#signer.amzDate(nowMs);
    const signed = ['host', this.#host, 'x-amz-content-sha256', EMPTY_SHA256, 'x-amz-date', date];
    return [
      'x-amz-content-sha256',
      EMPTY_SHA256,
      'x-amz-date',
      date,
      'accept-encoding',
      'identity',
      'user-agent',
      'bench',
      'if-match',
      ETAG,
      'authorization',
      this.#signer.authorization('GET', path, '', signed, CREDENTIALS, nowMs),
    ];
  }
}
