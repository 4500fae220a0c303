/**
 * The scripted store: an S3 server on loopback that goes wrong on request. Tests use it for faults, `os2g demo` as its
 * embedded store. Node built-ins only.
 *
 *     const store = await startStore({ seed: 7 });
 *     store.createBucket('data');
 *     store.put('data', 'train/1.jpg', { sizeBytes: 64 * 2 ** 20, seed: 1 }); // computed where read: no memory
 *     store.faults.add({ match: { key: /jpg$/, every: 3 }, times: 5, fault: { kind: 'cut', afterBodyShare: 0.5, how: 'rst' } });
 *     ... store.endpoint, store.credentials, store.requests(), store.counters, store.expectedBytes('data', 'train/1.jpg', 0, 100)
 *     await store.close();
 *
 * What it speaks:
 * - GetObject (one Range; If-Match; x-amz-checksum-mode), HeadObject, PutObject (one body with a Content-Length),
 *   DeleteObject, ListObjectsV2 (prefix, delimiter, continuation-token, start-after, max-keys, encoding-type, restore status),
 *   HeadBucket, GetBucketLocation, CreateBucket; everything else is 501 NotImplemented.
 * - Path-style, and virtual-host style under `BUCKET.localhost`; an optional base path; HTTP/1.1, or HTTPS.
 * - Header signatures (SigV4), computed again from the raw target; no presigned URLs, no chunk signatures, no SigV4A. Session
 *   tokens, expiry, clock skew, regions (301 and AuthorizationHeaderMalformed), requester-pays, public buckets, anonymous.
 * - Several ranges in one header are ignored (200 with everything). A checksum is sent where it covers all that is sent.
 * - Archived storage classes answer 403 InvalidObjectState until restored.
 * - No versions, no multipart upload, no conditional reads but If-Match, no ACLs, no Server: header of AWS.
 *
 * In what order: a `connect` fault; the request-rate cap; the first fault rule that picks the request; authentication; the operation;
 * latency; the wire, with the connection's rate. Every random draw comes from the seed, in order of arrival.
 */

export type { SyntheticBody } from './bodies.js';
export { archived, expiredToken, internalError, slowDown, wrongRegion } from './fault-kit.js';
export type { ActiveRule, CloseHow, Fault, FaultMatch, FaultRule, FaultTable } from './faults.js';
export type { LoggedRequest, StoreCounters } from './journal.js';
export type { Distribution, SlowTail } from './latency.js';
export type { ListingFault } from './listing-faults.js';
export type { BucketOptions, ChecksumAlgorithm, ObjectAttributes, ObjectInfo } from './objects.js';
export type { StoreOptions } from './options.js';
export type { RequestRate } from './rate-cap.js';
export type { Operation } from './request.js';
export { type SelfSigned, selfSigned } from './self-signed.js';
export { ScriptedStore, startStore } from './server.js';
export type { StoreCredentials } from './sigv4-check.js';
