import { createHash } from 'node:crypto';
import { sliceBody } from './bodies.js';
import type { Buckets } from './buckets.js';
import type { Fault } from './faults.js';
import { listingXml, listPage, parseListQuery } from './listing.js';
import { applyListingFault } from './listing-faults.js';
import { type Bucket, isArchived, type StoredObject } from './objects.js';
import { emptyReply, isS3Error, type Reply, type S3Error, xmlReply } from './reply.js';
import type { StoreRequest } from './request.js';
import { escapeXml, xmlDocument } from './xml.js';

export interface OperationContext {
  buckets: Buckets;
  pageSize: number;
  /** What is wrong with this answer, where the operation itself must know. */
  fault: Fault | null;
}

const NOT_IMPLEMENTED: S3Error = {
  status: 501,
  code: 'NotImplemented',
  message: 'the scripted store does not speak this part of S3',
};

function noSuchBucket(name: string): S3Error {
  const message = 'the specified bucket does not exist';
  return { status: 404, code: 'NoSuchBucket', message, fields: { BucketName: name } };
}

/** Does what the request asks, once it is known to be allowed. `body`: of PUT. */
export function perform(
  request: StoreRequest,
  body: Buffer | null,
  context: OperationContext,
): Reply | S3Error {
  try {
    return performChecked(request, body, context);
  } catch (error) {
    // A name that cannot be: our own checks say so by RangeError.
    if (error instanceof RangeError) return { status: 400, code: 'InvalidArgument', message: error.message };
    throw error;
  }
}

function performChecked(
  request: StoreRequest,
  body: Buffer | null,
  context: OperationContext,
): Reply | S3Error {
  if (request.operation === 'other' || request.bucket === null) return NOT_IMPLEMENTED;
  if (request.operation === 'create-bucket') {
    context.buckets.create(request.bucket);
    return emptyReply(200, { Location: `/${request.bucket}` });
  }
  const bucket = context.buckets.find(request.bucket);
  if (!bucket) return noSuchBucket(request.bucket);
  if (bucket.options.requesterPays && request.headers['x-amz-request-payer'] !== 'requester') {
    return { status: 403, code: 'AccessDenied', message: 'Access Denied' };
  }
  const reply = performIn(bucket, request, body, context);
  if (bucket.options.requesterPays && !isS3Error(reply)) reply.headers['x-amz-request-charged'] = 'requester';
  return reply;
}

function performIn(
  bucket: Bucket,
  request: StoreRequest,
  body: Buffer | null,
  context: OperationContext,
): Reply | S3Error {
  switch (request.operation) {
    case 'get':
    case 'head':
      return readObject(bucket, request, context.fault);
    case 'list':
      return list(bucket, request, context);
    case 'put':
      return put(bucket, request, body);
    case 'delete':
      bucket.delete(request.key!);
      return emptyReply(204);
    case 'head-bucket':
      return emptyReply(200, { 'x-amz-bucket-region': bucket.region });
    case 'location': {
      // us-east-1 is the empty constraint, for history's sake.
      const region = bucket.region === 'us-east-1' ? '' : bucket.region;
      return xmlReply(200, xmlDocument('LocationConstraint', escapeXml(region)));
    }
    default:
      return NOT_IMPLEMENTED;
  }
}

function list(bucket: Bucket, request: StoreRequest, context: OperationContext): Reply | S3Error {
  const optional = String(request.headers['x-amz-optional-object-attributes'] ?? '');
  const query = parseListQuery(request.query, optional, context.pageSize);
  if (isS3Error(query)) return query;
  let page = listPage(bucket, query);
  if (context.fault?.kind === 'listing') page = applyListingFault(context.fault, page, query);
  return xmlReply(200, listingXml(bucket.name, query, page), { 'x-amz-bucket-region': bucket.region });
}

function put(bucket: Bucket, request: StoreRequest, body: Buffer | null): Reply | S3Error {
  const bytes = body ?? Buffer.alloc(0);
  const sent = request.headers['x-amz-content-sha256'];
  if (typeof sent === 'string' && /^[0-9a-f]{64}$/.test(sent)) {
    if (createHash('sha256').update(bytes).digest('hex') !== sent) {
      const message = 'x-amz-content-sha256 is not the hash of the body';
      return { status: 400, code: 'XAmzContentSHA256Mismatch', message };
    }
  } else if (typeof sent === 'string' && sent.startsWith('STREAMING-')) return NOT_IMPLEMENTED;
  const contentType = request.headers['content-type'];
  const object = bucket.put(request.key!, bytes, contentType === undefined ? {} : { contentType });
  return emptyReply(200, { ETag: object.etag });
}

function readObject(bucket: Bucket, request: StoreRequest, fault: Fault | null): Reply | S3Error {
  const object = bucket.get(request.key!);
  if (!object) {
    const message = 'the specified key does not exist';
    return { status: 404, code: 'NoSuchKey', message, fields: { Key: request.key! } };
  }
  const ifMatch = fault?.kind === 'ignore-if-match' ? undefined : request.headers['if-match'];
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.split(/\s*,\s*/).includes(object.etag)) {
    const message = 'at least one of the preconditions you specified did not hold';
    return { status: 412, code: 'PreconditionFailed', message, fields: { Condition: 'If-Match' } };
  }
  if (request.operation === 'get' && isArchived(object)) {
    const message = "the operation is not valid for the object's storage class";
    const fields = { StorageClass: object.attributes.storageClass! };
    return { status: 403, code: 'InvalidObjectState', message, fields };
  }
  const size = object.body.sizeBytes;
  const range = fault?.kind === 'ignore-range' ? null : parseRange(request.headers.range, size);
  if (range === 'unsatisfiable') return unsatisfiable(request.headers.range!, size);
  const { offset, length } = range ?? { offset: 0, length: size };
  const headers = objectHeaders(object, request, length === size);
  if (range) headers['Content-Range'] = `bytes ${offset}-${offset + length - 1}/${size}`;
  return {
    status: range ? 206 : 200,
    headers,
    body:
      request.operation === 'head'
        ? null
        : length === size
          ? object.body
          : sliceBody(object.body, offset, length),
    contentLength: length,
    object: { body: object.body, offset },
  };
}

function unsatisfiable(range: string, size: number): S3Error {
  return {
    status: 416,
    code: 'InvalidRange',
    message: 'the requested range is not satisfiable',
    headers: { 'Content-Range': `bytes */${size}` },
    fields: { RangeRequested: range, ActualObjectSize: String(size) },
  };
}

/** One range (RFC 9110, 14.1.2); null: none, or one that a server ignores (several, or not understood). */
function parseRange(
  header: string | undefined,
  size: number,
): { offset: number; length: number } | 'unsatisfiable' | null {
  const match = header === undefined ? null : /^bytes=(\d*)-(\d*)$/.exec(header);
  if (!match || (match[1] === '' && match[2] === '')) return null;
  let first: number;
  let last = size - 1;
  if (match[1] === '') {
    if (Number(match[2]) === 0) return 'unsatisfiable';
    first = Math.max(0, size - Number(match[2]));
  } else {
    first = Number(match[1]);
    if (match[2] !== '') {
      if (Number(match[2]) < first) return null;
      last = Math.min(last, Number(match[2]));
    }
  }
  return first >= size ? 'unsatisfiable' : { offset: first, length: last - first + 1 };
}

function objectHeaders(object: StoredObject, request: StoreRequest, whole: boolean): Record<string, string> {
  const { attributes } = object;
  const headers: Record<string, string> = {
    'Accept-Ranges': 'bytes',
    'Content-Type': attributes.contentType ?? 'binary/octet-stream',
    ETag: object.etag,
    'Last-Modified': object.lastModified.toUTCString(),
  };
  const { storageClass = 'STANDARD', restore } = attributes;
  if (storageClass !== 'STANDARD') headers['x-amz-storage-class'] = storageClass;
  if (restore) {
    const until = restore.expiry ? `, expiry-date="${restore.expiry.toUTCString()}"` : '';
    headers['x-amz-restore'] = `ongoing-request="${restore.ongoing}"${until}`;
  }
  if (whole && attributes.checksums && request.headers['x-amz-checksum-mode'] === 'ENABLED') {
    for (const [name, value] of Object.entries(attributes.checksums))
      headers[`x-amz-checksum-${name}`] = value;
    headers['x-amz-checksum-type'] = attributes.checksumType ?? 'FULL_OBJECT';
  }
  return headers;
}
