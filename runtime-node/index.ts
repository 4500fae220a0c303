/** The public API of os2g: feed training from S3 in the order that training reads. */
export { type Clock, monotonicClock } from './clock.js';
export { Core, type CoreBuild } from './core.js';
export {
  AbortedError,
  ConfigError,
  type ErrorContext,
  type ExitCode,
  Os2gError,
  StoreError,
} from './errors.js';
export { Batch } from './feed/batch.js';
export { type Cursor, parseCursor } from './feed/cursor.js';
export { readCursor } from './feed/cursor-file.js';
export type { Feed } from './feed/feed.js';
export { openFeed } from './feed/open.js';
export type { EngineName, FeedLogger, FeedOptions, Verify } from './feed/options.js';
export { readPolicyFile } from './feed/policy-file.js';
export {
  type ReplayResult,
  readTrace,
  replayTrace,
  Trace,
  type TraceEnd,
  type TraceStep,
} from './feed/replay.js';
export type { FeedSnapshot, FeedStats, StallName } from './feed/stats.js';
export type { SkippedSample } from './feed/tally.js';
export type { TraceHeader } from './feed/trace-format.js';
export type { DirectMode, LandingChoice, LandingName } from './landing/choose.js';
export { readManifest, writeManifest } from './manifest/arrow-file.js';
export { type ManifestColumns, manifestFromColumns } from './manifest/columns.js';
export { listManifest } from './manifest/index-objects.js';
export type { Manifest, SampleField } from './manifest/manifest.js';
export { packageVersion as version } from './package-root.js';
export type { OnError, Shuffle, Tail } from './policy/job.js';
export { type Policy, type PolicySpec, resolvePolicy } from './policy/resolve.js';
export { SETTINGS, type Setting } from './policy/settings.js';
export { parseS3Url, type S3Location, type S3Options } from './s3/location.js';
export { openStore, type S3Store } from './s3/store.js';
