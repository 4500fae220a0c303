import type { Fault } from './faults.js';

interface WithBody {
  /** False: without the error document. */
  body?: boolean;
}

/** 503 SlowDown, as S3 answers above a prefix's request rate. */
export function slowDown(options: WithBody & { retryAfterS?: number } = {}): Fault {
  const headers: Record<string, string> = {};
  if (options.retryAfterS !== undefined) headers['Retry-After'] = String(options.retryAfterS);
  const message = 'please reduce your request rate';
  return { kind: 'status', status: 503, code: 'SlowDown', message, headers, body: options.body ?? true };
}

export function internalError(options: WithBody = {}): Fault {
  const message = 'we encountered an internal error; please try again';
  return { kind: 'status', status: 500, code: 'InternalError', message, body: options.body ?? true };
}

/** 301 PermanentRedirect to another region; the header names it unless told otherwise. */
export function wrongRegion(region: string, options: WithBody & { header?: boolean } = {}): Fault {
  return {
    kind: 'status',
    status: 301,
    code: 'PermanentRedirect',
    message: 'the bucket must be addressed using the endpoint of its region',
    headers: options.header === false ? {} : { 'x-amz-bucket-region': region },
    fields: { Endpoint: `s3.${region}.amazonaws.com` },
    body: options.body ?? true,
  };
}

/** 400 ExpiredToken for one request; `ScriptedStore.expireCredentials` does it to all that follow. */
export function expiredToken(options: WithBody = {}): Fault {
  const message = 'the session token has expired';
  return { kind: 'status', status: 400, code: 'ExpiredToken', message, body: options.body ?? true };
}

/** 403 InvalidObjectState, as a GET of an archived object is answered. */
export function archived(storageClass = 'GLACIER'): Fault {
  return {
    kind: 'status',
    status: 403,
    code: 'InvalidObjectState',
    message: "the operation is not valid for the object's storage class",
    fields: { StorageClass: storageClass },
  };
}
