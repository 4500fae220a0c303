import type { NativeCredentials, NativeEngineHandle, NativeModule } from '../native/module.js';
import * as records from '../native/module.js';
import type { S3Credentials } from '../s3/access.js';
import { CompletionRing } from './completions.js';
import type { CompletionSink, FetchFailure, GetEngine } from './engine.js';
import { FAILURE_CLASSES, type FailureClass } from './failure.js';
import { NativeFailures } from './native-failure.js';
import { nativeOptions } from './native-options.js';
import { nativeTable } from './native-table.js';
import type { PortableEngineOptions } from './portable.js';

export interface NativeEngineSettings extends PortableEngineOptions {
  /** I/O threads. */
  threads: number;
}

const SUBMISSIONS = 256;
const COMPLETIONS = 1024;
/** Attempts of one request, at most. */
const MOST_ATTEMPTS = 65_536;
const { expired, cancelled, forbidden } = FAILURE_CLASSES;

/**
 * The GET engine in Rust. Requests and completions cross as records in shared buffers, many in one call; what is rare
 * (sentences about failures, a refresh of credentials) is done here.
 * @throws ConfigError `bad_option` that names a proxy that is none; `engine_unavailable`
 */
export function createNativeEngine(native: NativeModule, settings: NativeEngineSettings): GetEngine {
  return new NativeEngine(native, settings);
}

class NativeEngine implements GetEngine {
  readonly name = 'native';
  onWake: (() => void) | null = null;
  readonly #settings: NativeEngineSettings;
  readonly #handle: NativeEngineHandle;
  readonly #failures: NativeFailures;
  readonly #regions = new Map<Uint8Array, number>();

  readonly #submitWords: Uint32Array;
  readonly #submitNumbers: Float64Array;
  readonly #doneWords: Uint32Array;
  readonly #doneNumbers: Float64Array;
  #pending = 0;
  #flushSoon = false;

  /** Ends that are made here; they come before those that still wait in the engine. */
  readonly #own = new CompletionRing(16);
  /** Attempts whose failure waits for a refresh of credentials. */
  readonly #settling = new Map<number, symbol>();
  #credentials: S3Credentials | null | undefined;
  #isArmed = false;
  #wakeSoon: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;
  /** As they stood when the engine was closed; null while it is open. */
  #lastChecksums: { checked: number; unchecked: number } | null = null;
  #running = 0;
  /** The engine's own threads do not: only while something runs does the process stay. */
  readonly #keepsAlive = setInterval(() => {}, 2 ** 31 - 1).unref();

  constructor(native: NativeModule, settings: NativeEngineSettings) {
    this.#settings = settings;
    const submissions = new ArrayBuffer(SUBMISSIONS * records.RECORD_BYTES);
    const completions = new ArrayBuffer(COMPLETIONS * records.RECORD_BYTES + 8);
    this.#submitWords = new Uint32Array(submissions);
    this.#submitNumbers = new Float64Array(submissions);
    this.#doneWords = new Uint32Array(completions);
    this.#doneNumbers = new Float64Array(completions);
    this.#handle = new native.NativeEngine(
      nativeOptions(settings),
      nativeTable(settings.table),
      new Uint8Array(submissions),
      new Uint8Array(completions),
      () => this.#woken(),
    );
    this.#failures = new NativeFailures(this.#handle, settings);
    this.#signAsNow();
  }

  get checksums(): { checked: number; unchecked: number } {
    return this.#lastChecksums ?? this.#countChecksums();
  }

  get sockets(): number {
    return this.#handle.sockets();
  }

  get(
    id: number,
    attempt: number,
    row: number,
    offset: number,
    length: number,
    memory: Uint8Array,
    at = 0,
  ): void {
    if (this.#closing !== null) throw new Error('get() on a closed engine');
    if (this.#running++ === 0) this.#keepsAlive.ref();
    this.#failures.begins(id, row);
    this.#signAsNow();
    const word = this.#submit(records.SUBMIT_GET, id, attempt);
    const number = word >> 1;
    this.#submitWords[word + records.SUBMISSION_W_REGION] = this.#regionOf(memory);
    this.#submitNumbers[number + records.SUBMISSION_D_ROW] = row;
    this.#submitNumbers[number + records.SUBMISSION_D_OFFSET] = offset;
    this.#submitNumbers[number + records.SUBMISSION_D_LENGTH] = length;
    this.#submitNumbers[number + records.SUBMISSION_D_TARGET] = at;
  }

  cancel(id: number, attempt: number): void {
    if (this.#settling.delete(attemptKey(id, attempt))) {
      this.#ownFailure(id, attempt, cancelled, 0, 0);
    } else this.#submit(records.SUBMIT_CANCEL, id, attempt);
  }

  drain(sink: CompletionSink, max: number): number {
    this.#flush();
    let taken = this.#own.drain(sink, max);
    this.#ended(taken);
    if (this.#closing !== null) return taken;
    while (taken < max) {
      const count = this.#handle.poll(Math.min(max - taken, COMPLETIONS));
      if (count === 0) break;
      taken += this.#take(sink, count);
    }
    return taken;
  }

  arm(): void {
    this.#flush();
    this.#isArmed = true;
    if (this.#closing === null && (this.#own.waiting > 0 || this.#handle.arm())) this.#wakeLater();
  }

  failure(id: number): FetchFailure | undefined {
    return this.#failures.get(id);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    if (this.#wakeSoon !== null) clearImmediate(this.#wakeSoon);
    this.#isArmed = false;
    this.#settling.clear();
    this.#own.clear();
    this.#pending = 0;
    clearInterval(this.#keepsAlive);
    this.#lastChecksums = this.#countChecksums();
    await this.#handle.close();
    this.#regions.clear();
  }

  #countChecksums(): { checked: number; unchecked: number } {
    const [checked = 0, unchecked = 0] = this.#handle.checksums();
    return { checked, unchecked };
  }

  // ---- requests -----------------------------------------------------------------------------------

  /** The next record's first word, with what every record has. */
  #submit(kind: number, id: number, attempt: number): number {
    if (this.#pending === SUBMISSIONS) this.#flush();
    const word = this.#pending++ * records.RECORD_WORDS;
    this.#submitWords[word] = kind;
    this.#submitWords[word + records.SUBMISSION_W_ID] = id;
    this.#submitWords[word + records.SUBMISSION_W_ATTEMPT] = attempt;
    // Who takes turns sends with the turn's end; who does not, at once.
    if (this.#isArmed && !this.#flushSoon) {
      this.#flushSoon = true;
      queueMicrotask(() => {
        this.#flushSoon = false;
        this.#flush();
      });
    }
    return word;
  }

  #flush(): void {
    const count = this.#pending;
    if (count === 0) return;
    this.#pending = 0;
    this.#handle.submit(count);
  }

  #regionOf(memory: Uint8Array): number {
    let region = this.#regions.get(memory);
    if (region === undefined) {
      region = this.#handle.register(memory);
      this.#regions.set(memory, region);
    }
    return region;
  }

  /** Requests from here on are signed with the credentials of now. */
  #signAsNow(): void {
    const now = this.#settings.access.credentials?.current() ?? null;
    if (now === this.#credentials) return;
    this.#flush();
    this.#credentials = now;
    this.#failures.signedWith(
      now,
      this.#handle.setCredentials(now === null ? undefined : nativeCredentials(now)),
    );
  }

  // ---- completions --------------------------------------------------------------------------------

  /** @returns how many of the engine's records became completions */
  #take(sink: CompletionSink, count: number): number {
    const words = this.#doneWords;
    const numbers = this.#doneNumbers;
    const nowNs = this.#settings.clock.nowNs();
    const clockOffsetNs = nowNs - numbers[COMPLETIONS * records.RECORD_NUMBERS]!;
    let taken = 0;
    let ended = 0;
    for (let n = 0; n < count; n++) {
      const word = n * records.RECORD_WORDS;
      const number = n * records.RECORD_NUMBERS;
      const id = words[word + records.COMPLETION_W_ID]!;
      const attempt = words[word + records.COMPLETION_W_ATTEMPT]!;
      const bytes = numbers[number + records.COMPLETION_D_BYTES]!;
      const timeNs = Math.min(
        nowNs,
        Math.floor(numbers[number + records.COMPLETION_D_TIME]! + clockOffsetNs),
      );
      const kind = words[word];
      if (kind === records.COMPLETION_FIRST_BYTE) sink.firstByte(id, attempt, timeNs);
      else if (kind === records.COMPLETION_FETCHED) {
        sink.fetched(id, attempt, bytes, timeNs);
        this.#failures.fetched(id);
        ended++;
      } else {
        const failureClass = words[word + records.COMPLETION_W_CLASS]! as FailureClass;
        const status = words[word + records.COMPLETION_W_STATUS]!;
        this.#notice();
        if (failureClass === expired && this.#settle(id, attempt, status, bytes)) continue;
        const retryAfterNs = numbers[number + records.COMPLETION_D_RETRY_AFTER]!;
        sink.failed(id, attempt, failureClass, status, retryAfterNs, bytes, timeNs);
        ended++;
      }
      taken++;
    }
    this.#ended(ended);
    return taken;
  }

  #ended(count: number): void {
    this.#running -= count;
    if (this.#running === 0) this.#keepsAlive.unref();
  }

  /** The failure follows when new credentials are there, or are not to be had. */
  #settle(id: number, attempt: number, status: number, bytes: number): boolean {
    const { credentials } = this.#settings.access;
    const used = this.#failures.credentialsOf(id);
    if (credentials === null || used === null) return false;
    const key = attemptKey(id, attempt);
    const mine = Symbol(key);
    this.#settling.set(key, mine);
    const end = (failureClass: FailureClass): void => {
      if (this.#settling.get(key) !== mine) return;
      this.#settling.delete(key);
      this.#ownFailure(id, attempt, failureClass, status, bytes);
    };
    credentials.refresh(used).then(
      () => end(expired),
      (cause: unknown) => {
        if (this.#settling.get(key) === mine) this.#failures.cannotRefresh(id, cause);
        end(forbidden);
      },
    );
    return true;
  }

  #ownFailure(id: number, attempt: number, failureClass: FailureClass, status: number, bytes: number): void {
    this.#own.pushFailed(id, attempt, failureClass, status, 0, bytes, this.#settings.clock.nowNs());
    if (this.#isArmed) this.#wakeLater();
  }

  #notice(): void {
    for (const notice of this.#handle.notices()) this.#settings.onNotice?.(notice);
  }

  // ---- waking -------------------------------------------------------------------------------------

  #wakeLater(): void {
    this.#wakeSoon ??= setImmediate(() => this.#woken());
  }

  #woken(): void {
    if (this.#wakeSoon !== null) clearImmediate(this.#wakeSoon);
    this.#wakeSoon = null;
    if (!this.#isArmed || this.#closing !== null) return;
    this.#isArmed = false;
    this.onWake?.();
  }
}

function nativeCredentials(credentials: S3Credentials): NativeCredentials {
  const { accessKeyId, secretAccessKey, sessionToken, expiresAtMs } = credentials;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken ?? undefined,
    expiresAtMs: expiresAtMs ?? undefined,
  };
}

function attemptKey(id: number, attempt: number): number {
  return id * MOST_ATTEMPTS + attempt;
}
