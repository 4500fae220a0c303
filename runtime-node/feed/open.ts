import { type Clock, monotonicClock } from '../clock.js';
import { Core } from '../core.js';
import type { GetEngine, Limits } from '../engine/engine.js';
import { createNativeEngine } from '../engine/native.js';
import { createPortableEngine } from '../engine/portable.js';
import { AbortedError, ConfigError } from '../errors.js';
import { isStaged } from '../landing/choose.js';
import { createCudaLanding } from '../landing/cuda.js';
import type { LandingBackend, LandingSizes } from '../landing/landing.js';
import { createMemoryLanding } from '../landing/memory.js';
import { createShmLanding } from '../landing/shm.js';
import type { Manifest } from '../manifest/manifest.js';
import { loadNative } from '../native/load.js';
import { fileLimitWarning, openFilesLimit } from '../open-files.js';
import { jobConfig } from '../policy/job.js';
import type { Policy } from '../policy/resolve.js';
import { tellBytes } from '../policy/units.js';
import { openStore, type S3Store } from '../s3/store.js';
import { option, words } from '../wording.js';
import { AuditFile } from './audit.js';
import { BatchRoom, checkBatchSizes } from './batch-room.js';
import { type Cursor, type CursorBase, checkCursor, cursorAt, skipsLeft } from './cursor.js';
import { CursorFile } from './cursor-file.js';
import { type Dataset, openDataset } from './dataset.js';
import { Feed } from './feed.js';
import {
  type CheckedOptions,
  checkNames,
  checkOptions,
  type FeedOptions,
  jobSpec,
  maxSkipsOf,
} from './options.js';
import { OutageWatch } from './outage.js';
import { checkFeedOutputs } from './outputs.js';
import type { FeedParts } from './parts.js';
import { completeFrom, resumedCursor } from './resume.js';
import { keepProgress, tellStart } from './start-notes.js';
import { eventLoopTimers } from './timers.js';
import { TraceFile } from './trace.js';

/**
 * Opens a feed: checks every option, finds the data set, and starts to read. Close it, or iterate it to its end.
 * @throws ConfigError before anything is started; StoreError where the data set cannot be listed; AbortedError
 */
export async function openFeed(options: FeedOptions): Promise<Feed> {
  checkNames(options);
  checkFeedOutputs(options);
  const resumed = resumedCursor(options);
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
  const first = cursorAt(base, resumed?.epoch ?? 0, resumed?.batch ?? 0, resumed?.skipped);
  if (resumed) checkCursor(resumed, base, options.epochs ?? 1);
  const config = jobConfig(
    {
      ...jobSpec(options, manifest.rows),
      ...{ startEpoch: first.epoch, startBatch: first.batch },
      maxSkips: options.onError === 'skip' ? skipsLeft(resumed, maxSkipsOf(options)) : 0,
    },
    policy,
  );
  const core = await Core.load(options.internal?.core);
  core.init(config);
  checkLongest(manifest, core, memoryBytes);
  const { rank = 0, worldSize = 1, logger, cursorOut } = options;
  const room = new BatchRoom(core, policy, memoryBytes, isStaged(options.landing));
  checkBatchSizes({ manifest, base, first, rank, worldSize, policy, room, log: logger });
  const landing = createLanding(checked, {
    consumers: 1,
    landingBytes: core.landingBytes,
    stagingBytes: core.stagingBytes,
  });
  opened.add(() => landing.close());
  const clock = options.clock ?? monotonicClock();
  const { engine, store, endpoint, isAnonymous } = await openEngine(options, checked, dataset, clock, opened);
  opened.add(() => engine.close());
  if (options.signal?.aborted) throw new AbortedError(options.signal.reason);
  const trace = options.trace === undefined ? null : new TraceFile(options.trace, core, config);
  if (trace) opened.add(() => trace.close());
  const audit = options.audit === undefined ? null : new AuditFile(options.audit, manifest, resumed !== null);
  if (audit) opened.add(() => audit.close());
  options.logger?.info(
    { engine: engine.name, ...checked.landing },
    `batches land in ${checked.landing.reason}`,
  );
  if (logger) tellStart({ options, base, first, isResumed: resumed !== null, log: logger });
  if (cursorOut !== undefined) keepProgress(cursorOut, resumed, logger);
  const parts: FeedParts = {
    core,
    engine,
    engineReason: checked.engine.reason,
    landing,
    landingChoice: checked.landing,
    manifest,
    bucket,
    endpoint,
    isAnonymous,
    policy,
    clock,
    timers: options.internal?.timers ?? eventLoopTimers,
    base,
    start: first,
    batchSamples: options.batchSamples as number,
    memoryBytes,
    room,
    maxSkips: maxSkipsOf(options),
    verify: checked.verify,
    outage: logger ? new OutageWatch(endpoint ?? 'the store', logger) : null,
    trace,
    audit,
    openCursorFile: cursorOut === undefined ? null : (onError) => new CursorFile(cursorOut, first, onError),
    signal: options.signal,
    logger,
    listRequests: () => store?.listRequests ?? 0,
    closeStore: async () => store?.close(),
  };
  return new Feed(parts);
}

async function openEngine(
  options: FeedOptions,
  { policy, verify, engine: choice }: CheckedOptions,
  { manifest, bucket, store: opened }: Dataset,
  clock: Clock,
  closers: Opened,
): Promise<{ engine: GetEngine; store: S3Store | null; endpoint: string | null; isAnonymous: boolean }> {
  const { internal, logger } = options;
  if (internal?.engine)
    return { engine: internal.engine(clock), store: opened, endpoint: null, isAnonymous: false };
  const store = opened ?? (await openStore(options.s3 ?? {}));
  if (!opened) closers.add(() => store.close());
  const access = await store.bucketAccess(bucket as string);
  const connections = policy.values.get('concurrency.max')!;
  const scarce = fileLimitWarning(connections, openFilesLimit());
  if (scarce !== null) logger?.warn({}, scarce);
  const settings = {
    table: manifest,
    access,
    limits: limitsOf(policy),
    clock,
    verify,
    maxSockets: connections,
    onNotice: (notice: string) => logger?.warn({}, notice),
  };
  const engine =
    choice.name === 'native'
      ? createNativeEngine(choice.native, { ...settings, threads: policy.values.get('engine.threads')! })
      : createPortableEngine(settings);
  return {
    engine,
    store,
    endpoint: `${access.protocol}//${access.host}`,
    isAnonymous: access.credentials === null,
  };
}

function createLanding({ landing }: CheckedOptions, sizes: LandingSizes): LandingBackend {
  const { module } = loadNative();
  if (landing.backend === 'memory') return createMemoryLanding(sizes);
  if (landing.backend === 'shm' && module !== null) return createShmLanding(module, sizes);
  if (landing.backend === 'cuda' && module !== null) return createCudaLanding(module, sizes);
  throw new Error(`no landing memory of kind ${landing.backend}`);
}

function cursorBase(options: FeedOptions, policy: Policy, manifest: Manifest): CursorBase {
  return {
    seed: String(options.seed ?? 0),
    epochs: options.epochs ?? 1,
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
    `the longest sample has ${tellBytes(manifest.maxLength)}, but of the memory budget of ${tellBytes(memoryBytes)} a batch can use ${tellBytes(core.landingBytes)}`,
    words`raise ${option('memoryBytes')} above the longest batch`,
    { option: 'memoryBytes' },
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
