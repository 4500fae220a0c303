/** Full-object checksums that a store may send, strongest first. */
export const CHECKSUM_ALGORITHMS = ['sha256', 'sha1', 'crc64nvme', 'crc32c', 'crc32'] as const;
export type ChecksumAlgorithm = (typeof CHECKSUM_ALGORITHMS)[number];

const CHECKSUM_PREFIX = 'x-amz-checksum-';

/**
 * The headers of one answer that a GET cares about. One object for each connection, filled anew for each answer: only
 * headers that are looked at become strings.
 */
export class AnswerHeaders {
  etag: string | null = null;
  /** -1: none; NaN: not a number. */
  contentLength = -1;
  contentRange: string | null = null;
  contentType: string | null = null;
  retryAfter: string | null = null;
  requestId: string | null = null;
  bucketRegion: string | null = null;
  date: string | null = null;
  /** `FULL_OBJECT` or `COMPOSITE`, where the store says. */
  checksumType: string | null = null;
  checksumAlgorithm: ChecksumAlgorithm | null = null;
  /** Base64, of `checksumAlgorithm`. */
  checksum = '';

  /** @param raw names and values in turn, as they came */
  read(raw: readonly Buffer[]): void {
    this.reset();
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i]!;
      const value = raw[i + 1]!;
      switch (name.length) {
        case 4:
          if (is(name, 'etag')) this.etag = text(value);
          else if (is(name, 'date')) this.date = text(value);
          break;
        case 11:
          if (is(name, 'retry-after')) this.retryAfter = text(value);
          break;
        case 12:
          if (is(name, 'content-type')) this.contentType = text(value);
          break;
        case 13:
          if (is(name, 'content-range')) this.contentRange = text(value);
          break;
        case 14:
          if (is(name, 'content-length')) this.contentLength = wholeNumber(text(value));
          break;
        case 16:
          if (is(name, 'x-amz-request-id')) this.requestId = text(value);
          break;
        case 19:
          if (is(name, 'x-amz-bucket-region')) this.bucketRegion = text(value);
          else if (is(name, 'x-amz-checksum-type')) this.checksumType = text(value);
          break;
      }
      // 'x-amz-checksum-' and an algorithm: 19 (sha1) to 24 (crc64nvme) characters
      if (name.length >= 19 && name.length <= 24) this.readChecksum(name, value);
    }
  }

  private readChecksum(name: Buffer, value: Buffer): void {
    const lower = name.toString('latin1').toLowerCase();
    if (!lower.startsWith(CHECKSUM_PREFIX)) return;
    const at = CHECKSUM_ALGORITHMS.indexOf(lower.slice(CHECKSUM_PREFIX.length) as ChecksumAlgorithm);
    if (at < 0) return;
    const known =
      this.checksumAlgorithm === null ? Infinity : CHECKSUM_ALGORITHMS.indexOf(this.checksumAlgorithm);
    if (at >= known) return;
    this.checksumAlgorithm = CHECKSUM_ALGORITHMS[at]!;
    this.checksum = text(value);
  }

  private reset(): void {
    this.etag = null;
    this.contentLength = -1;
    this.contentRange = null;
    this.contentType = null;
    this.retryAfter = null;
    this.requestId = null;
    this.bucketRegion = null;
    this.date = null;
    this.checksumType = null;
    this.checksumAlgorithm = null;
    this.checksum = '';
  }
}

function is(name: Buffer, wanted: string): boolean {
  for (let i = 0; i < wanted.length; i++) {
    const byte = name[i]!;
    const lower = byte >= 65 && byte <= 90 ? byte + 32 : byte;
    if (lower !== wanted.charCodeAt(i)) return false;
  }
  return true;
}

function text(value: Buffer): string {
  return value.toString('latin1').trim();
}

function wholeNumber(value: string): number {
  return /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
}
