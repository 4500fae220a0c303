import type { Clock } from '../clock.js';
import type { Core } from '../core.js';
import type { GetEngine } from '../engine/engine.js';
import type { Os2gError } from '../errors.js';
import type { LandingChoice } from '../landing/choose.js';
import type { LandingBackend } from '../landing/landing.js';
import type { Manifest } from '../manifest/manifest.js';
import type { Policy } from '../policy/resolve.js';
import type { AuditFile } from './audit.js';
import type { BatchRoom } from './batch-room.js';
import type { Cursor, CursorBase } from './cursor.js';
import type { CursorFile } from './cursor-file.js';
import type { FeedLogger, Verify } from './options.js';
import type { OutageWatch } from './outage.js';
import type { Timers } from './timers.js';
import type { TraceFile } from './trace.js';

/** What a feed is made of; `openFeed` puts it together. */
export interface FeedParts {
  readonly core: Core;
  readonly engine: GetEngine;
  readonly engineReason: string;
  readonly landing: LandingBackend;
  readonly landingChoice: LandingChoice;
  readonly manifest: Manifest;
  readonly bucket: string | null;
  /** URL of the store's host; null: no store is read. */
  readonly endpoint: string | null;
  /** Requests are not signed. */
  readonly isAnonymous: boolean;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly timers: Timers;
  /** The run, for its cursors, and where it starts. */
  readonly base: CursorBase;
  readonly start: Cursor;
  /** Of this rank. */
  readonly batchSamples: number;
  readonly memoryBytes: number;
  readonly room: BatchRoom;
  readonly maxSkips: number;
  readonly verify: Verify;
  readonly outage: OutageWatch | null;
  readonly trace: TraceFile | null;
  readonly audit: AuditFile | null;
  /** Opens the cursor file; null where none was asked for. */
  readonly openCursorFile: ((onError: (error: Os2gError) => void) => CursorFile) | null;
  readonly signal: AbortSignal | undefined;
  readonly logger: FeedLogger | undefined;
  /** List requests that were sent to find the data set. */
  listRequests(): number;
  /** Ends what was opened beside the engine: the store's client. */
  closeStore(): Promise<void>;
}
