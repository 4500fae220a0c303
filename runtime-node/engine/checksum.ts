import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Crc32c } from '@aws-crypto/crc32c';
import { Crc64Nvme } from '@aws-sdk/crc64-nvme';
import type { AnswerHeaders, ChecksumAlgorithm } from './answer-headers.js';

/** A checksum over a body as it arrives. */
export interface RunningChecksum {
  readonly algorithm: ChecksumAlgorithm;
  /** Base64, as the header gave it. */
  readonly expected: string;
  update(chunk: Uint8Array): void;
  /** Base64; ends the checksum. */
  digest(): string | Promise<string>;
}

/**
 * The checksum that a whole-object answer can be checked against; null where the store sent none, or one of parts: a
 * composite value (`...-N`, or x-amz-checksum-type COMPOSITE) is not of the object's bytes.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html
 */
export function checksumOf(headers: AnswerHeaders): RunningChecksum | null {
  const { checksumAlgorithm: algorithm, checksum: expected, checksumType } = headers;
  if (algorithm === null || checksumType?.toUpperCase() === 'COMPOSITE' || /-\d+$/.test(expected))
    return null;
  switch (algorithm) {
    case 'sha256':
    case 'sha1':
      return new HashChecksum(algorithm, expected);
    case 'crc32':
      return new Crc32Checksum(expected);
    case 'crc32c':
      return new Crc32cChecksum(expected);
    case 'crc64nvme':
      return new Crc64Checksum(expected);
  }
}

class HashChecksum implements RunningChecksum {
  private readonly hash;

  constructor(
    readonly algorithm: 'sha1' | 'sha256',
    readonly expected: string,
  ) {
    this.hash = createHash(algorithm);
  }

  update(chunk: Uint8Array): void {
    this.hash.update(chunk);
  }

  digest(): string {
    return this.hash.digest('base64');
  }
}

class Crc32Checksum implements RunningChecksum {
  readonly algorithm = 'crc32';
  private value = 0;

  constructor(readonly expected: string) {}

  update(chunk: Uint8Array): void {
    this.value = crc32(chunk, this.value);
  }

  digest(): string {
    return base64OfU32(this.value);
  }
}

class Crc32cChecksum implements RunningChecksum {
  readonly algorithm = 'crc32c';
  private readonly sum = new Crc32c();

  constructor(readonly expected: string) {}

  update(chunk: Uint8Array): void {
    this.sum.update(chunk);
  }

  digest(): string {
    return base64OfU32(this.sum.digest());
  }
}

class Crc64Checksum implements RunningChecksum {
  readonly algorithm = 'crc64nvme';
  private readonly sum = new Crc64Nvme();

  constructor(readonly expected: string) {}

  update(chunk: Uint8Array): void {
    this.sum.update(chunk);
  }

  async digest(): Promise<string> {
    return Buffer.from(await this.sum.digest()).toString('base64');
  }
}

function base64OfU32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('base64');
}
