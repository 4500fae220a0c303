import { type Clock, monotonicClock } from '../../clock.js';
import type { CompletionSink, GetEngine, Limits, ObjectTable } from '../../engine/engine.js';
import { type FailureClass, type FailureName, failureName } from '../../engine/failure.js';
import { createPortableEngine } from '../../engine/portable.js';
import { AbortedError, StoreError } from '../../errors.js';
import type { ListedObject } from '../../s3/listing.js';
import { withRetries } from '../../s3/retry.js';
import type { S3Store } from '../../s3/store.js';
import { option, type Text, words } from '../../wording.js';
import type { RangeReader } from '../format.js';

const S = 1e9;
/** As those of list and head calls. */
const LIMITS: Limits = {
  connectNs: 5 * S,
  firstByteNs: 30 * S,
  idleNs: 30 * S,
  totalNs: Number.POSITIVE_INFINITY,
};
/** Completions taken in one go. */
const DRAIN = 256;
const SILENT: ReadonlySet<FailureName> = new Set(['timeout_connect', 'timeout_first_byte', 'timeout_idle']);
/** What another attempt may get over. */
const PASSING: ReadonlySet<FailureName> = new Set([
  ...SILENT,
  ...(['throttled', 'server', 'reset', 'stale', 'connect', 'short', 'checksum', 'expired'] as const),
]);
const MENDS: Partial<Record<FailureName, Text>> = {
  changed: 'it was replaced while it was indexed: run again',
  not_found: 'it was deleted while it was indexed: run again',
  forbidden: words`check the credentials and the bucket policy; a requester-pays bucket needs ${option('s3.requesterPays')}`,
  archived: 'restore the object, or give a prefix without it',
  moved: words`set ${option('s3.region')} (or AWS_REGION) to the region that the store names`,
  tls: 'give the store’s CA with AWS_CA_BUNDLE',
};

export interface RangeReaderOptions {
  /** Most reads at one time; more wait. */
  concurrency: number;
  onNotice?: (notice: string) => void;
  clock?: Clock;
}

/** Opens a reader for the objects of a bucket, over the GET engine of Node; the table of objects is as long as the listing, whose copy the native one would need. */
export async function openRangeReader(
  store: Pick<S3Store, 'bucketAccess' | 'headObject'>,
  bucket: string,
  { concurrency, onNotice, clock = monotonicClock() }: RangeReaderOptions,
): Promise<EngineRangeReader> {
  const access = await store.bucketAccess(bucket);
  const reads = new ReadTable();
  const engine = createPortableEngine({
    ...{ table: reads, access, limits: LIMITS, clock },
    ...{ verify: 'etag', maxSockets: concurrency, onNotice },
  });
  return new EngineRangeReader(engine, reads, concurrency, bucket, (key, signal) =>
    store.headObject(bucket, key, signal),
  );
}

/** The objects that are being read, under numbers of their own: one for each version that was listed. */
class ReadTable implements ObjectTable {
  readonly rows = Number.MAX_SAFE_INTEGER;
  private readonly numbers = new WeakMap<ListedObject, number>();
  private readonly reading = new Map<number, { object: ListedObject; reads: number }>();
  private next = 0;

  begin(object: ListedObject): number {
    const row = this.numbers.get(object) ?? this.next++;
    this.numbers.set(object, row);
    const reads = this.reading.get(row)?.reads ?? 0;
    this.reading.set(row, { object, reads: reads + 1 });
    return row;
  }

  end(row: number): void {
    const entry = this.reading.get(row);
    if (entry === undefined || --entry.reads > 0) return;
    this.reading.delete(row);
  }

  key(row: number): string {
    return this.at(row).key;
  }

  etag(row: number): string | null {
    return this.at(row).etag;
  }

  objectSize(row: number): number {
    return this.at(row).sizeBytes;
  }

  private at(row: number): ListedObject {
    const entry = this.reading.get(row);
    if (entry === undefined) throw new RangeError(`no read of object ${row} is under way`);
    return entry.object;
  }
}

/** How an attempt ended: its class; null where all bytes came. */
type Ended = FailureClass | null;

export class EngineRangeReader implements RangeReader {
  /** Requests sent, those that failed included. */
  requests = 0;
  bytesRead = 0;
  private readonly free: number[];
  private readonly waiting: ((id: number) => void)[] = [];
  private readonly attempts = new Map<number, (ended: Ended) => void>();
  private readonly sink: CompletionSink = {
    firstByte: () => {},
    fetched: (id) => this.attempts.get(id)?.(null),
    failed: (id, _attempt, failureClass) => this.attempts.get(id)?.(failureClass),
  };

  constructor(
    private readonly engine: GetEngine,
    private readonly table: ReadTable,
    concurrency: number,
    private readonly bucket: string,
    readonly stat: (key: string, signal?: AbortSignal) => Promise<ListedObject>,
  ) {
    this.free = Array.from({ length: concurrency }, (_, id) => id);
    engine.onWake = () => this.drain();
  }

  async read(
    object: ListedObject,
    offset: number,
    length: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const memory = new Uint8Array(Math.min(length, object.sizeBytes - offset));
    const id = this.free.pop() ?? (await new Promise<number>((resolve) => this.waiting.push(resolve)));
    const row = this.table.begin(object);
    try {
      await withRetries(
        (attempt) => this.attempt(id, attempt, row, offset, memory, signal),
        (cause) => ({ passing: isPassing(cause), silent: isSilent(cause) }),
        () => {},
        signal,
      );
      return memory;
    } catch (error) {
      if (signal?.aborted) throw new AbortedError(signal.reason);
      throw error;
    } finally {
      this.table.end(row);
      const next = this.waiting.shift();
      if (next === undefined) this.free.push(id);
      else next(id);
    }
  }

  async close(): Promise<void> {
    await this.engine.close();
  }

  private async attempt(
    id: number,
    attempt: number,
    row: number,
    offset: number,
    memory: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void> {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    const ended = new Promise<Ended>((resolve) => this.attempts.set(id, resolve));
    const cancel = (): void => this.engine.cancel(id, attempt);
    signal?.addEventListener('abort', cancel);
    try {
      this.requests++;
      this.engine.get(id, attempt, row, offset, memory.length, memory);
      this.engine.arm();
      const failureClass = await ended;
      if (failureClass !== null) throw this.failed(id, attempt, row, failureClass);
      this.bytesRead += memory.length;
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.attempts.delete(id);
    }
  }

  private drain(): void {
    while (this.engine.drain(this.sink, DRAIN) > 0);
    if (this.attempts.size > 0) this.engine.arm();
  }

  private failed(id: number, attempt: number, row: number, failureClass: FailureClass): StoreError {
    const name = failureName(failureClass);
    const failure = this.engine.failure(id);
    const key = this.table.key(row);
    const { status, s3Code, requestId, bodyStart, cause } = failure ?? {};
    const times = attempt === 1 ? '' : ` (after ${attempt} attempts)`;
    return new StoreError(
      name,
      `reading ${JSON.stringify(key)} failed${times}: ${failure?.message ?? name.replaceAll('_', ' ')}`,
      failure?.mend ??
        MENDS[name] ??
        'run again: what was indexed is kept; if it stays, look at the store’s own log for this request',
      { key, bucket: this.bucket, attempts: attempt, status, s3Code, requestId, bodyStart, cause },
    );
  }
}

function isPassing(cause: unknown): boolean {
  return cause instanceof StoreError && PASSING.has(cause.code as FailureName);
}

function isSilent(cause: unknown): boolean {
  return cause instanceof StoreError && SILENT.has(cause.code as FailureName);
}
