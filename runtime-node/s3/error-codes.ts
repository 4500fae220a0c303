/** Error codes of stores and of TLS that engine and listing understand alike. */

export const EXPIRED_CODES: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
]);

export const THROTTLED_CODES: ReadonlySet<string> = new Set([
  'SlowDown',
  'SlowDownRead',
  'ServiceUnavailable',
  'Throttling',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TooManyRequests',
  'BandwidthLimitExceeded',
]);

const TLS_CODE =
  /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|EPROTO)/;

/** Whether an error's code says that TLS failed, not the connection under it. */
export function isTlsCode(code: string): boolean {
  return TLS_CODE.test(code);
}
