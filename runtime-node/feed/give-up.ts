import * as layout from '../../assembly/layout.js';
import type { Core } from '../core.js';
import type { FetchFailure, GetEngine } from '../engine/engine.js';
import { failureName } from '../engine/failure.js';
import { type ErrorContext, Os2gError, StoreError } from '../errors.js';
import type { LandingBackend } from '../landing/landing.js';
import type { TransferFailure } from '../landing/transfer-failure.js';
import type { Manifest } from '../manifest/manifest.js';
import { tellBytes } from '../policy/units.js';
import { NOT_PUBLIC_MEND } from '../s3/sdk-error.js';
import { CA_MEND, CLOSED_MEND, NOT_HTTP_MEND } from '../s3/tls-failure.js';
import { option, setting, type Text, words } from '../wording.js';
import { type BatchRoom, budgetOption } from './batch-room.js';
import type { RingSink } from './ring-sink.js';
import type { SkippedSample } from './tally.js';

/** Why the core gave up a sample or the run. */
export interface GiveUp {
  /** ERROR_*; of a skipped sample ERROR_FETCH. */
  code: number;
  failureClass: number;
  row: number;
  attempts: number | undefined;
  failure: FetchFailure | undefined;
  /** Where it was fetched and could not be moved into landing memory. */
  transfer: TransferFailure | undefined;
  /** Whether the store ever answered a request of this feed. */
  hasAnswer: boolean;
  /** ERROR_BATCH_TOO_LARGE: bytes needed, and bytes that there are. */
  neededBytes: number;
  limitBytes: number;
}

interface GiveUpSources {
  readonly core: Core;
  readonly engine: GetEngine;
  readonly landing: LandingBackend;
}

/** From a FAIL or SKIP record. */
export function giveUpOf({ core, engine, landing }: GiveUpSources, word: number, sink: RingSink): GiveUp {
  const { u32, f64 } = core;
  const half = word >> 1;
  const id = u32[word + layout.W_ID]!;
  const fails = u32[word] === layout.ACTION_FAIL;
  const failureClass = u32[word + (fails ? layout.FAIL_W_CLASS : layout.SKIP_W_CLASS)]!;
  const isTransfer = failureClass === layout.CLASS_TRANSFER;
  return {
    code: fails ? u32[word + layout.FAIL_W_CODE]! : layout.ERROR_FETCH,
    failureClass,
    row: f64[half + (fails ? layout.FAIL_D_ROW : layout.SKIP_D_ROW)]!,
    attempts: isTransfer ? sink.moves(id) : sink.attempts(id),
    failure: id === layout.NO_REQUEST || isTransfer ? undefined : engine.failure(id),
    transfer: isTransfer ? landing.failure(id) : undefined,
    hasAnswer: sink.hasAnswer,
    neededBytes: fails ? f64[half + layout.FAIL_D_NEEDED]! : 0,
    limitBytes: fails ? f64[half + layout.FAIL_D_LIMIT]! : 0,
  };
}

const BUCKET_CHECK = 'check that this is the bucket of the manifest';

/** What to do about a failure, by its class. */
const MENDS: Partial<Record<ReturnType<typeof failureName>, Text>> = {
  throttled: words`lower ${setting('concurrency.max')}, raise ${setting('retry.attempts')}, or spread the keys over more prefixes`,
  timeout_connect: words`check the endpoint and the network, or raise ${setting('limits.connect')}`,
  timeout_first_byte: words`raise ${setting('limits.first_byte')}, or look at the load of the store`,
  timeout_idle: words`raise ${setting('limits.idle')}, or look at the network`,
  timeout_total: words`raise ${setting('limits.total')}, or lower ${setting('split.bytes')}`,
  connect: words`check ${option('s3.endpoint')}, its port, the network, and the proxy where the environment names one`,
  expired: 'renew the credentials',
  not_found: words`index the data set again, or skip such samples with ${option('onError', 'skip')}; ${BUCKET_CHECK}`,
  forbidden: words`check credentials and bucket policy; a requester-pays bucket needs ${option('s3.requesterPays')}`,
  changed: 'index the data set again: it is not what the manifest says',
  moved: words`set ${option('s3.region')} (or AWS_REGION) to the region that the store names`,
  archived: 'restore the object, or leave it out of the manifest',
  tls: CA_MEND,
  server: 'try again later; the fault is on the side of the store, whose own log has the request',
  reset: 'look at the network and at what stands between here and the store; run again from the cursor',
  stale: 'look at the network and at what stands between here and the store; run again from the cursor',
  protocol: words`check host, port and protocol of ${option('s3.endpoint')}, and what stands between here and the store`,
  refused: words`check the bucket and ${option('s3.endpoint')}; \`os2g doctor s3://BUCKET/PREFIX\` tries each step`,
  range: 'the store, or a proxy before it, does not honour ranges',
  short: 'index the data set again, or look at what stands between here and the store',
  long: 'index the data set again, or look at what stands between here and the store',
  checksum: 'the stored object or the way to it is damaged: compare with the original',
};

/** What of the run an error is told with. */
export interface RunFacts {
  readonly manifest: Manifest;
  readonly bucket: string | null;
  /** URL of the store's host; null: no store is read. */
  readonly endpoint: string | null;
  /** Requests are not signed. */
  readonly isAnonymous: boolean;
  readonly maxSkips: number;
  readonly room: BatchRoom;
}

/** The error that ends a feed, from what the core and the engine know. */
export function giveUpError(why: GiveUp, facts: RunFacts): Os2gError {
  if (why.code === layout.ERROR_FETCH || why.code === layout.ERROR_PLACE) return sampleError(why, facts);
  if (why.code === layout.ERROR_BATCH_TOO_LARGE) {
    return new Os2gError(
      'batch_too_large',
      `a batch of ${tellBytes(why.neededBytes)} does not fit into ${tellBytes(why.limitBytes)} of landing memory, which is ${facts.room.shareText}`,
      words`raise ${budgetOption(facts.room.budgetFor(why.neededBytes))} or more, or lower ${option('batchSamples')}`,
      { option: 'memoryBytes', row: why.row },
    );
  }
  if (why.code === layout.ERROR_TOO_MANY_SKIPS) {
    const cause = sampleError(why, facts);
    const { maxSkips } = facts;
    return new Os2gError(
      'too_many_skips',
      words`more than ${maxSkips} sample${maxSkips === 1 ? '' : 's'} failed: ${option('maxSkips')} is ${maxSkips}, for all epochs of the run together; the last one: ${cause.wording.message}`,
      words`raise ${option('maxSkips')}; or: ${cause.wording.mend}`,
      { ...cause.context, option: 'maxSkips', cause },
    );
  }
  return new Os2gError(
    'core_error',
    `the core ended the run with its error ${why.code}`,
    'this is a defect of os2g: please report it',
    {
      row: why.row,
    },
  );
}

/** A sample that was left out, for the result. */
export function skippedSample(why: GiveUp, manifest: Manifest): SkippedSample {
  const key = manifest.key(why.row);
  const code = failureName(why.failureClass);
  return {
    index: why.row,
    key,
    code,
    reason: why.transfer?.message ?? why.failure?.message ?? code.replaceAll('_', ' '),
  };
}

/** What the core's own refusal of an event or a step means; always a defect of the host. */
export function brokenError(cause: unknown): Os2gError {
  if (cause instanceof Os2gError) return cause;
  const trap = cause instanceof WebAssembly.RuntimeError;
  const text = cause instanceof Error ? cause.message : String(cause);
  return new Os2gError(
    trap ? 'core_trap' : 'internal',
    `${trap ? 'the core trapped' : 'the feed broke'}: ${text}`,
    words`this is a defect of os2g: please report it, with a ${{ api: 'trace', command: '--trace' }} if you can`,
    { cause },
  );
}

function sampleError(why: GiveUp, facts: RunFacts): Os2gError {
  return why.failureClass === layout.CLASS_TRANSFER ? moveError(why, facts) : readError(why, facts);
}

/** It was read, and could not be moved into landing memory. */
function moveError({ transfer, row, attempts }: GiveUp, { manifest }: RunFacts): Os2gError {
  const key = manifest.key(row);
  return new Os2gError(
    'transfer',
    `moving ${JSON.stringify(key)} into landing memory failed${triesOf(attempts)}: ${transfer?.message ?? 'the back end does not say why'}`,
    transfer?.mend ?? 'look at the machine’s own log',
    { key, row, attempts },
  );
}

function triesOf(attempts: number | undefined): string {
  return attempts === undefined ? '' : ` (after ${attempts} attempt${attempts === 1 ? '' : 's'})`;
}

function mendOf(name: ReturnType<typeof failureName>, code: number): Text | undefined {
  // Who skips already need not be told to.
  const skips = code === layout.ERROR_TOO_MANY_SKIPS;
  return skips && name === 'not_found' ? `index the data set again; ${BUCKET_CHECK}` : MENDS[name];
}

function readError(why: GiveUp, facts: RunFacts): StoreError {
  const { failure, row, attempts } = why;
  const { manifest, bucket } = facts;
  const name = failureName(why.failureClass);
  const key = failure?.key ?? manifest.key(row);
  const said = failure?.message ?? name.replaceAll('_', ' ');
  // Some stores answer so for a bucket that does not exist, too.
  const what = name === 'not_found' && bucket !== null ? `${said}, in bucket ${bucket}` : said;
  const context: ErrorContext = { key, row, attempts, cause: failure?.cause };
  if (bucket !== null) context.bucket = bucket;
  if (failure) {
    const { status, s3Code, requestId, bodyStart } = failure;
    Object.assign(context, { status, s3Code, requestId, bodyStart });
  }
  return new StoreError(
    name,
    `reading ${JSON.stringify(key)} failed${triesOf(attempts)}: ${what}`,
    failure?.mend ??
      mendOfAccess(why, facts) ??
      mendOf(name, why.code) ??
      'look at the store’s own log for this request',
    context,
  );
}

/** What the way to the store asks for; one of plain http that never answered in HTTP may be one of https. */
function mendOfAccess(
  { failureClass, hasAnswer }: GiveUp,
  { endpoint, isAnonymous }: RunFacts,
): Text | undefined {
  if (failureClass === layout.CLASS_FORBIDDEN && isAnonymous) return NOT_PUBLIC_MEND;
  if (hasAnswer || !endpoint?.startsWith('http:')) return undefined;
  if (failureClass === layout.CLASS_PROTOCOL) return NOT_HTTP_MEND;
  return failureClass === layout.CLASS_RESET ? CLOSED_MEND : undefined;
}
