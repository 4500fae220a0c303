import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { S3Error } from './reply.js';
import { decodeUri, encodeUri, parseQuery } from './uri.js';

/** What a request asks for. `connect` is no request but the arrival of a connection: only faults know it. */
export type Operation =
  | 'get'
  | 'head'
  | 'put'
  | 'delete'
  | 'list'
  | 'location'
  | 'head-bucket'
  | 'create-bucket'
  | 'other'
  | 'connect';

export interface StoreRequest {
  method: string;
  operation: Operation;
  bucket: string | null;
  key: string | null;
  /** Decoded once. */
  query: ReadonlyMap<string, string>;
  headers: IncomingHttpHeaders;
  canonicalPath: string;
  canonicalQuery: string;
  /** The raw path, for error documents. */
  resource: string;
}

export interface AddressOptions {
  /** Path in front of everything, `/s3`; empty: none. */
  basePath: string;
  /** Refuse a target that is not encoded as SigV4 does it. */
  strictTarget: boolean;
}

const IGNORED_QUERY = new Set(['x-id']); // the SDK names the operation there
const OBJECT_OPERATIONS: Record<string, Operation> = {
  GET: 'get',
  HEAD: 'head',
  PUT: 'put',
  DELETE: 'delete',
};

function invalidUri(message: string): S3Error {
  return { status: 400, code: 'InvalidURI', message };
}

/** The bucket that a Host of the form `bucket.localhost[:port]` names. */
function hostBucket(host: string | undefined): string | null {
  const match = /^(.+)\.localhost(?::\d+)?$/i.exec(host ?? '');
  return match?.[1] ?? null;
}

function operationOf(method: string, key: string | null, query: ReadonlyMap<string, string>): Operation {
  const plain = [...query.keys()].every((name) => IGNORED_QUERY.has(name));
  if (key !== null) return plain ? (OBJECT_OPERATIONS[method] ?? 'other') : 'other';
  if (method === 'GET' && query.get('list-type') === '2') return 'list';
  if (method === 'GET' && query.has('location')) return 'location';
  if (method === 'HEAD' && plain) return 'head-bucket';
  if (method === 'PUT' && plain) return 'create-bucket';
  return 'other';
}

/** Reads a request's target from its raw text; nothing is normalised, so `a//b` and `a/../b` stay what they are. */
export function parseRequest(incoming: IncomingMessage, options: AddressOptions): StoreRequest | S3Error {
  const target = incoming.url ?? '/';
  const mark = target.indexOf('?');
  const rawPath = mark < 0 ? target : target.slice(0, mark);
  const path = decodeUri(rawPath);
  const query = parseQuery(mark < 0 ? '' : target.slice(mark + 1));
  if (path === null || query === null) return invalidUri('an escape of the target is broken or is not UTF-8');
  const canonicalPath = encodeUri(path, true);
  if (options.strictTarget && (canonicalPath !== rawPath || !query.strict)) {
    return invalidUri(
      `the target is not encoded as SigV4 does it: expected ${canonicalPath}?${query.canonical}`,
    );
  }
  if (!path.startsWith(`${options.basePath}/`))
    return invalidUri(`the path must begin with ${options.basePath}/`);
  const rest = path.slice(options.basePath.length + 1);
  let bucket = hostBucket(incoming.headers.host);
  let key: string | null = rest;
  if (bucket === null) {
    const slash = rest.indexOf('/');
    bucket = slash < 0 ? rest : rest.slice(0, slash);
    key = slash < 0 ? null : rest.slice(slash + 1);
  }
  if (key === '') key = null;
  const method = incoming.method ?? 'GET';
  return {
    method,
    operation: bucket === '' ? 'other' : operationOf(method, key, query.values),
    bucket: bucket === '' ? null : bucket,
    key,
    query: query.values,
    headers: incoming.headers,
    canonicalPath,
    canonicalQuery: query.canonical,
    resource: rawPath,
  };
}

/** What can be said of a request whose target cannot be read. */
export function unreadableRequest(incoming: IncomingMessage): StoreRequest {
  return {
    method: incoming.method ?? '',
    operation: 'other',
    bucket: null,
    key: null,
    query: new Map(),
    headers: incoming.headers,
    canonicalPath: '',
    canonicalQuery: '',
    resource: incoming.url ?? '',
  };
}
