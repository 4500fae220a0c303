import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { BucketAccess, CredentialSource, S3Credentials } from './access.js';
import type { Trust } from './agents.js';
import { openClient } from './client.js';
import type { RefreshedCredentials } from './credentials.js';
import { type ResolvedEndpoint, resolveEndpoint } from './endpoint.js';
import { requestPage } from './list-request.js';
import { isArchive, type ListedObject, listPages } from './listing.js';
import type { S3Options } from './location.js';
import { withRetries } from './retry.js';
import { type CallContext, storeError } from './sdk-error.js';
import { isExpired, isPassing, readSdkFailure } from './sdk-failure.js';
import { hiderOf } from './secrets.js';

export type { BucketAccess, CredentialSource, S3Credentials } from './access.js';
export type { ListedObject } from './listing.js';
export { parseS3Url, type S3Options } from './location.js';

/** An object as HEAD describes it. */
export interface HeadedObject extends ListedObject {}

/** A store: listing and head through the AWS SDK, and what an engine needs to read from it. */
export interface S3Store {
  /**
   * The objects whose key begins with `prefix` (a plain string match: `train` finds `train2/1` too), page by page, as
   * the store orders them.
   *
   * @throws StoreError where the listing fails or cannot be complete; AbortedError
   */
  listObjects(bucket: string, prefix: string, signal?: AbortSignal): AsyncGenerator<ListedObject[]>;
  /** @throws StoreError, code `not_found` where there is no such object */
  headObject(bucket: string, key: string, signal?: AbortSignal): Promise<HeadedObject>;
  /** Endpoint rules, asked once a bucket. @throws ConfigError */
  bucketAccess(bucket: string): Promise<BucketAccess>;
  /** List requests sent so far, retries included. */
  readonly listRequests: number;
  /** Where credentials come from, in words; null where anonymous. */
  readonly credentialsFrom: string | null;
  /** Told, in a sentence, of each list and head call that failed and is tried again. */
  onRetry: ((what: string) => void) | null;
  /** When the credentials of now end to be valid, in milliseconds since 1970; null where nobody says. */
  readonly credentialsExpireMs: number | null;
  close(): Promise<void>;
}

/**
 * Opens a store: finds region, endpoint, CA bundle and credentials by the AWS conventions. Asks the credential providers
 * once; sends nothing to the store.
 *
 * @throws ConfigError, StoreError code `no_credentials`
 */
export async function openStore(options: S3Options): Promise<S3Store> {
  const { client, credentials, trust, requireRegion } = await openClient(options);
  return new SdkStore(client, credentials, options, trust, requireRegion);
}

interface KnownBucket {
  access: BucketAccess;
  isAws: boolean;
}

class SdkStore implements S3Store {
  listRequests = 0;
  onRetry: ((what: string) => void) | null = null;
  private readonly buckets = new Map<string, Promise<KnownBucket>>();

  constructor(
    private readonly client: S3Client,
    private readonly credentials: RefreshedCredentials | null,
    private readonly options: S3Options,
    private readonly trust: Trust,
    private readonly requireRegion: (endpoint: ResolvedEndpoint) => void,
  ) {}

  get credentialsFrom(): string | null {
    return this.credentials?.providerName ?? null;
  }

  get credentialsExpireMs(): number | null {
    return this.credentials?.current().expiresAtMs ?? null;
  }

  async *listObjects(bucket: string, prefix: string, signal?: AbortSignal): AsyncGenerator<ListedObject[]> {
    const { access, isAws } = await this.known(bucket);
    const request = (token: string | null, encoded: boolean) =>
      this.call({ action: 'list', prefix }, access, signal, () => {
        this.listRequests++;
        const input = {
          Bucket: bucket,
          Prefix: prefix === '' ? undefined : prefix,
          ContinuationToken: token ?? undefined,
          EncodingType: encoded ? ('url' as const) : undefined,
          OptionalObjectAttributes: ['RestoreStatus' as const],
          RequestPayer: this.options.requesterPays ? ('requester' as const) : undefined,
        };
        return requestPage(this.client, input, signal);
      });
    yield* listPages(request, bucket, isAws);
  }

  async headObject(bucket: string, key: string, signal?: AbortSignal): Promise<HeadedObject> {
    const access = await this.bucketAccess(bucket);
    const RequestPayer = this.options.requesterPays ? 'requester' : undefined;
    const head = await this.call({ action: 'head', key }, access, signal, () =>
      this.client.send(new HeadObjectCommand({ Bucket: bucket, Key: key, RequestPayer }), {
        abortSignal: signal,
      }),
    );
    const storageClass = head.StorageClass ?? null;
    return {
      key,
      sizeBytes: head.ContentLength ?? 0,
      etag: head.ETag ?? null,
      storageClass,
      archived: isArchive(storageClass) && !/ongoing-request="false"/.test(head.Restore ?? ''),
    };
  }

  async bucketAccess(bucket: string): Promise<BucketAccess> {
    return (await this.known(bucket)).access;
  }

  async close(): Promise<void> {
    this.credentials?.close();
    this.client.destroy();
  }

  private known(bucket: string): Promise<KnownBucket> {
    let known = this.buckets.get(bucket);
    if (known === undefined) {
      known = this.resolve(bucket);
      this.buckets.set(bucket, known);
    }
    return known;
  }

  private async resolve(bucket: string): Promise<KnownBucket> {
    const endpoint = await resolveEndpoint(this.client, bucket);
    this.requireRegion(endpoint);
    const { isAws, ...where } = endpoint;
    const credentials: CredentialSource | null = this.credentials;
    const requesterPays = this.options.requesterPays === true;
    return { access: { bucket, ...where, credentials, requesterPays, ...this.trust }, isAws };
  }

  /** One call of the SDK with our retries; expired credentials are refreshed once. */
  private async call<T>(
    what: Pick<CallContext, 'action' | 'key' | 'prefix'>,
    access: BucketAccess,
    signal: AbortSignal | undefined,
    send: () => Promise<T>,
  ): Promise<T> {
    const context: CallContext = {
      ...what,
      bucket: access.bucket,
      region: access.signingRegion,
      endpoint: `${access.protocol}//${access.host}`,
      anonymous: access.credentials === null,
      requesterPays: access.requesterPays,
    };
    let attempts = 0;
    const signedWith = new Set<S3Credentials>();
    const sendOnce = (): Promise<T> => {
      attempts++;
      if (access.credentials !== null) signedWith.add(access.credentials.current());
      return send();
    };
    const attempt = async (): Promise<T> => {
      signal?.throwIfAborted();
      const used = access.credentials?.current();
      try {
        return await sendOnce();
      } catch (cause) {
        if (used === undefined || access.credentials === null || !isExpired(readSdkFailure(cause)))
          throw cause;
        await access.credentials.refresh(used);
        return await sendOnce();
      }
    };
    const hide = (text: string): string =>
      [...signedWith].reduce((rest, credentials) => hiderOf(credentials)(rest), text);
    const judge = (cause: unknown) => {
      const failure = readSdkFailure(cause);
      return { passing: isPassing(failure), silent: failure.systemCode === 'ETIMEDOUT' };
    };
    const tell = (cause: unknown): void =>
      this.onRetry?.(`${storeError(cause, context, attempts, hide).message}; it is tried again`);
    try {
      return await withRetries(attempt, judge, tell, signal);
    } catch (cause) {
      throw storeError(cause, context, attempts, hide);
    }
  }
}
