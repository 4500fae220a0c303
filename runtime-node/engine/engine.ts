import type { Text } from '../wording.js';
import type { FailureClass } from './failure.js';

/**
 * What the GET engine must know of each row. Columns, not objects: an engine may hold the buffers themselves.
 */
export interface ObjectTable {
  readonly rows: number;
  /** Key of the row's object, byte-exact as listed. */
  key(row: number): string;
  /** ETag as the store gave it, quotes included; null where unknown. */
  etag(row: number): string | null;
  /** Size of the whole object in bytes. */
  objectSize(row: number): number;
}

/** Per-attempt limits in nanoseconds. Each has a name and a timer of its own. */
export interface Limits {
  /** TCP and TLS set-up. */
  connectNs: number;
  /** From the request sent to the first byte of the answer. */
  firstByteNs: number;
  /** Without a byte while a body is moving. */
  idleNs: number;
  /** The whole attempt; Infinity: none. */
  totalNs: number;
}

/** Why the last attempt of a request failed; kept until the request's id is used again. */
export interface FetchFailure {
  class: FailureClass;
  message: string;
  key: string;
  status?: number;
  s3Code?: string;
  requestId?: string;
  bodyStart?: string;
  expectedEtag?: string;
  actualEtag?: string;
  /** Actual region, where the store named it. */
  region?: string;
  /** What to do, where it is not what the class's failures ask for in general. */
  mend?: Text;
  cause?: unknown;
}

/**
 * Where an engine writes what happened: the core's event ring. One call a record, numbers only. `timeNs` is on the
 * feed's clock.
 */
export interface CompletionSink {
  firstByte(id: number, attempt: number, timeNs: number): void;
  fetched(id: number, attempt: number, bytes: number, timeNs: number): void;
  failed(
    id: number,
    attempt: number,
    failureClass: FailureClass,
    status: number,
    retryAfterNs: number,
    bytes: number,
    timeNs: number,
  ): void;
}

/**
 * Reads ranges of objects into memory. It never retries, never follows redirects, and ends every attempt with exactly
 * one `fetched` or `failed`, also after `cancel`. A buffer that an attempt was given is not touched after that.
 */
export interface GetEngine {
  readonly name: 'portable' | 'native';
  /**
   * Begins one GET of `[offset, offset + length)` (length >= 1) of the row's object into `memory`, from byte `at` of it on (0).
   * Nothing of the answer but the wanted bytes is ever written there. Memory that is used again and again is best always given
   * as the same array: a region, not a view made for each request.
   */
  get(
    id: number,
    attempt: number,
    row: number,
    offset: number,
    length: number,
    memory: Uint8Array,
    at?: number,
  ): void;
  /** Ends an attempt early; its `failed` with class `cancelled` (or a completion that came first) follows. */
  cancel(id: number, attempt: number): void;
  /** Moves up to `max` completions into the sink, oldest first; returns how many. */
  drain(sink: CompletionSink, max: number): number;
  /** Called once when completions wait and `arm` was called since; may be called from within `get`. */
  onWake: (() => void) | null;
  /** Asks for one `onWake` when (or as soon as) completions wait. */
  arm(): void;
  /** The failure behind the last `failed` of this request. */
  failure(id: number): FetchFailure | undefined;
  /** Bodies that came whole: with a checksum of theirs to compare, and without. */
  readonly checksums: { readonly checked: number; readonly unchecked: number };
  /** Open sockets, for tests and metrics. */
  readonly sockets: number;
  /** Ends all attempts and sockets; resolves when none is left. No completion follows. */
  close(): Promise<void>;
}
