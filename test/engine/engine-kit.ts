import { monotonicClock } from '../../runtime-node/clock.js';
import type {
  CompletionSink,
  FetchFailure,
  GetEngine,
  Limits,
  ObjectTable,
} from '../../runtime-node/engine/engine.js';
import { failureName } from '../../runtime-node/engine/failure.js';
import { createNativeEngine } from '../../runtime-node/engine/native.js';
import { createPortableEngine, type PortableEngineOptions } from '../../runtime-node/engine/portable.js';
import { loadNative } from '../../runtime-node/native/load.js';
import type { BucketAccess, CredentialSource, S3Credentials } from '../../runtime-node/s3/access.js';

export const MS = 1e6;

export interface TestObject {
  key: string;
  size: number;
  etag?: string | null;
}

export function tableOf(objects: readonly TestObject[]): ObjectTable {
  const at = (row: number): TestObject => {
    const object = objects[row];
    if (!object) throw new Error(`no row ${row}`);
    return object;
  };
  return {
    rows: objects.length,
    key: (row) => at(row).key,
    etag: (row) => at(row).etag ?? null,
    objectSize: (row) => at(row).size,
  };
}

export function fixedCredentials(
  over: Partial<S3Credentials> = {},
): CredentialSource & { refreshes: number } {
  const now: S3Credentials = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'secret',
    sessionToken: null,
    expiresAtMs: null,
    ...over,
  };
  return {
    refreshes: 0,
    current: () => now,
    refresh() {
      this.refreshes++;
      return Promise.reject(new Error('fixed credentials cannot be refreshed'));
    },
  };
}

export function accessTo(port: number, over: Partial<BucketAccess> = {}): BucketAccess {
  return {
    bucket: 'b',
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    host: `127.0.0.1:${port}`,
    pathPrefix: '/b',
    addressing: 'path',
    signingRegion: 'us-east-1',
    signingName: 's3',
    credentials: fixedCredentials(),
    requesterPays: false,
    caPem: null,
    clientCertificate: null,
    ...over,
  };
}

export const SHORT_LIMITS: Limits = {
  connectNs: 5000 * MS,
  firstByteNs: 5000 * MS,
  idleNs: 5000 * MS,
  totalNs: Number.POSITIVE_INFINITY,
};

export interface Outcome {
  id: number;
  attempt: number;
  /** 'fetched' or the name of the failure's class. */
  what: string;
  status: number;
  retryAfterNs: number;
  bytes: number;
  failure: FetchFailure | undefined;
}

/** The engine under test is the portable one, or what OS2G_TEST_ENGINE says. */
export const ENGINE_UNDER_TEST = process.env.OS2G_TEST_ENGINE === 'native' ? 'native' : 'portable';

export function createEngine(options: PortableEngineOptions): GetEngine {
  if (ENGINE_UNDER_TEST === 'portable') return createPortableEngine({ env: {}, ...options });
  const native = loadNative();
  if (native.module === null) throw new Error(`no native module to test: ${native.why}`);
  return createNativeEngine(native.module, { env: {}, ...options, threads: 1 });
}

/** An engine with someone who drains it: `next` gives ends in the order they came. */
export class Driver implements CompletionSink {
  readonly engine: GetEngine;
  readonly outcomes: Outcome[] = [];
  readonly notices: string[] = [];
  firstBytes = 0;
  wakes = 0;
  private waiting: (() => void) | null = null;

  constructor(
    access: BucketAccess,
    objects: readonly TestObject[],
    over: Partial<Omit<PortableEngineOptions, 'access' | 'table'>> = {},
    create: (options: PortableEngineOptions) => GetEngine = createEngine,
  ) {
    this.engine = create({
      access,
      table: tableOf(objects),
      limits: SHORT_LIMITS,
      clock: monotonicClock(),
      verify: 'etag',
      maxSockets: 16,
      onNotice: (notice) => this.notices.push(notice),
      ...over,
    });
    this.engine.onWake = () => {
      this.wakes++;
      this.engine.drain(this, 1024);
      this.engine.arm();
      this.waiting?.();
    };
    this.engine.arm();
  }

  /** Waits until that many attempts have ended. */
  async ended(count: number): Promise<Outcome[]> {
    while (this.outcomes.length < count) {
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
    }
    return this.outcomes;
  }

  /** One GET from begin to end. */
  async get(row: number, offset: number, length: number, id = row): Promise<Outcome & { target: Buffer }> {
    const target = Buffer.alloc(length, 0xee);
    const before = this.outcomes.length;
    this.engine.get(id, 1, row, offset, length, target);
    const outcomes = await this.ended(before + 1);
    return { ...outcomes[before]!, target };
  }

  firstByte(): void {
    this.firstBytes++;
  }

  fetched(id: number, attempt: number, bytes: number): void {
    this.outcomes.push({
      id,
      attempt,
      what: 'fetched',
      status: 0,
      retryAfterNs: 0,
      bytes,
      failure: undefined,
    });
  }

  failed(
    id: number,
    attempt: number,
    failureClass: number,
    status: number,
    retryAfterNs: number,
    bytes: number,
  ): void {
    const failure = this.engine.failure(id);
    this.outcomes.push({
      id,
      attempt,
      what: failureName(failureClass),
      status,
      retryAfterNs,
      bytes,
      failure,
    });
  }
}

/** Waits for a condition that nothing announces. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
