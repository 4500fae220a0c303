import type { ClientCertificate } from './client-certificate.js';

/** AWS credentials as a request is signed with them. Never logged, never part of an error. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
  /** When they stop to be valid, in milliseconds since 1970; null where the provider does not say. */
  readonly expiresAtMs: number | null;
}

/**
 * Where an engine takes its credentials from. They are refreshed ahead of expiry in the background, one refresh at a
 * time, so `current` is a field access.
 */
export interface CredentialSource {
  /** The credentials to sign with now. The same object until they are refreshed. */
  current(): S3Credentials;
  /**
   * The store called `used` expired. Resolves when `current` gives other credentials; all who ask about the same
   * `used` share one refresh. Rejects with a StoreError that names the provider when none are to be had.
   */
  refresh(used: S3Credentials): Promise<void>;
}

/** All that an engine must know to read objects of one bucket: the SDK's endpoint rules, asked once. */
export interface BucketAccess {
  readonly bucket: string;
  readonly protocol: 'http:' | 'https:';
  /** Host name or address to connect to, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The Host header as it is sent and signed: brackets where IPv6, a port where it is not the protocol's own. */
  readonly host: string;
  /** Encoded path before an object's key: '' or '/base/bucket'; no slash at the end. */
  readonly pathPrefix: string;
  /** Whether the bucket stands in the host name or in the path. */
  readonly addressing: 'host' | 'path';
  readonly signingRegion: string;
  /** Service name of the signature: 's3', 's3-outposts', ... */
  readonly signingName: string;
  /** Null: anonymous, no Authorization header is sent. */
  readonly credentials: CredentialSource | null;
  readonly requesterPays: boolean;
  /** PEM certificates that are trusted instead of the built-in ones; null: the built-in ones. */
  readonly caPem: string | null;
  /** What is shown to a store that asks for a certificate; null: none. */
  readonly clientCertificate: ClientCertificate | null;
}
