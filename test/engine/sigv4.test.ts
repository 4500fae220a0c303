import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeObjectPath, mayBeFolded } from '../../runtime-node/engine/object-path.js';
import { EMPTY_SHA256, RequestSigner } from '../../runtime-node/engine/sigv4.js';
import type { S3Credentials } from '../../runtime-node/s3/access.js';

const credentials = (over: Partial<S3Credentials> = {}): S3Credentials => ({
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
  expiresAtMs: null,
  ...over,
});

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, examples "GET Object", "GET Bucket
// Lifecycle" and "Get Bucket (List Objects)"
const HOST = 'examplebucket.s3.amazonaws.com';
const examples = [
  {
    name: 'GET Object',
    path: '/test.txt',
    query: '',
    headers: {
      host: HOST,
      range: 'bytes=0-9',
      'x-amz-content-sha256': EMPTY_SHA256,
      'x-amz-date': '20130524T000000Z',
    },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'GET Bucket Lifecycle',
    path: '/',
    query: 'lifecycle=',
    headers: { host: HOST, 'x-amz-content-sha256': EMPTY_SHA256, 'x-amz-date': '20130524T000000Z' },
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    name: 'List Objects',
    path: '/',
    query: 'max-keys=2&prefix=J',
    headers: { host: HOST, 'x-amz-content-sha256': EMPTY_SHA256, 'x-amz-date': '20130524T000000Z' },
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
];
for (const { name, path, query, headers, signature } of examples) {
  test(`the published example ${name}`, () => {
    const signer = new RequestSigner('us-east-1', 's3');
    const nowMs = Date.UTC(2013, 4, 24);
    assert.is(signer.amzDate(nowMs), '20130524T000000Z');
    const got = signer.authorization(
      'GET',
      path,
      query,
      Object.entries(headers).flat(),
      credentials(),
      nowMs,
    );
    assert.is(
      got,
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=${Object.keys(headers).join(';')}, Signature=${signature}`,
    );
  });
}

/** The SDK's signer on Node's hashes. */
class Sha256 {
  private readonly hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytes(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.hash.update(bytes(data));
  }
  async digest(): Promise<Uint8Array> {
    return this.hash.digest();
  }
  reset(): void {
    throw new Error('not used');
  }
}
function bytes(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}

test('random keys, times and tokens: the same signature as the SDK', async () => {
  const signer = new RequestSigner('eu-north-1', 's3');
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      fc.integer({ min: 0, max: 4_000_000_000_000 }),
      fc.option(fc.base64String({ minLength: 4 })),
      async (key, nowMs, sessionToken) => {
        const path = encodeObjectPath('/bucket', key);
        if (path === null) throw new Error('a whole string has a path');
        const who = credentials({ sessionToken });
        const headers: Record<string, string> = {
          host: 'h:9000',
          range: 'bytes=5-9',
          'x-amz-content-sha256': EMPTY_SHA256,
          'x-amz-date': signer.amzDate(nowMs),
          ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken }),
        };
        const sdk = new SignatureV4({
          credentials: { ...who, sessionToken: sessionToken ?? undefined },
          region: 'eu-north-1',
          service: 's3',
          sha256: Sha256,
          uriEscapePath: false,
        });
        const signed = await sdk.sign(
          { method: 'GET', protocol: 'http:', hostname: 'h', path, headers },
          { signingDate: new Date(nowMs) },
        );
        const ours = signer.authorization('GET', path, '', Object.entries(headers).flat(), who, nowMs);
        assert.is(ours, signed.headers.authorization);
      },
    ),
    { numRuns: 200 },
  );
});

test('a key is encoded once, byte by byte, and comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (key) => {
      const path = encodeObjectPath('', key);
      if (path === null) return /\p{Surrogate}/u.test(key);
      return /^\/[A-Za-z0-9\-._~/%]*$/.test(path) && decodeURIComponent(path.slice(1)) === key;
    }),
  );
  assert.is(encodeObjectPath('/b', "a b+c%20d=e&f'()!*é"), '/b/a%20b%2Bc%2520d%3De%26f%27%28%29%21%2A%C3%A9');
  assert.is(encodeObjectPath('/b', '/a//b/../c/.'), '/b//a//b/../c/.');
  assert.is(encodeObjectPath('/b', ''), null);
  assert.is(encodeObjectPath('/b', 'a\ud800'), null);
});

test('keys that a path-tidying server would take for others', () => {
  for (const key of ['/a', 'a//b', 'a/../b', 'a/./b', '..', '.', 'a/..', './a'])
    assert.ok(mayBeFolded(key), key);
  for (const key of ['a', 'a/b', 'a..b', '.a', 'a/.b', 'a/b..', '...', 'a/'])
    assert.not(mayBeFolded(key), key);
});

test.run();
