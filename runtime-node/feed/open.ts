import { type Clock, monotonicClock } from '../clock.js';
import { Core } from '../core.js';
import type { GetEngine, Limits } from '../engine/engine.js';
import { createPortableEngine } from '../engine/portable.js';
import { AbortedError, ConfigError } from '../errors.js';
import { createMemoryLanding } from '../landing/memory.js';
import type { Manifest } from '../manifest/manifest.js';
import { jobConfig } from '../policy/job.js';
import type { Policy } from '../policy/resolve.js';
import { formatBytes } from '../policy/units.js';
import { openStore, type S3Store } from '../s3/store.js';
import { AuditFile } from './audit.js';
import { type Cursor, type CursorBase, checkCursor, cursorAt, parseCursor } from './cursor.js';
import { CursorFile, readCursor } from './cursor-file.js';
import { type Dataset, openDataset } from './dataset.js';
import { Feed } from './feed.js';
import { type CheckedOptions, checkOptions, type FeedOptions, jobSpec } from './options.js';
import type { FeedParts } from './parts.js';
import { eventLoopTimers } from './timers.js';
import { TraceFile } from './trace.js';

/**
 * Opens a feed: checks every option, finds the data set, and starts to read. Close it, or iterate it to its end.
 * @throws ConfigError before anything is started; StoreError where the data set cannot be listed; AbortedError
 */
export async function openFeed(options: FeedOptions): Promise<Feed> {
  const resumed = options.resume === undefined ? null : await cursorOf(options.resume);
  const job = resumed ? completeFrom(resumed, options) : options;
  const checked = await checkOptions(job);
  const dataset = await openDataset(job);
  const opened = new Opened();
  if (dataset.store) opened.add(() => dataset.store?.close());
  try {
    return await start(job, checked, dataset, resumed, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function start(
  options: FeedOptions,
  checked: CheckedOptions,
  dataset: Dataset,
  resumed: Cursor | null,
  opened: Opened,
): Promise<Feed> {
  const { manifest, bucket } = dataset;
  const { policy, memoryBytes } = checked;
  const base = cursorBase(options, policy, manifest);
  const first = resumed ?? cursorAt(base, 0, 0);
  if (resumed) checkCursor(resumed, base, options.epochs ?? 1);
  const config = jobConfig(
    { ...jobSpec(options, manifest.rows), startEpoch: first.epoch, startBatch: first.batch },
    policy,
  );
  const core = await Core.load(options.internal?.core);
  core.init(config);
  checkLongest(manifest, core, memoryBytes);
  const landing = createMemoryLanding({
    consumers: 1,
    landingBytes: core.landingBytes,
    stagingBytes: core.stagingBytes,
  });
  const clock = options.clock ?? monotonicClock();
  const { engine, store } = await openEngine(options, checked, dataset, clock, opened);
  opened.add(() => engine.close());
  if (options.signal?.aborted) throw new AbortedError(options.signal.reason);
  const trace = options.trace === undefined ? null : new TraceFile(options.trace, core, config);
  if (trace) opened.add(() => trace.close());
  const audit = options.audit === undefined ? null : new AuditFile(options.audit, manifest, resumed !== null);
  if (audit) opened.add(() => audit.close());
  options.logger?.info(
    { engine: engine.name, ...checked.landing },
    `direct path: off, ${checked.landing.reason}`,
  );
  const { cursorOut } = options;
  const parts: FeedParts = {
    core,
    engine,
    engineReason: checked.engineReason,
    landing,
    landingChoice: checked.landing,
    manifest,
    bucket,
    policy,
    clock,
    timers: options.internal?.timers ?? eventLoopTimers,
    base,
    start: first,
    batchSamples: options.batchSamples as number,
    memoryBytes,
    trace,
    audit,
    openCursorFile: cursorOut === undefined ? null : (onError) => new CursorFile(cursorOut, first, onError),
    signal: options.signal,
    logger: options.logger,
    listRequests: () => store?.listRequests ?? 0,
    closeStore: async () => store?.close(),
  };
  return new Feed(parts);
}

async function openEngine(
  options: FeedOptions,
  { policy, verify }: CheckedOptions,
  { manifest, bucket, store: opened }: Dataset,
  clock: Clock,
  closers: Opened,
): Promise<{ engine: GetEngine; store: S3Store | null }> {
  const { internal, logger } = options;
  if (internal?.engine) return { engine: internal.engine(clock), store: opened };
  const store = opened ?? (await openStore(options.s3 ?? {}));
  if (!opened) closers.add(() => store.close());
  const engine = createPortableEngine({
    table: manifest,
    access: await store.bucketAccess(bucket as string),
    limits: limitsOf(policy),
    clock,
    verify,
    maxSockets: policy.values.get('concurrency.max')!,
    onNotice: (notice) => logger?.warn({}, notice),
  });
  return { engine, store };
}

async function cursorOf(resume: Cursor | string): Promise<Cursor> {
  return typeof resume === 'string' ? readCursor(resume) : parseCursor(resume);
}

/** What the options leave open, a cursor says; what they say, it is checked against. */
function completeFrom(cursor: Cursor, options: FeedOptions): FeedOptions {
  const share = cursor.global_batch_samples / (options.worldSize ?? 1);
  if (options.batchSamples === undefined && !Number.isInteger(share)) {
    throw new ConfigError(
      'cursor_mismatch',
      `the cursor does not fit this run: its global_batch_samples ${cursor.global_batch_samples} cannot be shared by ${options.worldSize} ranks`,
      'choose a world size that divides it',
      { option: 'world-size' },
    );
  }
  return {
    ...options,
    batchSamples: options.batchSamples ?? share,
    seed: options.seed ?? BigInt(cursor.seed),
    shuffle: options.shuffle ?? cursor.order.shuffle,
    tail: options.tail ?? cursor.order.tail,
  };
}

function cursorBase(options: FeedOptions, policy: Policy, manifest: Manifest): CursorBase {
  return {
    seed: String(options.seed ?? 0),
    global_batch_samples: (options.batchSamples as number) * (options.worldSize ?? 1),
    dataset_hash: manifest.datasetHash,
    order: {
      shuffle: options.shuffle ?? 'sample',
      tail: options.tail ?? 'drop',
      block_samples: policy.values.get('order.block_samples')!,
      group_blocks: policy.values.get('order.group_blocks')!,
    },
    samples: manifest.rows,
  };
}

/** A sample that can never land is told before the first request. */
function checkLongest(manifest: Manifest, core: Core, memoryBytes: number): void {
  if (manifest.maxLength <= core.landingBytes) return;
  throw new ConfigError(
    'sample_too_large',
    `the longest sample has ${formatBytes(manifest.maxLength)}, but of the memory budget of ${formatBytes(memoryBytes)} a batch can use ${formatBytes(core.landingBytes)}`,
    'raise --memory above the longest batch',
    { option: 'memory' },
  );
}

function limitsOf({ values }: Policy): Limits {
  return {
    connectNs: values.get('limits.connect')!,
    firstByteNs: values.get('limits.first_byte')!,
    idleNs: values.get('limits.idle')!,
    totalNs: values.get('limits.total')!,
  };
}

/** What is open already, for a start that fails half-way. */
class Opened {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  /** Latest first. What fails here comes second to why it is called. */
  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) {
      try {
        await close();
      } catch {
        // The error that ended the start is the one to tell.
      }
    }
  }
}
