import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { S3Credentials } from '../s3/access.js';

/** SHA-256 of nothing: the payload hash of every GET. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * AWS Signature Version 4 in the Authorization header, for requests without a body.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 *
 * The signing key holds for a day, the time stamp for a second: both are kept, so that a signature costs one SHA-256
 * and one HMAC.
 */
export class RequestSigner {
  private readonly scopeTail: string;
  private second = Number.NaN;
  private stamp = '';
  private scope = '';
  private keyDay = '';
  private keyOf: S3Credentials | null = null;
  private key: KeyObject = createSecretKey(Buffer.alloc(32));

  constructor(
    private readonly region: string,
    private readonly service: string,
  ) {
    this.scopeTail = `/${region}/${service}/aws4_request`;
  }

  /** The x-amz-date value for a time in milliseconds since 1970: `20130524T000000Z`. */
  amzDate(epochMs: number): string {
    const second = Math.floor(epochMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.stamp = `${new Date(second * 1000).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
      this.scope = this.stamp.slice(0, 8) + this.scopeTail;
    }
    return this.stamp;
  }

  /**
   * The Authorization header.
   *
   * @param path the path as it is sent: encoded once, never normalised (S3 signs it as it stands)
   * @param query canonical query string, '' for none
   * @param headers names (lower case, sorted) and values in turn; host and every x-amz-* header must be there
   * @param epochMs the time that x-amz-date says
   */
  authorization(
    method: string,
    path: string,
    query: string,
    headers: readonly string[],
    credentials: S3Credentials,
    epochMs: number,
  ): string {
    const stamp = this.amzDate(epochMs);
    let canonical = '';
    let names = '';
    for (let i = 0; i < headers.length; i += 2) {
      canonical += `${headers[i]}:${headers[i + 1]}\n`;
      names += i === 0 ? headers[i] : `;${headers[i]}`;
    }
    const request = `${method}\n${path}\n${query}\n${canonical}\n${names}\n${EMPTY_SHA256}`;
    const text = `AWS4-HMAC-SHA256\n${stamp}\n${this.scope}\n${hash('sha256', request, 'hex')}`;
    const signature = createHmac('sha256', this.signingKey(credentials)).update(text).digest('hex');
    return `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${this.scope}, SignedHeaders=${names}, Signature=${signature}`;
  }

  private signingKey(credentials: S3Credentials): KeyObject {
    const day = this.stamp.slice(0, 8);
    if (credentials !== this.keyOf || day !== this.keyDay) {
      const ofDay = hmac(`AWS4${credentials.secretAccessKey}`, day);
      const ofService = hmac(hmac(ofDay, this.region), this.service);
      this.key = createSecretKey(hmac(ofService, 'aws4_request'));
      this.keyOf = credentials;
      this.keyDay = day;
    }
    return this.key;
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
