/** One way to read objects, measured round by round. */
export interface GetClient {
  /** Reads at least `requests` objects and comes to rest; returns how many it read. */
  round(requests: number): Promise<number>;
  close(): Promise<void>;
}

export interface ClientOptions {
  /** Port of the store on loopback. */
  port: number;
  /** Length of every object. */
  objectBytes: number;
  /** Requests in flight, and connections. */
  concurrency: number;
  /** Memory that bodies land in. */
  landingBytes: number;
}

/** Secrets of no use anywhere. */
export const CREDENTIALS = {
  accessKeyId: 'AKIDBENCHBENCHBENCH0',
  secretAccessKey: 'bench/bench/bench/bench/bench/bench/bench',
  sessionToken: null,
  expiresAtMs: null,
};
