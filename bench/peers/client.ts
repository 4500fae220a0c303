/** What one round cost the client's process, sums over its GETs. */
export interface Round {
  gets: number;
  /** Bytes of bodies. */
  bytes: number;
  /** CPU time of the whole process, user and system. */
  cpuUs: number;
  systemUs: number;
  wallUs: number;
  /** How often the engine woke whoever waited for it; absent: not counted. */
  wakes?: number;
  /** Requests beside the first of an object or part that were sent against the slow tail; absent: it sends none. */
  hedges?: number;
}

export interface Verified {
  /** Bodies that were compared with the truth, byte for byte. */
  verified: number;
  bytes: number;
}

/** A client in a process of its own that reads the objects in turn, a round at a time. */
export interface PeerClient {
  round(gets: number): Promise<Round>;
  /** Reads each object once, outside what is measured, and compares every byte; null: this client lands nothing. */
  verify(): Promise<Verified | null>;
  close(): Promise<void>;
}

/** What a client's process is told, in a JSON file; the fields' names are those of `python/serve.py`. */
export interface PeerJob {
  endpoint: string;
  region: string;
  bucket: string;
  keys: string[];
  object_bytes: number;
  in_flight: number;
  ca_file: string | null;
  root: string;
  variant: string;
}
