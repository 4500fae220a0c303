import type { SyntheticBody } from './bodies.js';
import type { ListingFault } from './listing-faults.js';
import type { ObjectAttributes, ObjectInfo } from './objects.js';
import { type Random, seededRandom } from './random.js';
import type { Operation, StoreRequest } from './request.js';

/** How a connection ends: in order (FIN), or reset (RST). */
export type CloseHow = 'fin' | 'rst';

/** What the store does wrong. Offsets and lengths in bytes of the body, times in milliseconds. */
export type Fault =
  /** Closes the connection instead of answering; as a `connect` fault, as soon as it is accepted. */
  | { kind: 'close'; how: CloseHow }
  /** Answers, and closes after so many bytes of the body, or that share of it. */
  | { kind: 'cut'; afterBodyBytes?: number; afterBodyShare?: number; how: CloseHow }
  /** Never answers; or stops in mid-body and says nothing more. As a `connect` fault: accepted, then silence. */
  | { kind: 'silence'; afterBodyBytes?: number }
  /** The body comes in pieces of so many bytes. */
  | { kind: 'drip'; bytes: number; everyMs: number }
  | { kind: 'delay'; ms: number }
  /**
   * The body is `bodyDelta` bytes longer (filled up) or shorter than it should be, and Content-Length is off by
   * `headerDelta` from what it should be, or absent (the body then ends with the connection). Both default to 0.
   */
  | { kind: 'wrong-length'; bodyDelta?: number; headerDelta?: number | 'absent' }
  /** Content-Range names a range moved by so many bytes; `bodyToo`: and the body is that range. */
  | { kind: 'wrong-range'; shiftBytes: number; bodyToo?: boolean }
  /** 200 with everything to a range request. */
  | { kind: 'ignore-range' }
  /** As if the request had no If-Match. */
  | { kind: 'ignore-if-match' }
  /** One byte of the body is wrong; default: the middle one. */
  | { kind: 'corrupt'; atByte?: number }
  /** An answer with a status of choice. `body: false`: without the error document. */
  | {
      kind: 'status';
      status: number;
      code?: string;
      message?: string;
      body?: boolean;
      headers?: Record<string, string>;
      fields?: Record<string, string>;
    }
  /** A success (200, or the status given) whose body is an error document. */
  | { kind: 'error-in-200'; code: string; status?: number }
  /** Puts a new version of the key, before this request is answered (default) or right after. */
  | {
      kind: 'replace';
      when?: 'before' | 'after';
      body: Uint8Array | SyntheticBody | ((old: ObjectInfo) => Uint8Array | SyntheticBody);
      attributes?: ObjectAttributes;
    }
  /** Bytes that are not HTTP, then the end of the connection. */
  | { kind: 'garbage'; bytes?: string }
  /** No Content-Length: chunks of so many bytes. */
  | { kind: 'chunked'; chunkBytes?: number }
  /** Another ETag header than the object's; null: none. */
  | { kind: 'etag'; value: string | null }
  /** Every x-amz-checksum-* header is changed. */
  | { kind: 'wrong-checksum' }
  /** Sets headers; null removes one. */
  | { kind: 'headers'; set: Record<string, string | null> }
  | ListingFault;

export interface FaultMatch {
  operation?: Operation;
  method?: string;
  bucket?: string;
  key?: string | RegExp;
  /** The Range header as sent; true: any, false: none. */
  range?: string | RegExp | boolean;
  /** Only requests with this header (lower case). */
  header?: string;
  /** Only requests on a connection that has served one before (true), or has not (false). */
  reused?: boolean;
  // The rest picks among the requests that match all of the above, counted from 1.
  nth?: number;
  every?: number;
  afterRequests?: number;
  /** Drawn last, from the store's seed. */
  probability?: number;
}

export interface FaultRule {
  /** Default: everything but `connect`. */
  match?: FaultMatch;
  /** Most times that it fires; default: no end. */
  times?: number;
  fault: Fault;
}

/** A rule in the table. */
export interface ActiveRule {
  readonly rule: FaultRule;
  /** Requests that the first part of `match` fits. */
  readonly matched: number;
  readonly fired: number;
  remove(): void;
}

export interface FaultSubject {
  request: StoreRequest | null;
  operation: Operation;
  reused: boolean;
}

interface Entry extends ActiveRule {
  matched: number;
  fired: number;
  random: Random;
}

function fits(pattern: string | RegExp, text: string): boolean {
  return typeof pattern === 'string' ? pattern === text : text.search(pattern) >= 0;
}

function fitsRange(wanted: string | RegExp | boolean, range: string | undefined): boolean {
  if (typeof wanted === 'boolean') return wanted === (range !== undefined);
  return range !== undefined && fits(wanted, range);
}

function fitsSubject(match: FaultMatch, subject: FaultSubject): boolean {
  const { request } = subject;
  if (
    match.operation === undefined ? subject.operation === 'connect' : match.operation !== subject.operation
  ) {
    return false;
  }
  if (match.reused !== undefined && match.reused !== subject.reused) return false;
  if (match.method !== undefined && match.method !== request?.method) return false;
  if (match.bucket !== undefined && match.bucket !== request?.bucket) return false;
  if (match.header !== undefined && request?.headers[match.header] === undefined) return false;
  if (match.key !== undefined && (request?.key == null || !fits(match.key, request.key))) return false;
  return match.range === undefined || fitsRange(match.range, request?.headers.range);
}

function picks(match: FaultMatch, count: number, random: Random): boolean {
  if (match.nth !== undefined && count !== match.nth) return false;
  if (match.every !== undefined && count % match.every !== 0) return false;
  if (match.afterRequests !== undefined && count <= match.afterRequests) return false;
  return match.probability === undefined || random() < match.probability;
}

function checkRule({ match, fault, times }: FaultRule): void {
  const counts: [string, number | undefined][] = [
    ['nth', match?.nth],
    ['every', match?.every],
    ['times', times],
  ];
  for (const [name, value] of counts) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 1)) {
      throw new RangeError(`fault rule: ${name} must be a whole number, at least 1`);
    }
  }
  if (match?.operation === 'connect' && fault.kind !== 'close' && fault.kind !== 'silence') {
    throw new RangeError(`fault rule: a connection can be closed or met with silence, not ${fault.kind}`);
  }
}

/** Ordered rules; the first that matches and picks a request decides it. */
export class FaultTable {
  private entries: Entry[] = [];
  private added = 0;

  constructor(private readonly seed: number) {}

  /** @throws RangeError where the rule cannot work. */
  add(rule: FaultRule): ActiveRule {
    checkRule(rule);
    const random = seededRandom(this.seed, ++this.added);
    const entry: Entry = { rule, matched: 0, fired: 0, random, remove: () => this.remove(entry) };
    this.entries.push(entry);
    return entry;
  }

  clear(): void {
    this.entries = [];
  }

  get size(): number {
    return this.entries.length;
  }

  /** The fault for a request, and counts it. */
  pick(subject: FaultSubject): Fault | null {
    for (const entry of this.entries) {
      const { match = {}, times, fault } = entry.rule;
      if (!fitsSubject(match, subject)) continue;
      entry.matched++;
      if (times !== undefined && entry.fired >= times) continue;
      if (!picks(match, entry.matched, entry.random)) continue;
      entry.fired++;
      return fault;
    }
    return null;
  }

  private remove(entry: Entry): void {
    this.entries = this.entries.filter((other) => other !== entry);
  }
}
