import type { Distribution, SlowTail } from './latency.js';
import type { RequestRate } from './rate-cap.js';

export interface StoreOptions {
  /** Draws latencies and faults. Print it where a test depends on it. */
  seed?: number;
  /** A loopback address; default 127.0.0.1. */
  host?: string;
  /** Default 0: any free one. */
  port?: number;
  /** PEM texts; the store then speaks HTTPS. `clientCa`: and takes only clients with a certificate of this CA. */
  tls?: { key: string; cert: string; clientCa?: string };
  /** Path in front of everything, `/s3`; default none. */
  basePath?: string;
  /** The region that requests must be signed for; default us-east-1. */
  region?: string;
  /** Default: random ones, to be read from `credentials`. */
  accessKeyId?: string;
  secretAccessKey?: string;
  sessionToken?: string;
  /** Take requests as they are, signed or not. `refuse-signed`: and answer 400 to a signed one. */
  anonymous?: boolean | 'refuse-signed';
  /** Most entries of a listing's page; default 1,000. */
  pageSize?: number;
  /** Refuse targets that are not encoded as SigV4 does it (S3 itself is not that strict); default true. */
  strictTarget?: boolean;
  /** From the request to the first byte, in milliseconds. Timers have a resolution of about 1 ms. */
  latency?: Distribution;
  /** Multiplies some of the first-byte times. */
  slowTail?: SlowTail;
  /** Most that one connection carries, in MB (10^6 bytes) a second. */
  connectionMbPerS?: number;
  requestRate?: RequestRate;
  /** Close a connection after so long without a request; default: never. The client is not told beforehand. */
  idleCloseMs?: number;
  /** Requests kept in the log; default 10,000. */
  logCapacity?: number;
  /** Largest body that PutObject takes, in bytes; default 64 MiB. */
  putLimitBytes?: number;
  /** Wall clock for signatures, in ms since 1970; default Date.now. */
  wallClockMs?: () => number;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** @throws RangeError that names the option. */
export function checkOptions(options: StoreOptions): void {
  const host = options.host ?? '127.0.0.1';
  if (!isLoopback(host)) throw new RangeError(`host: the store binds to loopback only, not to ${host}`);
  const basePath = options.basePath ?? '';
  if (basePath !== '' && !/^(\/[A-Za-z0-9\-._~]+)+$/.test(basePath)) {
    throw new RangeError(`basePath: must look like /s3, not ${JSON.stringify(basePath)}`);
  }
  const whole: [string, number | undefined, number][] = [
    ['pageSize', options.pageSize, 1],
    ['idleCloseMs', options.idleCloseMs, 1],
    ['logCapacity', options.logCapacity, 0],
    ['putLimitBytes', options.putLimitBytes, 0],
    ['port', options.port, 0],
  ];
  for (const [name, value, least] of whole) {
    if (value !== undefined && !(Number.isInteger(value) && value >= least)) {
      throw new RangeError(`${name}: must be a whole number, at least ${least}, not ${value}`);
    }
  }
}
