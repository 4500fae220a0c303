import { corruptBody, sliceBody } from './bodies.js';
import type { CloseHow, Fault } from './faults.js';
import type { Reply } from './reply.js';

/** How an answer is put on the wire. */
export interface Delivery {
  reply: Reply;
  /** absent: the body ends with the connection. */
  framing: 'length' | 'absent' | 'chunked';
  /** Body bytes after which nothing more is sent. */
  stopAfter: number;
  /** What happens then. */
  end: 'keep' | 'hang' | CloseHow;
  /** Largest piece of the body, and the wait after each. */
  piece: { bytes: number; everyMs: number } | null;
}

export function plainDelivery(reply: Reply): Delivery {
  return { reply, framing: 'length', stopAfter: reply.body?.sizeBytes ?? 0, end: 'keep', piece: null };
}

/** The answer with the fault in it. Faults that concern a body leave an answer without one as it is. */
export function faultyDelivery(reply: Reply, fault: Fault): Delivery {
  const plain = plainDelivery(reply);
  switch (fault.kind) {
    case 'etag':
      return { ...plain, reply: withHeaders(reply, { ETag: fault.value }) };
    case 'headers':
      return { ...plain, reply: withHeaders(reply, fault.set) };
    case 'wrong-checksum':
      return { ...plain, reply: withHeaders(reply, changedChecksums(reply)) };
    case 'wrong-range':
      return plainDelivery(shiftedRange(reply, fault.shiftBytes, fault.bodyToo ?? false));
  }
  return reply.body ? faultyBody(plain, reply.body.sizeBytes, fault) : plain;
}

function faultyBody(plain: Delivery, sizeBytes: number, fault: Fault): Delivery {
  const { reply } = plain;
  switch (fault.kind) {
    case 'cut': {
      const after = fault.afterBodyBytes ?? Math.floor(sizeBytes * (fault.afterBodyShare ?? 0));
      return { ...plain, stopAfter: Math.min(after, sizeBytes), end: fault.how };
    }
    case 'silence':
      return { ...plain, stopAfter: Math.min(fault.afterBodyBytes ?? 0, sizeBytes), end: 'hang' };
    case 'drip':
      return { ...plain, piece: { bytes: fault.bytes, everyMs: fault.everyMs } };
    case 'chunked':
      return { ...plain, framing: 'chunked', piece: { bytes: fault.chunkBytes ?? 16384, everyMs: 0 } };
    case 'corrupt':
      return plainDelivery({
        ...reply,
        body: corruptBody(reply.body!, fault.atByte ?? Math.floor(sizeBytes / 2)),
      });
    case 'wrong-length':
      return wrongLength(reply, sizeBytes, fault.bodyDelta ?? 0, fault.headerDelta ?? 0);
    default:
      return plain;
  }
}

function wrongLength(
  reply: Reply,
  sizeBytes: number,
  bodyDelta: number,
  headerDelta: number | 'absent',
): Delivery {
  const sent = Math.max(0, sizeBytes + bodyDelta);
  const said = headerDelta === 'absent' ? sent : Math.max(0, sizeBytes + headerDelta);
  const body = sliceBody(reply.body!, 0, sent);
  return {
    reply: { ...reply, body, contentLength: said },
    framing: headerDelta === 'absent' ? 'absent' : 'length',
    stopAfter: sent,
    end: headerDelta === 'absent' || said !== sent ? 'fin' : 'keep',
    piece: null,
  };
}

function withHeaders(reply: Reply, set: Record<string, string | null>): Reply {
  const headers = { ...reply.headers };
  for (const [name, value] of Object.entries(set)) {
    for (const present of Object.keys(headers)) {
      if (present.toLowerCase() === name.toLowerCase()) delete headers[present];
    }
    if (value !== null) headers[name] = value;
  }
  return { ...reply, headers };
}

function changedChecksums(reply: Reply): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.headers)) {
    if (!name.startsWith('x-amz-checksum-') || name === 'x-amz-checksum-type') continue;
    const bytes = Buffer.from(value, 'base64');
    bytes[0] = (bytes[0] ?? 0) ^ 0xff;
    changed[name] = bytes.toString('base64');
  }
  return changed;
}

function shiftedRange(reply: Reply, shift: number, bodyToo: boolean): Reply {
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(reply.headers['Content-Range'] ?? '');
  if (!match) return reply;
  const [first, last] = [Number(match[1]) + shift, Number(match[2]) + shift];
  const shifted = withHeaders(reply, { 'Content-Range': `bytes ${first}-${last}/${match[3]}` });
  if (!bodyToo || !reply.body || !reply.object) return shifted;
  const { body, offset } = reply.object;
  return { ...shifted, body: sliceBody(body, offset + shift, reply.body.sizeBytes) };
}
