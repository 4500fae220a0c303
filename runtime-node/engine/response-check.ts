import type { AnswerHeaders } from './answer-headers.js';
import type { FailureName } from './failure.js';

/** What was asked for, in bytes. */
export interface Asked {
  offset: number;
  length: number;
  objectSize: number;
  /** The ETag that the answer must carry; null: any. */
  etag: string | null;
}

export interface Verdict {
  name: FailureName;
  what: string;
}

/** ETags compare without their quotes: stores leave them out in one place or the other. */
export function sameEtag(a: string, b: string): boolean {
  return bareEtag(a) === bareEtag(b);
}

/** An ETag as If-Match wants it. */
export function quotedEtag(etag: string): string {
  return `"${bareEtag(etag)}"`;
}

function bareEtag(etag: string): string {
  return etag.length >= 2 && etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}

/**
 * An error page under a good status: XML without an ETag, from a store that had begun to answer when it failed
 * (or from something in between that is no store).
 */
export function isDocumentInsteadOfObject(headers: AnswerHeaders): boolean {
  if (headers.etag !== null || headers.contentRange !== null) return false;
  return headers.contentType?.includes('xml') === true || headers.contentType?.includes('html') === true;
}

/**
 * Whether an answer of status 200 or 206 is the one that was asked for, before a byte of it is used.
 *
 * @returns null where it is
 */
export function checkAnswer(status: number, headers: AnswerHeaders, asked: Asked): Verdict | null {
  const ofEtag = checkEtag(headers, asked);
  if (ofEtag) return ofEtag;
  const ofRange = status === 206 ? checkContentRange(headers, asked) : checkWhole(asked);
  if (ofRange) return ofRange;
  return checkContentLength(headers, asked);
}

function checkEtag(headers: AnswerHeaders, asked: Asked): Verdict | null {
  if (asked.etag === null) return null;
  if (headers.etag === null) {
    return { name: 'changed', what: `the answer has no ETag, expected ${quotedEtag(asked.etag)}` };
  }
  if (sameEtag(headers.etag, asked.etag)) return null;
  return {
    name: 'changed',
    what: `the object was replaced: its ETag is ${headers.etag}, the manifest says ${quotedEtag(asked.etag)}`,
  };
}

function checkWhole({ offset, length, objectSize }: Asked): Verdict | null {
  if (offset === 0 && length === objectSize) return null;
  return {
    name: 'range',
    what: `the store ignored the range ${rangeText(offset, length)} and sent the whole object (status 200)`,
  };
}

function checkContentRange(headers: AnswerHeaders, asked: Asked): Verdict | null {
  const { offset, length, objectSize } = asked;
  const wanted = `bytes ${rangeText(offset, length)}`;
  if (headers.contentRange === null) {
    return { name: 'range', what: `status 206 without Content-Range, expected ${wanted}` };
  }
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers.contentRange);
  const [, from, to, size] = match ?? [];
  if (size !== undefined && size !== '*' && Number(size) !== objectSize) {
    return {
      name: 'changed',
      what: `the object is ${size} bytes long, the manifest says ${objectSize}`,
    };
  }
  if (Number(from) === offset && Number(to) === offset + length - 1) return null;
  return {
    name: 'range',
    what: `Content-Range is ${JSON.stringify(headers.contentRange)}, expected ${wanted}/${objectSize}`,
  };
}

function checkContentLength(headers: AnswerHeaders, { length }: Asked): Verdict | null {
  if (headers.contentLength === -1 || headers.contentLength === length) return null;
  if (Number.isNaN(headers.contentLength)) {
    return { name: 'protocol', what: 'Content-Length is not a number' };
  }
  return {
    name: headers.contentLength < length ? 'short' : 'long',
    what: `Content-Length is ${headers.contentLength}, expected ${length}`,
  };
}

export function rangeText(offset: number, length: number): string {
  return `${offset}-${offset + length - 1}`;
}
