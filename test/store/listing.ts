import type { Bucket, StoredObject } from './objects.js';
import type { S3Error } from './reply.js';
import { encodeListed } from './uri.js';
import { element, xmlDocument } from './xml.js';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
export interface ListQuery {
  prefix: string;
  delimiter: string;
  token: string | null;
  startAfter: string;
  maxKeys: number;
  urlEncoding: boolean;
  restoreStatus: boolean;
}

export interface ListPage {
  contents: StoredObject[];
  commonPrefixes: string[];
  keyCount: number;
  truncated: boolean;
  nextToken: string | null;
  /** What a page that comes next must come after; null: the start. */
  resumeFrom: Position | null;
}

/** The last thing listed: a key, or all keys with a prefix. */
interface Position {
  after: string;
  isPrefix: boolean;
}

/** A token is opaque to clients. `nonce` makes a token of its own for a place that another token named before. */
export function encodeToken(position: Position | null, nonce = 0): string {
  return Buffer.from(JSON.stringify({ nonce, position })).toString('base64url');
}

interface Token {
  nonce: number;
  position: Position | null;
}

/** Null where it is not a token of ours. */
export function decodeToken(token: string): Token | null {
  try {
    const parsed = JSON.parse(Buffer.from(token, 'base64url').toString()) as Partial<Token>;
    const { nonce, position } = parsed;
    if (typeof nonce !== 'number' || position === undefined) return null;
    if (position !== null && typeof position.after !== 'string') return null;
    return { nonce, position };
  } catch {
    return null;
  }
}

function invalid(message: string): S3Error {
  return { status: 400, code: 'InvalidArgument', message };
}

export function parseListQuery(
  query: ReadonlyMap<string, string>,
  optionalAttributes: string,
  pageSize: number,
): ListQuery | S3Error {
  const maxKeys = query.get('max-keys') ?? '1000';
  if (!/^\d{1,9}$/.test(maxKeys)) return invalid('max-keys is not a whole number');
  const encoding = query.get('encoding-type');
  if (encoding !== undefined && encoding !== 'url') return invalid('encoding-type must be url');
  const token = query.get('continuation-token') ?? null;
  if (token !== null && decodeToken(token) === null) return invalid('the continuation token is incorrect');
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    token,
    startAfter: query.get('start-after') ?? '',
    maxKeys: Math.min(Number(maxKeys), pageSize),
    urlEncoding: encoding === 'url',
    restoreStatus: optionalAttributes.includes('RestoreStatus'),
  };
}

/** Index of the first key from `from` on that does not begin with `prefix`; those that do stand together. */
function endOfPrefix(keys: readonly string[], from: number, prefix: string): number {
  let low = from;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]!.startsWith(prefix)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function firstIndex(bucket: Bucket, query: ListQuery, resume: Position | null): number {
  const keys = bucket.sortedKeys();
  const start = bucket.lowerBound(query.prefix);
  if (!resume) return start;
  const at = bucket.lowerBound(resume.after);
  if (resume.isPrefix) return Math.max(start, endOfPrefix(keys, at, resume.after));
  return Math.max(start, keys[at] === resume.after ? at + 1 : at);
}

/** A token, once there is one, overrules start-after. */
function resumePosition(query: ListQuery): Position | null {
  const token = query.token === null ? null : decodeToken(query.token);
  if (token) return token.position;
  return query.startAfter === '' ? null : { after: query.startAfter, isPrefix: false };
}

/** One page, by binary search: its cost does not grow with the keys before it nor with those behind a common prefix. */
export function listPage(bucket: Bucket, query: ListQuery): ListPage {
  const keys = bucket.sortedKeys();
  const resumeFrom = resumePosition(query);
  const contents: StoredObject[] = [];
  const commonPrefixes: string[] = [];
  let last: Position | null = resumeFrom;
  let index = firstIndex(bucket, query, resumeFrom);
  while (index < keys.length && contents.length + commonPrefixes.length < query.maxKeys) {
    const key = keys[index]!;
    if (!key.startsWith(query.prefix)) break;
    const cut = query.delimiter === '' ? -1 : key.indexOf(query.delimiter, query.prefix.length);
    if (cut < 0) {
      contents.push(bucket.get(key)!);
      last = { after: key, isPrefix: false };
      index++;
    } else {
      const common = key.slice(0, cut + query.delimiter.length);
      commonPrefixes.push(common);
      last = { after: common, isPrefix: true };
      index = endOfPrefix(keys, index, common);
    }
  }
  const more = index < keys.length && keys[index]!.startsWith(query.prefix);
  const truncated = more && query.maxKeys > 0;
  return {
    contents,
    commonPrefixes,
    keyCount: contents.length + commonPrefixes.length,
    truncated,
    nextToken: truncated ? encodeToken(last) : null,
    resumeFrom,
  };
}

function contentsXml(object: StoredObject, query: ListQuery, name: (text: string) => string): string {
  const { attributes } = object;
  let xml =
    element('Key', name(object.key)) +
    element('LastModified', object.lastModified.toISOString()) +
    element('ETag', object.etag);
  for (const algorithm of Object.keys(attributes.checksums ?? {})) {
    xml += element('ChecksumAlgorithm', algorithm.toUpperCase());
  }
  xml +=
    element('Size', object.body.sizeBytes) + element('StorageClass', attributes.storageClass ?? 'STANDARD');
  if (query.restoreStatus && attributes.restore) {
    const { ongoing, expiry } = attributes.restore;
    const until = expiry ? element('RestoreExpiryDate', expiry.toISOString()) : '';
    xml += `<RestoreStatus>${element('IsRestoreInProgress', ongoing)}${until}</RestoreStatus>`;
  }
  return `<Contents>${xml}</Contents>`;
}

export function listingXml(bucketName: string, query: ListQuery, page: ListPage): string {
  const name = query.urlEncoding ? encodeListed : (text: string) => text;
  let xml = element('Name', bucketName) + element('Prefix', name(query.prefix));
  if (query.startAfter !== '') xml += element('StartAfter', name(query.startAfter));
  if (query.token !== null) xml += element('ContinuationToken', query.token);
  if (page.nextToken !== null) xml += element('NextContinuationToken', page.nextToken);
  xml += element('KeyCount', page.keyCount) + element('MaxKeys', query.maxKeys);
  if (query.delimiter !== '') xml += element('Delimiter', name(query.delimiter));
  if (query.urlEncoding) xml += element('EncodingType', 'url');
  xml += element('IsTruncated', page.truncated);
  for (const object of page.contents) xml += contentsXml(object, query, name);
  for (const prefix of page.commonPrefixes) {
    xml += `<CommonPrefixes>${element('Prefix', name(prefix))}</CommonPrefixes>`;
  }
  return xmlDocument('ListBucketResult', xml);
}
