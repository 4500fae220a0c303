import { StoreError } from '../errors.js';
import { option, words } from '../wording.js';
import type { CredentialSource, S3Credentials } from './access.js';

/** What the SDK's providers give. */
export interface SdkIdentity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
  /** Which providers it came through, by the SDK's names. */
  readonly $source?: object;
}

/** The SDK's default chain. `forceRefresh`: ask again, whatever is remembered. */
export type IdentityProvider = (options?: { forceRefresh?: boolean }) => Promise<SdkIdentity>;

const REFRESH_AHEAD_MS = 5 * 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const RETRY_BACKGROUND_MS = 30_000;
const REFRESH_LIMIT_MS = 30_000;

/**
 * Credentials of the SDK's default chain, always at hand: refreshed in the background five minutes ahead of expiry, one
 * refresh at a time, and at once when the store calls them expired.
 */
export class RefreshedCredentials implements CredentialSource {
  private timer: NodeJS.Timeout | null = null;
  private refreshing: Promise<void> | null = null;
  private failedFor: S3Credentials | null = null;
  private failure: StoreError | null = null;
  private closed = false;

  private constructor(
    private readonly provider: IdentityProvider,
    private now: S3Credentials,
    private source: string,
    private readonly nowMs: () => number,
  ) {
    this.schedule();
  }

  /**
   * Asks the provider for the first time.
   *
   * @throws StoreError where there are no credentials
   */
  static async open(
    provider: IdentityProvider,
    nowMs: () => number = Date.now,
  ): Promise<RefreshedCredentials> {
    let identity: SdkIdentity;
    try {
      identity = await provider();
    } catch (cause) {
      throw new StoreError(
        'no_credentials',
        `no AWS credentials were found: ${messageOf(cause)}`,
        words`set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (${option('s3.profile')}), or read a public bucket with ${option('s3.anonymous')}`,
        { cause },
      );
    }
    return new RefreshedCredentials(provider, credentialsOf(identity), sourceOf(identity), nowMs);
  }

  /** The provider, in words. */
  get providerName(): string {
    return this.source;
  }

  current(): S3Credentials {
    return this.now;
  }

  refresh(used: S3Credentials): Promise<void> {
    if (used !== this.now) return Promise.resolve();
    if (this.failedFor === used && this.failure !== null) return Promise.reject(this.failure);
    this.refreshing ??= this.refreshNow(used).finally(() => {
      this.refreshing = null;
    });
    return this.refreshing;
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private async refreshNow(used: S3Credentials): Promise<void> {
    try {
      const identity = await within(REFRESH_LIMIT_MS, this.provider({ forceRefresh: true }));
      const fresh = credentialsOf(identity);
      if (sameKeys(fresh, used)) throw new Error('the provider gives the same ones again');
      this.now = fresh;
      this.source = sourceOf(identity);
      this.schedule();
    } catch (cause) {
      this.failedFor = used;
      this.failure = new StoreError(
        'credentials_expired',
        `the credentials have expired and ${this.source} gives no new ones: ${messageOf(cause)}`,
        'renew them there (aws sso login, a new session token, the role of the machine) and run again from the cursor',
        { cause },
      );
      throw this.failure;
    }
  }

  private schedule(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    if (this.closed || this.now.expiresAtMs === null) return;
    const aheadMs = this.now.expiresAtMs - REFRESH_AHEAD_MS - this.nowMs();
    // Where they come with less than five minutes to go, the next ones are asked for at half of what is left.
    const halfMs = (this.now.expiresAtMs - this.nowMs()) / 2;
    this.arm(Math.max(aheadMs, halfMs, 1000));
  }

  private arm(delayMs: number): void {
    this.timer = setTimeout(this.refreshAhead, Math.min(delayMs, LONGEST_TIMER_MS));
    this.timer.unref();
  }

  private readonly refreshAhead = (): void => {
    const used = this.now;
    this.refresh(used).catch(() => {
      // The old ones may hold a while yet: not final, and asked again soon.
      this.failedFor = null;
      if (!this.closed && this.now === used) this.arm(RETRY_BACKGROUND_MS);
    });
  };
}

function credentialsOf(identity: SdkIdentity): S3Credentials {
  return {
    accessKeyId: identity.accessKeyId,
    secretAccessKey: identity.secretAccessKey,
    sessionToken: identity.sessionToken ?? null,
    expiresAtMs: identity.expiration?.getTime() ?? null,
  };
}

function sameKeys(a: S3Credentials, b: S3Credentials): boolean {
  return (
    a.accessKeyId === b.accessKeyId &&
    a.secretAccessKey === b.secretAccessKey &&
    a.sessionToken === b.sessionToken
  );
}

/** `CREDENTIALS_ENV_VARS` -> `env vars`. */
function sourceOf(identity: SdkIdentity): string {
  const names = Object.keys(identity.$source ?? {}).map((name) =>
    name
      .replace(/^CREDENTIALS_/, '')
      .toLowerCase()
      .replaceAll('_', ' '),
  );
  return names.length === 0 ? 'the AWS default chain' : `the AWS default chain (${names.join(', ')})`;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}
