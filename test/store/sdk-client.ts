import { lookup } from 'node:dns';
import http from 'node:http';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { ScriptedStore } from './index.js';

/** Names under `.localhost` are the local machine (RFC 6761), whatever the system's resolver says. */
const lookupLocal: typeof lookup = ((host: string, options: object, done: never) =>
  lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, options, done)) as typeof lookup;

/** The real SDK on a store, with one attempt and the store's credentials unless told otherwise. */
export function sdkClient(store: ScriptedStore, config: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint: store.endpoint,
    region: store.region,
    credentials: store.credentials as { accessKeyId: string; secretAccessKey: string },
    forcePathStyle: true,
    maxAttempts: 1,
    requestHandler: { httpAgent: new http.Agent({ keepAlive: true, lookup: lookupLocal as never }) },
    ...config,
  });
}
