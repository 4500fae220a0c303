import { memoryBody, type ObjectBody } from './bodies.js';
import { element, xmlDocument } from './xml.js';

/** An answer before any fault is applied to it. Content-Length is not among the headers: the sender writes it. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** Exactly the bytes to send; null: none. */
  body: ObjectBody | null;
  /** What Content-Length says: the body's size, or for HEAD the object's. */
  contentLength: number;
  /** The body's place in the object, for faults that move it. */
  object?: { body: ObjectBody; offset: number };
}

/** An error as S3 words it: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
export interface S3Error {
  status: number;
  code: string;
  message: string;
  /** More elements of the error document. */
  fields?: Record<string, string>;
  headers?: Record<string, string>;
  /** Send no document. HEAD never gets one. */
  bodyless?: boolean;
}

export function isS3Error(value: object): value is S3Error {
  return 'code' in value;
}

export function emptyReply(status: number, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: null, contentLength: 0 };
}

export function xmlReply(status: number, xml: string, headers: Record<string, string> = {}): Reply {
  const body = memoryBody(Buffer.from(xml));
  headers['Content-Type'] = 'application/xml';
  return { status, headers, body, contentLength: body.sizeBytes };
}

export function errorDocument(error: S3Error, resource: string, requestId: string): string {
  let content = element('Code', error.code) + element('Message', error.message);
  for (const [name, text] of Object.entries(error.fields ?? {})) content += element(name, text);
  content += element('Resource', resource) + element('RequestId', requestId);
  return xmlDocument('Error', content, false);
}

export function errorReply(error: S3Error, isHead: boolean, resource: string, requestId: string): Reply {
  const headers = { ...error.headers };
  if (isHead || error.bodyless) return emptyReply(error.status, headers);
  return xmlReply(error.status, errorDocument(error, resource, requestId), headers);
}
