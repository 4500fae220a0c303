import { type FailureClass, type FailureName, failureName } from '../engine/failure.js';

/** Without an answer for so long, failures are an outage and not a few unlucky requests. */
const QUIET_NS = 1e9;
/** Without the beginning of an answer for so long, a consumer that waits is told why. */
const SILENT_NS = 5e9;
/** Between two warnings of one outage. */
const REPEAT_NS = 30e9;

/** Failures after which the store may well answer the next time; the others end a request at once, and are told with it. */
const PASSING: ReadonlySet<FailureName> = new Set([
  'throttled',
  'server',
  'reset',
  'connect',
  'timeout_connect',
  'timeout_first_byte',
  'timeout_idle',
  'timeout_total',
  'expired',
]);
const WITH_ANSWER: ReadonlySet<FailureName> = new Set(['throttled', 'server', 'expired']);

/** Who is told of an outage. */
export interface OutageLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Tells of a store that does not answer, once at the first retries and seldom after that, and once when it answers again. It is told
 * every answer and every failure in the order of their times, and costs an assignment for an answer.
 */
export class OutageWatch {
  readonly #store: string;
  readonly #log: OutageLog;
  #answeredNs = Number.NEGATIVE_INFINITY;
  /** Failures since the last answer, and the time of the first. */
  #failures = 0;
  #failingSinceNs = 0;
  /** Time of the last warning of this outage; null: none was given. */
  #warnedNs: number | null = null;
  /** Where requests wait in silence: since when. */
  #silentSinceNs: number | null = null;

  /** @param store as people know it: its endpoint */
  constructor(store: string, log: OutageLog) {
    this.#store = store;
    this.#log = log;
  }

  answered(timeNs: number): void {
    this.#answeredNs = timeNs;
    if (this.#failures > 0 || this.#silentSinceNs !== null) this.#over(timeNs);
  }

  failed(failureClass: FailureClass, timeNs: number): void {
    const code = failureName(failureClass);
    if (!PASSING.has(code)) return;
    if (this.#failures++ === 0) this.#failingSinceNs = timeNs;
    if (this.#failures < 2 || timeNs - this.#answeredNs < QUIET_NS) return;
    if (this.#warnedNs !== null && timeNs - this.#warnedNs < REPEAT_NS) return;
    const what = WITH_ANSWER.has(code)
      ? `${this.#store} answers with failures only (${code})`
      : `no answer from ${this.#store} (${code})`;
    const since = this.#warnedNs === null ? '' : ` for ${seconds(timeNs - this.#failingSinceNs)}`;
    this.#warnedNs = timeNs;
    this.#log.warn({}, `${what}${since}: trying again`);
  }

  /**
   * The consumer waits for a batch, and requests are under way.
   *
   * @param sinceNs when it began to wait
   * @returns after how many nanoseconds to ask again
   */
  waits(timeNs: number, sinceNs: number, inFlight: number): number {
    const quietSinceNs = Math.max(sinceNs, this.#answeredNs);
    const quietNs = timeNs - quietSinceNs;
    if (quietNs < SILENT_NS) return SILENT_NS - quietNs;
    if (this.#warnedNs !== null && timeNs - this.#warnedNs < REPEAT_NS)
      return REPEAT_NS - (timeNs - this.#warnedNs);
    this.#silentSinceNs ??= quietSinceNs;
    this.#warnedNs = timeNs;
    this.#log.warn(
      {},
      `the next batch waits for ${this.#store}, which has begun no answer for ${seconds(quietNs)}: ${inFlight} request${inFlight === 1 ? '' : 's'} under way`,
    );
    return REPEAT_NS;
  }

  #over(timeNs: number): void {
    const sinceNs = Math.min(
      this.#failures > 0 ? this.#failingSinceNs : timeNs,
      this.#silentSinceNs ?? timeNs,
    );
    if (this.#warnedNs !== null)
      this.#log.info({}, `${this.#store} answers again, after ${seconds(timeNs - sinceNs)}`);
    this.#failures = 0;
    this.#silentSinceNs = null;
    this.#warnedNs = null;
  }
}

function seconds(ns: number): string {
  return `${(ns / 1e9).toFixed(1)} s`;
}
