import type { ClientModel } from '../machine.js';
import type { Scenario } from '../scenario/types.js';

/**
 * How the loaders of the peers read, as their public documentation says. Both sit in the worker processes of PyTorch's DataLoader,
 * which make whole batches: worker w of W makes batches w, w + W, ... and runs at most two batches for each worker ahead of
 * the training loop (`prefetch_factor`, default 2; https://docs.pytorch.org/docs/stable/data.html). A worker reads its samples
 * one after the other.
 */
export interface LoaderModel {
  /** Workers for each GPU. */
  readonly workers: number;
  /** A HEAD of each object before it is read. */
  readonly asksHead: boolean;
  readonly partBytes: number;
  /** Parts of one sample that are under way at once. */
  readonly partsAtOnce: number;
}

/** Batches that each worker may be ahead (`prefetch_factor`). */
const PREFETCH_FACTOR = 2;

/** Batches of a GPU that its workers may have begun, the one that the trainer asks for included: never more than are known. */
export function batchesAhead(workers: number, known: number): number {
  return Math.min(PREFETCH_FACTOR * workers, known);
}

export function loaderOf(client: Exclude<ClientModel, 'core'>, scenario: Scenario): LoaderModel {
  return client === 's3fs' ? s3fsLoader(scenario) : s3ConnectorLoader(scenario);
}

/** Attempts of one request in the AWS SDKs' standard mode (SDKs and Tools Reference Guide, "Retry behavior"). */
export const SDK_ATTEMPTS = 3;
const SDK_FIRST_WAIT_NS = 1e9;
const SDK_LONGEST_WAIT_NS = 20e9;

/** The standard mode's wait after `tries` failed attempts: a random share of 1, 2, 4 ... and at most 20 s. */
export function sdkWaitNs(tries: number, random: number): number {
  let longestNs = SDK_FIRST_WAIT_NS;
  for (let i = 1; i < tries && longestNs < SDK_LONGEST_WAIT_NS; i++) longestNs *= 2;
  return Math.ceil(Math.min(longestNs, SDK_LONGEST_WAIT_NS) * random);
}

/**
 * s3fs-fuse: a file's attributes come from a HEAD (its stat cache does not know objects that are read for the first time),
 * a read is a GET of a range in parts of `multipart_size`, several at once where `parallel_count` or readahead allow
 * (https://github.com/s3fs-fuse/s3fs-fuse/wiki/Fuse-Over-Amazon).
 */
function s3fsLoader({ clients }: Scenario): LoaderModel {
  const { concurrency, part_mb, readahead_parts } = clients.s3fs;
  return {
    workers: concurrency,
    asksHead: true,
    partBytes: Math.round(part_mb * 1e6),
    partsAtOnce: readahead_parts,
  };
}

/**
 * s3torchconnector: a map-style dataset reads an object with one sequential reader, part by part, and knows sizes from the listing
 * (https://github.com/awslabs/s3-connector-for-pytorch; parts of 8 MB by default).
 */
function s3ConnectorLoader({ clients }: Scenario): LoaderModel {
  const { workers, part_mb } = clients.s3connector;
  return { workers, asksHead: false, partBytes: Math.round(part_mb * 1e6), partsAtOnce: 1 };
}
