import type { Nginx } from './nginx.js';
import type { ObjectSet } from './objects.js';

/** Room that a feed needs to have its requests in flight, and that no cache holds. */
const LANDING_BYTES = 32 * 2 ** 20;
/** All bodies in flight together: a client that holds them whole needs so much. */
const MOST_IN_FLIGHT_BYTES = 256 * 2 ** 20;
const LEAST_IN_FLIGHT = 4;
const MOST_BATCH_SAMPLES = 32;
const ROUND_BYTES = 440e6;

/** What is read, from where, and how much of it at once; the same for all clients. */
export interface Settings {
  objects: ObjectSet;
  store: Nginx;
  etag: string;
  tls: boolean;
  inFlight: number;
  /** Folder for the clients' job files. */
  folder: string;
}

/** Fewer objects at once where they are large. */
export function inFlightFor(asked: number, objectBytes: number): number {
  return Math.min(asked, Math.max(LEAST_IN_FLIGHT, Math.floor(MOST_IN_FLIGHT_BYTES / objectBytes)));
}

/** Landing memory of the feed, and what engine and recv loop go through in turn. */
export function landingBytes(inFlight: number, objectBytes: number): number {
  return Math.max(LANDING_BYTES, 2 * inFlight * objectBytes);
}

/** A quarter of the landing memory at most, so that the window is several batches. */
export function batchSamples(landing: number, objectBytes: number): number {
  return Math.min(MOST_BATCH_SAMPLES, Math.max(1, Math.floor(landing / 4 / objectBytes)));
}

/** GETs of one round. @param share of what the leanest clients read in one, 0..1 */
export function getsPerRound(inFlight: number, objectBytes: number, share: number): number {
  return Math.max(inFlight, Math.round((ROUND_BYTES * share) / objectBytes));
}
