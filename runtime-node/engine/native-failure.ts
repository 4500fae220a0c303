import type { NativeEngineHandle, NativeFailure } from '../native/module.js';
import type { S3Credentials } from '../s3/access.js';
import { type Hide, hiderOf } from '../s3/secrets.js';
import { nativeTlsMend } from '../s3/tls-failure.js';
import { answerMend, answerSentence } from './answer-sentence.js';
import type { FetchFailure } from './engine.js';
import { printableStart } from './error-document.js';
import { FAILURE_CLASSES, type FailureClass, failureName } from './failure.js';
import type { NativeEngineSettings } from './native.js';
import { KEPT_REQUESTS, RecentMap } from './recent-map.js';

/** More than can still have signed a request that runs. */
const KEPT_CREDENTIALS = 16;

/** What the native engine says of failures, in the words and with the care that all failures are told with. */
export class NativeFailures {
  readonly #handle: NativeEngineHandle;
  readonly #settings: NativeEngineSettings;
  /** By the engine's number for them. */
  readonly #credentials = new RecentMap<number, S3Credentials | null>(KEPT_CREDENTIALS);
  /** The row that each request reads, by its id, until it is fetched: ids hold a generation, so that they are any u32. */
  readonly #rows = new RecentMap<number, number>(KEPT_REQUESTS);
  /** Requests whose credentials could not be refreshed. */
  readonly #withoutRefresh = new Map<number, unknown>();

  constructor(handle: NativeEngineHandle, settings: NativeEngineSettings) {
    this.#handle = handle;
    this.#settings = settings;
  }

  signedWith(credentials: S3Credentials | null, generation: number): void {
    this.#credentials.set(generation, credentials);
  }

  /** A new attempt of the request begins: its last failure is history. */
  begins(id: number, row: number): void {
    this.#rows.set(id, row);
    if (this.#withoutRefresh.size > 0) this.#withoutRefresh.delete(id);
  }

  /** Nobody will ask what failed. */
  fetched(id: number): void {
    this.#rows.delete(id);
  }

  cannotRefresh(id: number, cause: unknown): void {
    this.#withoutRefresh.set(id, cause);
  }

  /** The credentials that the failed attempt was signed with; null: none. */
  credentialsOf(id: number): S3Credentials | null {
    const failure = this.#handle.failure(id);
    return failure === null ? null : this.#signerOf(failure);
  }

  get(id: number): FetchFailure | undefined {
    const failure = this.#handle.failure(id);
    const row = this.#rows.get(id);
    if (failure === null || row === undefined) return undefined;
    const { access, table } = this.#settings;
    const key = table.key(row);
    const place = `s3://${access.bucket}/${key}`;
    if (this.#withoutRefresh.has(id)) {
      const cause = this.#withoutRefresh.get(id);
      const what = cause instanceof Error ? cause.message : String(cause);
      return { class: FAILURE_CLASSES.forbidden, message: `${place}: ${what}`, key, cause };
    }
    const signer = this.#signerOf(failure);
    const hide = hiderOf(signer);
    const hidden = (text: string | null): string | undefined => (text === null ? undefined : hide(text));
    const what = failure.what === null ? this.#sentence(failure, signer, hide) : hide(failure.what);
    const { bodyStart } = failure;
    return {
      class: failure.class as FailureClass,
      message: `${place}: ${what}`,
      mend: failureName(failure.class) === 'tls' ? nativeTlsMend(what) : answerMend(failure.s3Code),
      key,
      status: failure.status || undefined,
      s3Code: hidden(failure.s3Code),
      requestId: hidden(failure.requestId),
      region: hidden(failure.region),
      bodyStart: bodyStart === null ? undefined : printableStart(hide(bodyStart)),
      expectedEtag: failure.expectedEtag ?? undefined,
      actualEtag: hidden(failure.actualEtag),
    };
  }

  #signerOf({ credentialsGeneration }: NativeFailure): S3Credentials | null {
    return this.#credentials.get(credentialsGeneration) ?? null;
  }

  #sentence(failure: NativeFailure, signer: S3Credentials | null, hide: Hide): string {
    const { access, verify, wallMs = Date.now } = this.#settings;
    const { status, s3Code: code, message, requestId, region, date, refusesIfMatch } = failure;
    const hidden = (text: string | null): string | null => (text === null ? null : hide(text));
    const document = { code: hidden(code), message: hidden(message), requestId, region };
    return answerSentence(
      { name: failureName(failure.class), status, document, region: hidden(region), date, refusesIfMatch },
      {
        signingRegion: access.signingRegion,
        requesterPays: access.requesterPays,
        anonymous: signer === null,
        askedChecksum: verify === 'checksum',
        nowMs: wallMs(),
      },
    );
  }
}
