/** What one round of one client came to. */
export interface RoundCost {
  /** Objects read whole. */
  objects: number;
  /** CPU time of the whole client process. */
  userUs: number;
  systemUs: number;
  wallS: number;
  /** Bodies whose every byte was compared (by CRC-32) outside of the measured part; 0 where the client cannot. */
  checked: number;
  /** What else the client says about the round. */
  note?: string;
}

/** A client in a process of its own. */
export interface Contestant {
  round(objects: number): Promise<RoundCost>;
  close(): Promise<void>;
}

/** The store as the clients see it; written to a file for those in other processes. */
export interface StoreFacts {
  /** `http://127.0.0.1:PORT` */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** PEM of the authority that signed the store's certificate; null without TLS. */
  caFile: string | null;
  keys: string[];
  etags: string[];
  crc32: number[];
  objectBytes: number;
  inFlight: number;
}

/** `recv` is the plain loop and `engine` the bare engine of get-bench; `wrk-one` reads one object again and again. */
export const CLIENTS = [
  'recv',
  'engine',
  'wrk',
  'wrk-one',
  'feed-native',
  'feed-portable',
  'obstore',
  's3torchconnector',
  'boto3',
] as const;
export type ClientName = (typeof CLIENTS)[number];

export const PYTHON_PEERS: readonly ClientName[] = ['obstore', 's3torchconnector', 'boto3'];
/** Clients that are measured with every number in flight, not only with the first. */
export const LOAD_CLIENTS: readonly ClientName[] = ['recv', 'engine', 'feed-native'];
